// Package tests has nothing but folders below it, with what concerns more than one
// room:
//
//	agenttasks  documentation tasks for models
//	browser     exported pages in a browser
//	chart       the Helm chart, rendered and on a cluster
//	cloud       the deployed stack on local clouds
//	dashboard   the dashboard, and signing in
//	export      from publishing to a checked bundle
//	gate        the gate: runs all of these, and go test
//	kills       processes that end in the midst of their work
//	pipelines   what the documentation gives to pipelines
//	preview     bindery dev
//	release     a release, and what installs it
//	rules       the tables of rooms and crafts, files that must agree
//	search      the search of bundles
//	serve       bindery-serve
//
// Go runs and caches each by itself. They share harness and harness/browse; peers
// has other tools to measure against, and tools what .ci/tools installs.
//
// Some tests need things from outside the repository: package tests/outside
// has the rule for what becomes of those that lack them.
package tests
