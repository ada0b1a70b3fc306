// Package api is Bindery's HTTP API: JSON in and out over the rules of package
// admin.
//
//	wire.go      what goes over the wire, as Go types
//	routes.go    the table of routes, and what every request goes through
//	alone.go     one route alone, as a Lambda function answers it
//	handlers.go  one function for each route of exports and snapshots
//	lists.go     those that list: exports, findings, snapshots, projects; what an organisation is and used
//	agent.go     those of agent jobs; parameters of queries
//	webhook.go   those of webhooks, and what their messages show
//	decode.go    requests: the strict reading of each body
//	errors.go    the one place where codes become HTTP
//	openapi.go   the document that describes all this: openapi.json
//
// Every failure is {"error": "message"} with its code in the header
// Bindery-Error-Code, also that of a path or method that nothing answers. The
// checks come in this order: 401 (who), 403 (address, scope, plan), 400 with
// 413 and 415 (the request's form), 404, 409 and 422, 429.
//
// Routes returns handlers that are independent, one for each function in the
// cloud; Handler puts them together for one process.
package api
