package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestGatewayHasTheRoutesOfTheAPI and answers everything else with 404.
func TestGatewayHasTheRoutesOfTheAPI(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		want := map[string]bool{"GET /openapi.json": true}
		for _, r := range api.Routes(api.Options{}) {
			want[r.Method+" "+r.Path] = true
		}
		answered := map[string]bool{}
		for id, m := range s.of("AWS::ApiGateway::Method") {
			method, path := m.Properties["HttpMethod"].(string), s.path(m.Properties["ResourceId"])
			if method != "ANY" {
				if !want[method+" "+path] {
					t.Errorf("%s: the API has no %s %s", id, method, path)
				}
				delete(want, method+" "+path)
				if at(m.Properties, "Integration", "Type") != "AWS_PROXY" {
					t.Errorf("%s %s goes to %v", method, path, m.Properties["Integration"])
				}
				continue
			}
			answered[path] = true
			if at(m.Properties, "Integration", "Type") != "MOCK" || at(m.Properties, "Integration", "IntegrationResponses", 0, "StatusCode") != "404" ||
				at(m.Properties, "Integration", "PassthroughBehavior") != "NEVER" {
				t.Errorf("ANY %s: %v", path, m.Properties["Integration"])
			}
			body, _ := at(m.Properties, "Integration", "IntegrationResponses", 0, "ResponseTemplates", "application/json").(string)
			inForm(t, "ANY "+path, body)
			// A variable of the gateway's context is one of the sources that
			// AWS maps a header of a method's response from, and the response
			// has to declare the header; a local cloud sends the name as it is.
			header := "method.response.header." + api.HeaderRequestID
			if got := at(m.Properties, "Integration", "IntegrationResponses", 0, "ResponseParameters", header); got != "context.requestId" {
				t.Errorf("ANY %s: the request id is %v", path, got)
			}
			for name := range at(m.Properties, "Integration", "IntegrationResponses", 0, "ResponseParameters").(object) {
				if at(m.Properties, "MethodResponses", 0, "ResponseParameters", name) != true {
					t.Errorf("ANY %s: %s is mapped and not declared", path, name)
				}
			}
		}
		for missing := range want {
			t.Errorf("%s is not deployed", missing)
		}
		for _, r := range s.of("AWS::ApiGateway::Resource") {
			if path := s.pathOf(r); !answered[path] {
				t.Errorf("%s has no answer for methods that it lacks", path)
			}
		}
		if !answered["/"] || !answered["/{proxy+}"] {
			t.Error("there are paths without an answer")
		}
	})
}

// path follows a resource's parents to its path.
func (s *synthesized) path(ref any) string {
	if id, ok := at(ref, "Ref").(string); ok {
		return s.pathOf(s.Resources[id])
	}
	return "/" // the root is an attribute of the API
}

func (s *synthesized) pathOf(r resourceOf) string {
	return strings.TrimSuffix(s.path(r.Properties["ParentId"]), "/") + "/" + r.Properties["PathPart"].(string)
}

// inForm holds a body to the form of every refusal.
func inForm(t *testing.T, where, body string) {
	t.Helper()
	var v map[string]string
	if err := json.Unmarshal([]byte(body), &v); err != nil || len(v) != 1 || v["error"] == "" {
		t.Errorf(`%s: the body is %q, want {"error": …} and no more`, where, body)
	}
}

// gatewayKinds are all kinds of answers that API Gateway gives by itself.
var gatewayKinds = []string{
	"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "BAD_REQUEST_BODY",
	"BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT",
	"INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE",
	"RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
}

func TestEveryGatewayResponseIsInForm(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		var kinds []string
		for _, r := range s.of("AWS::ApiGateway::GatewayResponse") {
			kind := r.Properties["ResponseType"].(string)
			kinds = append(kinds, kind)
			body, _ := at(r.Properties, "ResponseTemplates", "application/json").(string)
			inForm(t, kind, body)
			code, _ := at(r.Properties, "ResponseParameters", "gatewayresponse.header."+api.HeaderErrorCode).(string)
			if !slices.Contains(admin.Codes(), strings.Trim(code, "'")) {
				t.Errorf("%s: the code %s is none of the API's", kind, code)
			}
			if got := at(r.Properties, "ResponseParameters", "gatewayresponse.header."+api.HeaderRequestID); got != "context.requestId" {
				t.Errorf("%s: the request id is %v", kind, got)
			}
			challenge, _ := at(r.Properties, "ResponseParameters", "gatewayresponse.header.WWW-Authenticate").(string)
			if want := r.Properties["StatusCode"] == "401"; want != strings.HasPrefix(challenge, "'Bearer ") {
				t.Errorf("%s: status %v with the challenge %q", kind, r.Properties["StatusCode"], challenge)
			}
		}
		slices.Sort(kinds)
		if diff := cmp.Diff(gatewayKinds, kinds); diff != "" {
			t.Errorf("kinds of gateway responses:\n%s", diff)
		}
	})
}

