// Package cloud is Bindery on AWS: the ports of package store, and what turns
// handlers and steps into Lambda functions. It is the only user of the AWS SDK.
//
//	aws.go      ConfigFromEnv: what a function knows of AWS; kinds of errors
//	dynamo.go   Store on a table of DynamoDB
//	s3.go       Objects on two buckets of S3
//	upload.go   uploads, whole or in parts
//	links.go    links, and the role that signs them
//	sfn.go      Runner on a state machine of Step Functions
//	function.go what every function begins with
//	http.go     API Gateway's REST proxy events to an http.Handler and back
//	step.go     a step of the workflow as a function, errors under their codes
//	log.go      logs as JSON, with the ids of request, job and organisation
//	metrics.go  metrics in CloudWatch's embedded format
//
// Package stack, below, finds a deployed stack's parts for operators; package
// cloudtest starts local clouds for tests.
//
// Errors of the ports are those of package store. What AWS could not do now is
// an error of code "temporary", which the workflow tries again and the API
// tells its callers to; anything else is a fault.
package cloud
