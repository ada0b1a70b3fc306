// Package chart tests the Helm chart of infra/chart as helm sees it, and
// on a cluster:
//
//	helm_test.go     calls of helm, and objects decoded into Kubernetes' types
//	render_test.go   sets of values, what they render to, and what holds in all
//	refuse_test.go   values that the schema refuses, by the field's name
//	loop_test.go     which addresses the loop sends its key to
//	values_test.go   every value changes something and is documented
//	docs_test.go     examples of the documentation
//	cluster_test.go  real pods, for which make test-chart asks
//	workflow_test.go the page about the loop has the workflows as they are
package chart
