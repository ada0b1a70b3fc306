package main

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// gateway is the REST API before the functions.
type gateway struct {
	api    awsapigateway.SpecRestApi
	domain awsapigateway.DomainName // nil where callers use the API's own name
}

// refusal is an answer that the gateway gives by itself. It has the form that
// the API's own refusals have: package api's, with codes of package admin.
type refusal struct {
	// kind is API Gateway's name for the case.
	kind string
	// status replaces the gateway's own; empty keeps that.
	status        string
	code, message string
	// retryAfter, in seconds, is when trying again may help.
	retryAfter string
}

// notFound answers paths that the API does not have.
var notFound = refusal{status: "404", code: "not_found", message: "there is nothing at this path for this method"}

func refusals() []refusal {
	as := func(kind string, r refusal) refusal { r.kind = kind; return r }
	return []refusal{
		as("MISSING_AUTHENTICATION_TOKEN", notFound), // that is how the gateway says it
		as("RESOURCE_NOT_FOUND", notFound),
		as("INVALID_SIGNATURE", notFound), // an Authorization header where nothing is
		// Only the mocks read no other type than JSON: functions take all.
		as("UNSUPPORTED_MEDIA_TYPE", notFound),
		{"UNAUTHORIZED", "401", "unauthorized", "the request has no valid admin key", ""},
		{"ACCESS_DENIED", "403", "address_not_allowed", "the request is not allowed", ""},
		{"EXPIRED_TOKEN", "403", "address_not_allowed", "the request is not allowed", ""},
		{"INVALID_API_KEY", "403", "address_not_allowed", "the request is not allowed", ""},
		{"WAF_FILTERED", "403", "address_not_allowed", "the request is not allowed", ""},
		{"BAD_REQUEST_BODY", "400", "invalid_request", "the request can't be read", ""},
		// The one parameter that the gateway asks for is the header with the key.
		{"BAD_REQUEST_PARAMETERS", "401", "unauthorized", "the request has no admin key", ""},
		{"REQUEST_TOO_LARGE", "413", "too_large", "the request is too large", ""},
		{"THROTTLED", "429", "temporary", "too many requests at once; try again", "1"},
		{"QUOTA_EXCEEDED", "429", "temporary", "too many requests at once; try again", "60"},
		{"INTEGRATION_FAILURE", "503", "temporary", "the request could not be answered; try again", "1"},
		{"INTEGRATION_TIMEOUT", "503", "temporary", "the request took too long; try again", "1"},
		{"API_CONFIGURATION_ERROR", "500", "internal", admin.MessageInternal, ""},
		{"AUTHORIZER_CONFIGURATION_ERROR", "500", "internal", admin.MessageInternal, ""},
		{"AUTHORIZER_FAILURE", "500", "internal", admin.MessageInternal, ""},
		{"DEFAULT_4XX", "", "invalid_request", "the request can't be answered", ""},
		{"DEFAULT_5XX", "", "internal", admin.MessageInternal, ""},
	}
}

// body is a refusal's body.
func (r refusal) body() string {
	b, _ := json.Marshal(api.ErrorBody{Error: r.message}) // a struct with a string always encodes
	return string(b)
}

// headers are a refusal's headers, in API Gateway's language: a text in
// quotes, or what is to be put in.
func (r refusal) headers() map[string]string {
	h := map[string]string{
		api.HeaderErrorCode:      "'" + r.code + "'",
		api.HeaderRequestID:      "context.requestId",
		"Cache-Control":          "'no-store'",
		"X-Content-Type-Options": "'nosniff'",
	}
	if r.retryAfter != "" {
		h["Retry-After"] = "'" + r.retryAfter + "'"
	}
	if r.status == "401" {
		h["WWW-Authenticate"] = `'Bearer realm="bindery"'`
	}
	return h
}

// accessLog is a line for each request, with nothing that a caller sent but
// method and path.
const accessLog = `{"requestId":"$context.requestId","time":"$context.requestTimeEpoch","address":"$context.identity.sourceIp",` +
	`"method":"$context.httpMethod","path":"$context.path","resource":"$context.resourcePath","status":"$context.status",` +
	`"milliseconds":"$context.responseLatency","integrationStatus":"$context.integrationStatus",` +
	`"integrationMilliseconds":"$context.integrationLatency","error":"$context.error.responseType","bytes":"$context.responseLength"}`

