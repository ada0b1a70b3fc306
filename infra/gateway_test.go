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

// definition is the document that the gateway imports, with the methods of its
// paths by "METHOD /path"; ANY is for all that a path has not.
func (s *synthesized) definition(t *testing.T) (body object, methods map[string]object) {
	t.Helper()
	_, gateway := s.named(t, "AWS::ApiGateway::RestApi", "Api")
	body, _ = gateway.Properties["Body"].(object)
	paths, _ := body["paths"].(object)
	methods = map[string]object{}
	for path, item := range paths {
		for method, operation := range item.(object) {
			if method == "x-amazon-apigateway-any-method" {
				method = "ANY"
			}
			methods[strings.ToUpper(method)+" "+path] = operation.(object)
		}
	}
	return body, methods
}

// TestGatewayHasTheRoutesOfTheAPI, answers their other methods by the function that
// says which ones there are, and everything else with 404.
func TestGatewayHasTheRoutesOfTheAPI(t *testing.T) {
	const integration = "x-amazon-apigateway-integration"
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		var pages []string
		body, methods := s.definition(t)
		if version, _ := body["openapi"].(string); !strings.HasPrefix(version, "3.0.") {
			t.Errorf("the gateway reads no OpenAPI %v", body["openapi"])
		}
		want := map[string]bool{"GET /openapi.json": true}
		for _, r := range api.Routes(api.Options{}) {
			want[r.Method+" "+r.Path] = true
		}
		known := map[string]bool{} // paths with an operation
		for name := range want {
			_, path, _ := strings.Cut(name, " ")
			known[path] = true
		}
		document, _ := s.named(t, "AWS::Lambda::Function", documentFunction)
		for name, m := range methods {
			method, path, _ := strings.Cut(name, " ")
			for _, parameter := range inBraces.FindAllStringSubmatch(path, -1) {
				if !slices.ContainsFunc(m["parameters"].([]any), func(p any) bool { return at(p, "name") == parameter[1] && at(p, "in") == "path" }) {
					t.Errorf("%s does not declare %s", name, parameter[1])
				}
			}
			if uri, _ := at(m, integration, "uri", "Fn::Sub").(string); strings.HasSuffix(uri, ":function:${AWS::StackName}-dashboard/invocations") {
				pages = append(pages, name)
				continue
			}
			if method != "ANY" && (want[name] || !known[path]) {
				if !want[name] {
					t.Errorf("the API has no %s", name)
				}
				delete(want, name) // each name comes once
				uri, _ := at(m, integration, "uri", "Fn::Sub").(string)
				function := regexp.MustCompile(`/functions/\$\{(\w+)\.Arn\}/invocations$`).FindStringSubmatch(uri)
				if at(m, integration, "type") != "aws_proxy" || at(m, integration, "httpMethod") != "POST" || len(function) != 2 ||
					!s.mayCall(function[1], method, path) && function[1] != document {
					t.Errorf("%s goes to %v", name, m[integration])
				}
				continue
			}
			if known[path] {
				if method == "ANY" {
					t.Errorf("%s hides the path's own methods from SAM", name)
				}
				uri, _ := at(m, integration, "uri", "Fn::Sub").(string)
				if at(m, integration, "type") != "aws_proxy" || !strings.HasSuffix(uri, "/functions/${"+document+".Arn}/invocations") || !s.mayCall(document, "*", "/*") {
					t.Errorf("%s goes to %v", name, m[integration])
				}
				continue
			}
			answer := at(m, integration, "responses", "default")
			if at(m, integration, "type") != "mock" || at(answer, "statusCode") != "404" || at(m, integration, "passthroughBehavior") != "never" {
				t.Errorf("%s: %v", name, m[integration])
			}
			text, _ := at(answer, "responseTemplates", "application/json").(string)
			inForm(t, name, text)
			// A variable of the gateway's context is one of the sources that
			// AWS maps a header of a method's response from, and the response
			// has to declare the header; a local cloud sends the name as it is.
			const prefix = "method.response.header."
			if got := at(answer, "responseParameters", prefix+api.HeaderRequestID); got != "context.requestId" {
				t.Errorf("%s: the request id is %v", name, got)
			}
			for header := range at(answer, "responseParameters").(object) {
				if at(m, "responses", "404", "headers", strings.TrimPrefix(header, prefix)) == nil {
					t.Errorf("%s: %s is mapped and not declared", name, header)
				}
			}
		}
		for missing := range want {
			t.Errorf("%s is not deployed", missing)
		}
		s.pages(t, pages)
		everyPathAnswers(t, methods)
	})
}

// everyPathAnswers holds that each part of a path is a resource of the gateway's, and
// answers every method.
func everyPathAnswers(t *testing.T, methods map[string]object) {
	t.Helper()
	for name := range methods {
		_, path, _ := strings.Cut(name, " ")
		for ; path != ""; path = path[:strings.LastIndex(path, "/")] {
			missing := slices.ContainsFunc(gatewayMethods[:], func(m string) bool { return methods[strings.ToUpper(m)+" "+path] == nil })
			if methods["ANY "+path] == nil && missing {
				t.Errorf("%s has no answer for methods that it lacks", path)
			}
		}
	}
	if methods["ANY /"] == nil || methods["ANY /{proxy+}"] == nil {
		t.Error("there are paths without an answer")
	}
}

