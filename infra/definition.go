package main

import (
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// binaryTypes are the types of bodies that the gateway passes on as they are, not as text: a
// form may have pictures.
var binaryTypes = []string{"multipart/form-data"}

// tree is a JSON object.
type tree = map[string]any

// anyMethod names the method that answers every method that a path does not list.
const anyMethod = "x-amazon-apigateway-any-method"

// keyValidator names the rule that a request must have the header with the key.
const keyValidator = "needs-key"

// definition is the API as API Gateway imports it: one OpenAPI 3.0 document with
// the methods of the table of functions, one function for all other methods of their
// paths, mocks for all other paths, and the gateway's own answers, none of which is a
// resource of the stack then.
// It is not the API's document for callers, which has OpenAPI 3.1.
//
// REST APIs rename the header WWW-Authenticate of a function's answer to
// x-amzn-Remapped-WWW-Authenticate, and nothing undoes that. Of their own
// answers they do not; so one to a request without a key is theirs. Whether a
// key is good the functions alone decide.
func (s *stack) definition() tree {
	paths := tree{}
	at := func(path string) tree {
		if paths[path] == nil {
			paths[path] = tree{anyMethod: nothing(path)}
		}
		return paths[path].(tree)
	}
	known := map[string]bool{} // paths with an operation
	at("/")
	at("/{proxy+}")
	for _, f := range functions() {
		if f.part != answers {
			continue
		}
		method, path := route(f.operation)
		for i := range path {
			if i > 0 && path[i] == '/' {
				at(path[:i]) // the gateway has a resource for each part of a path
			}
		}
		at(path)[strings.ToLower(method)] = s.call(f, path)
		known[path] = true
	}
	for path := range known {
		methods := at(path)
		delete(methods, anyMethod)
		for _, method := range gatewayMethods {
			if methods[method] == nil {
				methods[method] = s.others(path)
			}
		}
	}
	at("/")["get"] = s.page("/")
	for _, path := range dashboardPaths {
		if folder := strings.TrimSuffix(beforeProxy(path), "/"); folder != path {
			at(folder)
		}
		paths[path] = tree{anyMethod: s.page(path)}
	}
	answered := tree{}
	for _, r := range refusals() {
		response := tree{"responseParameters": r.mapped("gatewayresponse.header."), "responseTemplates": tree{"application/json": r.body()}}
		if r.status != "" {
			response["statusCode"] = r.status
		}
		answered[r.kind] = response
	}
	return tree{
		"openapi": "3.0.1",
		"info":    tree{"title": *s.StackName(), "description": "Bindery's admin API", "version": "1"},
		"paths":   paths,
		"x-amazon-apigateway-request-validators": tree{
			keyValidator: tree{"validateRequestParameters": true, "validateRequestBody": false},
		},
		"x-amazon-apigateway-gateway-responses":  answered,
		"x-amazon-apigateway-binary-media-types": binaryTypes,
	}
}

// call is a method that a function answers.
func (s *stack) call(f spec, path string) tree {
	parameters := inPath(path)
	method := tree{
		"operationId": f.operation, "responses": tree{}, // which are the function's
		"x-amazon-apigateway-integration": s.function(f.name),
	}
	if f.operation != openAPI {
		parameters = append(parameters, tree{"name": "Authorization", "in": "header", "required": true, "schema": tree{"type": "string"}})
		method["x-amazon-apigateway-request-validator"] = keyValidator
	}
	if len(parameters) > 0 {
		method["parameters"] = parameters
	}
	return method
}

// gatewayMethods are the methods that a REST API of the gateway takes. Paths of the API
// list each of them: SAM would send all requests to a method for any.
var gatewayMethods = [...]string{"delete", "get", "head", "options", "patch", "post", "put"}

// others is a method that a path of the API does not have. It answers 405 with Allow. A
// mock could not, since it reads no body but JSON. The function that answers may do
// nothing else but give out the API's document.
func (s *stack) others(path string) tree {
	method := tree{"responses": tree{}, "x-amazon-apigateway-integration": s.function(documentFunction)}
	if parameters := inPath(path); len(parameters) > 0 {
		method["parameters"] = parameters
	}
	return method
}

// function passes requests on to a function of the stack, by its name.
func (s *stack) function(name string) tree {
	function := s.functions[name].fn.Node().DefaultChild().(awslambda.CfnFunction)
	return integration("${" + *s.GetLogicalId(function) + ".Arn}")
}

// integration passes requests on to a function, by its address as Fn::Sub reads it.
func integration(function string) tree {
	// As one text, not as parts joined: the SAM CLI reads no other.
	uri := awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"+function+"/invocations"), nil)
	return tree{"type": "aws_proxy", "httpMethod": "POST", "uri": *uri, "passthroughBehavior": "when_no_match"}
}

// page is a method that the dashboard answers: it knows itself what is not there, and
// who may do what.
func (s *stack) page(path string) tree {
	method := tree{
		"responses":                       tree{},
		"x-amazon-apigateway-integration": integration("arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + s.dashboardName()),
	}
	if parameters := inPath(path); len(parameters) > 0 {
		method["parameters"] = parameters
	}
	return method
}

// nothing is the method that answers every method of a path with 404.
func nothing(path string) tree {
	headers := tree{}
	for name := range notFound.headers() {
		headers[name] = tree{"schema": tree{"type": "string"}}
	}
	method := tree{
		"responses": tree{"404": tree{"description": notFound.message, "headers": headers}},
		"x-amazon-apigateway-integration": tree{
			"type": "mock", "passthroughBehavior": "never", "requestTemplates": tree{"application/json": `{"statusCode":404}`},
			"responses": tree{"default": tree{
				"statusCode": "404", "responseParameters": notFound.mapped("method.response.header."),
				"responseTemplates": tree{"application/json": notFound.body()},
			}},
		},
	}
	if parameters := inPath(path); len(parameters) > 0 {
		method["parameters"] = parameters
	}
	return method
}

var inBraces = regexp.MustCompile(`\{(\w+)\+?\}`)

// inPath declares the names in a path.
func inPath(path string) (parameters []any) {
	for _, m := range inBraces.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, tree{"name": m[1], "in": "path", "required": true, "schema": tree{"type": "string"}})
	}
	return parameters
}

// mapped are a refusal's headers by where the gateway puts them.
func (r refusal) mapped(prefix string) tree {
	all := tree{}
	for name, value := range r.headers() {
		all[prefix+name] = value
	}
	return all
}