func (s *stack) newGateway() {
	logs := awslogs.NewLogGroup(s.Stack, jsii.String("api-logs"), &awslogs.LogGroupProps{
		Retention: s.logLife(), RemovalPolicy: s.removal(),
	})
	rest := awsapigateway.NewSpecRestApi(s.Stack, jsii.String("Api"), &awsapigateway.SpecRestApiProps{
		RestApiName:   s.StackName(),
		ApiDefinition: awsapigateway.ApiDefinition_FromInline(s.definition()),
		// Local clouds read only this property, AWS only the document.
		BinaryMediaTypes: jsii.Strings(binaryTypes...),
		// What the document has no more goes, too.
		Mode:                        awsapigateway.RestApiMode_OVERWRITE,
		EndpointTypes:               &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		Parameters:                  &map[string]*string{"endpointConfigurationTypes": jsii.String("REGIONAL")},
		CloudWatchRole:              jsii.Bool(true),
		CloudWatchRoleRemovalPolicy: s.accountRemoval(),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(string(s.stage)),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(logs),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_ERROR,
			DataTraceEnabled:     jsii.Bool(false), // it would log keys
			MetricsEnabled:       jsii.Bool(true),
			TracingEnabled:       jsii.Bool(true),
			ThrottlingRateLimit:  s.parameters.rate.ValueAsNumber(),
			ThrottlingBurstLimit: s.parameters.burst.ValueAsNumber(),
		},
	})
	s.gateway.api = rest
	if s.domain != "" {
		s.gateway.domain = rest.AddDomainName(jsii.String("Domain"), &awsapigateway.DomainNameOptions{
			DomainName:     &s.settings.domain,
			Certificate:    awscertificatemanager.Certificate_FromCertificateArn(s.Stack, jsii.String("Certificate"), &s.certificate),
			EndpointType:   awsapigateway.EndpointType_REGIONAL,
			SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
		})
	}

	for _, path := range append([]string{"/"}, dashboardPaths...) {
		if path = strings.Replace(path, "{proxy+}", "*", 1); path == "/me" || path == "/sign-in" {
			path += "*" // with all below it
		} else if strings.HasPrefix(path, "/me/") || strings.HasPrefix(path, "/sign-in/") {
			continue
		}
		awslambda.NewCfnPermission(s.Stack, jsii.String(dashboardFunction+"-called-"+strings.Trim(path, "/*")), &awslambda.CfnPermissionProps{
			Action: jsii.String("lambda:InvokeFunction"), Principal: jsii.String("apigateway.amazonaws.com"),
			FunctionName: s.functions[dashboardFunction].fn.FunctionArn(),
			SourceArn:    rest.ArnForExecuteApi(jsii.String("*"), &path, rest.DeploymentStage().StageName()),
		})
	}
	// Each function may be called by its own method alone, but the one that answers other
	// methods.
	for _, f := range functions() {
		if f.part == answers {
			method, path := route(f.operation)
			path = inBraces.ReplaceAllString(path, "*")
			if f.name == documentFunction {
				method, path = "*", "/*"
			}
			awslambda.NewCfnPermission(s.Stack, jsii.String(f.name+"-called"), &awslambda.CfnPermissionProps{
				Action: jsii.String("lambda:InvokeFunction"), Principal: jsii.String("apigateway.amazonaws.com"),
				FunctionName: s.functions[f.name].fn.FunctionArn(),
				SourceArn:    rest.ArnForExecuteApi(&method, &path, rest.DeploymentStage().StageName()),
			})
		}
	}
	if s.waf {
		s.newWebACL()
	}
}

// route is where an operation of the API is.
func route(operation string) (method, path string) {
	if operation == openAPI {
		return "GET", "/openapi.json"
	}
	for _, r := range api.Routes(api.Options{}) {
		if r.Operation == operation {
			return r.Method, r.Path
		}
	}
	panic("the API has no operation " + operation) // a fault of the table of functions: no stack comes of it
}

// newWebACL puts a web ACL before the API: known bad addresses and inputs, and
// a bound on what one address may ask. The managed rules for bodies are left
// out: a list of packs is larger than they take.
func (s *stack) newWebACL() {
	visible := func(name string) map[string]any {
		return map[string]any{"cloudWatchMetricsEnabled": true, "sampledRequestsEnabled": true, "metricName": name}
	}
	managed := func(priority int, name string) map[string]any {
		return map[string]any{
			"name": name, "priority": priority, "overrideAction": map[string]any{"none": map[string]any{}},
			"statement":        map[string]any{"managedRuleGroupStatement": map[string]any{"vendorName": "AWS", "name": name}},
			"visibilityConfig": visible(name),
		}
	}
	acl := awswafv2.NewCfnWebACL(s.Stack, jsii.String("WebAcl"), &awswafv2.CfnWebACLProps{
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    map[string]any{"allow": map[string]any{}},
		VisibilityConfig: visible("bindery"),
		Rules: []any{
			managed(1, "AWSManagedRulesAmazonIpReputationList"),
			managed(2, "AWSManagedRulesKnownBadInputsRuleSet"),
			map[string]any{
				"name": "rate", "priority": 3, "action": map[string]any{"block": map[string]any{}},
				"statement":        map[string]any{"rateBasedStatement": map[string]any{"limit": 10000, "aggregateKeyType": "IP"}},
				"visibilityConfig": visible("rate"),
			},
		},
	})
	awswafv2.NewCfnWebACLAssociation(s.Stack, jsii.String("WebAclOfApi"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: s.gateway.api.DeploymentStage().StageArn(), WebAclArn: acl.AttrArn(),
	})
}

// address is what callers use as BINDERY_URL.
func (g gateway) address(set settings) *string {
	if set.domain != "" {
		return jsii.String("https://" + set.domain + "/")
	}
	return g.api.Url()
}

// dimensions are the API's stage as alarms name it.
func (g gateway) dimensions() *map[string]*string {
	return &map[string]*string{"ApiName": g.api.RestApiName(), "Stage": g.api.DeploymentStage().StageName()}
}
