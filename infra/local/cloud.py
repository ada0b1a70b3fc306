"""Runs MiniStack with the whole of an API's OpenAPI document imported.

MiniStack 1.5 takes paths, methods and the addresses of integrations from the
document of an AWS::ApiGateway::RestApi, and leaves out what the stack has there
besides: methods that answer all others, mocks with their answers, validators,
and the gateway's own answers. A document that has changed makes a new API
there, where AWS imports it over the one that is there (Mode: overwrite).
Everything that is added here is put in by MiniStack's own calls, those by which
AWS::ApiGateway::Method and its kin are deployed.
"""

import json

from ministack.app import main
from ministack.services import apigateway_v1 as gateway
from ministack.services.cloudformation import provisioners

OTHERS = "x-amazon-apigateway-any-method"
METHODS = {"get", "post", "put", "delete", "patch", "head", "options", OTHERS}
PLACES = {"header": "header", "path": "path", "query": "querystring"}


def made(answer):
    """The id of what a call has made."""
    status, _, body = answer
    if status >= 400:
        raise ValueError(f"import of an API: {body!r}")
    return json.loads(body).get("id")


def fill(api, document):
    """Imports a document over an API."""
    resources = gateway._resources[api]
    root = next(id for id, r in resources.items() if r.get("path") == "/")
    for id in list(resources):
        if id != root:
            del resources[id]
    resources[root]["resourceMethods"] = {}
    gateway._gateway_responses.pop(api, None)
    gateway._request_validators.pop(api, None)
    validators = {
        name: made(gateway._create_request_validator(api, dict(rule, name=name)))
        for name, rule in document.get("x-amazon-apigateway-request-validators", {}).items()
    }
    for kind, answer in document.get("x-amazon-apigateway-gateway-responses", {}).items():
        made(gateway._put_gateway_response(api, kind, answer))
    for path, item in document["paths"].items():
        at = root
        for part in filter(None, path.split("/")):
            known = [id for id, r in resources.items() if r.get("parentId") == at and r.get("pathPart") == part]
            at = known[0] if known else made(gateway._create_resource(api, at, {"pathPart": part}))
        for method in METHODS & item.keys():
            put(api, at, "ANY" if method == OTHERS else method.upper(), item[method], validators)


def put(api, resource, method, operation, validators):
    """Makes one method of a resource."""
    integration = operation["x-amazon-apigateway-integration"]
    made(gateway._put_method(api, resource, method, {
        "operationName": operation.get("operationId", ""),
        "requestParameters": {
            f"method.request.{PLACES[p['in']]}.{p['name']}": p.get("required", False) for p in operation.get("parameters", [])
        },
        "requestValidatorId": validators.get(operation.get("x-amazon-apigateway-request-validator")),
    }))
    for status, answer in operation["responses"].items():
        made(gateway._put_method_response(api, resource, method, status, {
            "responseParameters": {f"method.response.header.{name}": False for name in answer.get("headers", {})},
        }))
    made(gateway._put_integration(api, resource, method, dict(
        integration, type=integration["type"].upper(), passthroughBehavior=integration["passthroughBehavior"].upper(),
    )))
    for answer in integration.get("responses", {}).values():
        made(gateway._put_integration_response(api, resource, method, answer["statusCode"], answer))


def create(document, data=None):
    api = made(gateway._create_rest_api(dict({"name": document["info"]["title"]}, **(data or {}))))
    fill(api, document)
    return api


update_rest = provisioners._apigw_rest_api_update


def update(physical_id, old_props, new_props, stack_name, logical_id=None):
    document = new_props.get("Body")
    if document is not None and document != old_props.get("Body"):
        fill(physical_id, document)
        old_props = dict(old_props, Body=document)
    return update_rest(physical_id, old_props, new_props, stack_name, logical_id)


gateway._import_rest_api = create
provisioners._RESOURCE_HANDLERS["AWS::ApiGateway::RestApi"]["update"] = update

if __name__ == "__main__":
    main()