// TestRequestsWithoutKeyAreTheGateways: REST APIs of AWS rename the header
// WWW-Authenticate of a function's answer, so the answer to a request without a
// key comes from the gateway itself, which leaves its own headers as they are.
func TestRequestsWithoutKeyAreTheGateways(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		validator, v := s.named(t, "AWS::ApiGateway::RequestValidator", "Api")
		if v.Properties["ValidateRequestParameters"] != true || v.Properties["ValidateRequestBody"] != false {
			t.Errorf("the validator: %v", v.Properties)
		}
		for id, m := range s.of("AWS::ApiGateway::Method") {
			open := at(m.Properties, "Integration", "Type") == "MOCK" || m.Properties["OperationName"] == openAPI
			var want any
			if !open {
				want = object{"method.request.header.Authorization": true}
			}
			if diff := cmp.Diff(want, m.Properties["RequestParameters"]); diff != "" {
				t.Errorf("%s: what a request must have:\n%s", id, diff)
			}
			if asks := at(m.Properties, "RequestValidatorId", "Ref") == validator; asks == open {
				t.Errorf("%s: asks for a key: %v", id, asks)
			}
		}
		refused := false
		for _, r := range s.of("AWS::ApiGateway::GatewayResponse") {
			if r.Properties["ResponseType"] == "BAD_REQUEST_PARAMETERS" {
				refused = r.Properties["StatusCode"] == "401"
			}
		}
		if !refused {
			t.Error("a request without a key is not answered with 401")
		}
	})
}

func TestStageOfTheGateway(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		_, st := s.named(t, "AWS::ApiGateway::Stage", "Api")
		format, _ := at(st.Properties, "AccessLogSetting", "Format").(string)
		if !json.Valid([]byte(format)) || regexp.MustCompile(`(?i)authorization|\$input|header`).MatchString(format) {
			t.Errorf("access log: %s", format)
		}
		if at(st.Properties, "AccessLogSetting", "DestinationArn") == nil || st.Properties["TracingEnabled"] != true {
			t.Errorf("access log or tracing is off: %v", st.Properties)
		}
		all := at(st.Properties, "MethodSettings", 0)
		if at(all, "DataTraceEnabled") != false {
			t.Error("the gateway logs requests in full, keys too")
		}
		if at(all, "ThrottlingRateLimit", "Ref") != "RequestRate" || at(all, "ThrottlingBurstLimit", "Ref") != "RequestBurst" {
			t.Errorf("throttling: %v", all)
		}
		if len(s.of("AWS::ApiGateway::Account")) != 1 {
			t.Error("API Gateway has no role to write logs with")
		}
		s.guarded(t, name == stageProd)
	})
}

// guarded holds a stack to having a web ACL before its API, or none.
func (s *synthesized) guarded(t *testing.T, want bool) {
	t.Helper()
	acls, before := s.of("AWS::WAFv2::WebACL"), s.of("AWS::WAFv2::WebACLAssociation")
	if !want {
		if len(acls)+len(before) != 0 {
			t.Errorf("there are %d web ACLs, want none", len(acls))
		}
		return
	}
	if len(acls) != 1 || len(before) != 1 {
		t.Fatalf("there are %d web ACLs, %d before the API, want one", len(acls), len(before))
	}
	for _, b := range before {
		address, _ := json.Marshal(b.Properties["ResourceArn"])
		acl, _ := at(b.Properties, "WebACLArn", "Fn::GetAtt", 0).(string)
		if stage, _ := s.named(t, "AWS::ApiGateway::Stage", "Api"); !strings.Contains(string(address), stage) || acls[acl].Type == "" {
			t.Errorf("the web ACL %s is before %s", acl, address)
		}
	}
}

// TestWebACLBySetting: the setting decides, not the stage.
func TestWebACLBySetting(t *testing.T) {
	outside.Long(t, "synthesizes two more stacks")
	t.Run("dev with", func(t *testing.T) {
		synth(t, stageDev, func(s *settings) { s.waf = true }).guarded(t, true)
	})
	t.Run("prod without", func(t *testing.T) {
		synth(t, stageProd, func(s *settings) { s.waf = false }).guarded(t, false)
	})
}
