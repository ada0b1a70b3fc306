// Package cloud turns handlers and steps into Lambda functions. It knows nothing
// of the AWS SDK, and neither does a function that needs none of AWS's services.
//
//	function.go what every function begins with
//	http.go     API Gateway's REST proxy events to an http.Handler and back
//	step.go     a step of the workflow as a function, errors under their codes
//	log.go      logs as JSON, with the ids of request, job and organisation
//	metrics.go  metrics in CloudWatch's embedded format
//
// The ports of package store on AWS are packages below, the only users of the
// SDK, each on its own so that a function links just the clients it calls:
//
//	awsconfig      region, credentials and endpoint of a function
//	dynamo         Store on a table of DynamoDB
//	s3store        Objects on two buckets of S3; links, and the roles that sign them
//	sfnrun         Runner on a state machine of Step Functions
//	kmsstore       Secrets on a key of KMS and records
//	secretrow      what kmsstore keeps in records
//	secretvalue    reads a secret of Secrets Manager
//	invoke         calls a Lambda function
//	internal/call  retries and kinds of errors, which they have in common
//	stack          finds a deployed stack's parts, for operators
//	cloudtest      starts local clouds, for tests
//
// Errors of the ports are those of package store. What AWS could not do now is
// an error of code "temporary", which the workflow tries again and the API
// asks its callers to; anything else is a fault.
package cloud