// pages holds that people's pages are the dashboard's, and that the gateway may call
// it for them and for nothing else.
func (s *synthesized) pages(t *testing.T, pages []string) {
	t.Helper()
	slices.Sort(pages)
	want := []string{"ANY /assets/{proxy+}", "ANY /me", "ANY /me/{proxy+}", "ANY /org/{proxy+}", "ANY /sign-in", "ANY /sign-in/{proxy+}", "ANY /sign-out", "GET /"}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("the dashboard's paths:\n%s", diff)
	}
	id, _ := s.named(t, "AWS::Lambda::Function", dashboardFunction)
	from, ok := s.callers(id)
	slices.Sort(from)
	if diff := cmp.Diff([]string{"/*/", "/*/assets/*", "/*/me*", "/*/org/*", "/*/sign-in*", "/*/sign-out"}, from); diff != "" || !ok {
		t.Errorf("it may be called for:\n%s", diff)
	}
}

// mayCall reports whether the gateway may call a function by a method and no
// other way.
func (s *synthesized) mayCall(function, method, path string) bool {
	from, ok := s.callers(function)
	return ok && len(from) == 1 && from[0] == "/"+method+inBraces.ReplaceAllString(path, "*")
}

// callers are the methods and paths for which the gateway may call a function; false
// where something else may call it.
func (s *synthesized) callers(function string) (from []string, ok bool) {
	for _, p := range s.of("AWS::Lambda::Permission") {
		if at(p.Properties, "FunctionName", "Fn::GetAtt", 0) != function {
			continue
		}
		parts, _ := at(p.Properties, "SourceArn", "Fn::Join", 1).([]any)
		if len(parts) == 0 || p.Properties["Principal"] != "apigateway.amazonaws.com" || p.Properties["Action"] != "lambda:InvokeFunction" {
			return nil, false
		}
		last, _ := parts[len(parts)-1].(string)
		from = append(from, last)
	}
	return from, true
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
		body, _ := s.definition(t)
		for kind, r := range body["x-amazon-apigateway-gateway-responses"].(object) {
			kinds = append(kinds, kind)
			text, _ := at(r, "responseTemplates", "application/json").(string)
			inForm(t, kind, text)
			code, _ := at(r, "responseParameters", "gatewayresponse.header."+api.HeaderErrorCode).(string)
			if !slices.Contains(admin.Codes(), strings.Trim(code, "'")) {
				t.Errorf("%s: the code %s is none of the API's", kind, code)
			}
			if got := at(r, "responseParameters", "gatewayresponse.header."+api.HeaderRequestID); got != "context.requestId" {
				t.Errorf("%s: the request id is %v", kind, got)
			}
			challenge, _ := at(r, "responseParameters", "gatewayresponse.header.WWW-Authenticate").(string)
			if want := at(r, "statusCode") == "401"; want != strings.HasPrefix(challenge, "'Bearer ") {
				t.Errorf("%s: status %v with the challenge %q", kind, at(r, "statusCode"), challenge)
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
		body, methods := s.definition(t)
		if diff := cmp.Diff(object{keyValidator: object{"validateRequestParameters": true, "validateRequestBody": false}},
			body["x-amazon-apigateway-request-validators"]); diff != "" {
			t.Errorf("validators:\n%s", diff)
		}
		operations := map[string]bool{} // which all need a key
		for _, r := range api.Routes(api.Options{}) {
			operations[r.Method+" "+r.Path] = true
		}
		for name, m := range methods {
			asks := m["x-amazon-apigateway-request-validator"] == keyValidator
			parameters, _ := m["parameters"].([]any)
			names := slices.ContainsFunc(parameters, func(p any) bool {
				return at(p, "name") == "Authorization" && at(p, "in") == "header" && at(p, "required") == true
			})
			if open := !operations[name]; asks == open || names == open {
				t.Errorf("%s: asks for a key: %v, declares the header: %v", name, asks, names)
			}
		}
		if got := at(body, "x-amazon-apigateway-gateway-responses", "BAD_REQUEST_PARAMETERS", "statusCode"); got != "401" {
			t.Errorf("a request without a key is answered with %v", got)
		}
	})
}

// Without that, the gateway would send the pictures of a form as text, with their bytes
// replaced.
func TestFormsWithFilesPassTheGateway(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		body, _ := s.definition(t)
		_, rest := s.named(t, "AWS::ApiGateway::RestApi", "Api")
		for where, types := range map[string]any{"the document": body["x-amazon-apigateway-binary-media-types"], "the resource": rest.Properties["BinaryMediaTypes"]} {
			if diff := cmp.Diff([]any{"multipart/form-data"}, types); diff != "" {
				t.Errorf("%s: %s", where, diff)
			}
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
