// Package awsconfig is what a Lambda function knows of AWS before it has asked
// for anything.
package awsconfig

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// FromEnv reads what a Lambda function finds in its environment: region
// and credentials of its role, and AWS_ENDPOINT_URL where a local cloud stands
// in for AWS. It asks neither files nor the network, and links nothing that
// could, which is what keeps functions small; operators' programs, which have
// profiles and sign-ons, get theirs from package stack. getenv is os.Getenv
// outside of tests.
// It returns an error that names a variable that is missing.
func FromEnv(getenv func(string) string) (aws.Config, error) {
	region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	if region == "" {
		return aws.Config{}, errors.New("AWS_REGION is not set")
	}
	keys := aws.Credentials{
		AccessKeyID:     getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
		Source:          "environment",
	}
	if keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return aws.Config{}, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set")
	}
	cfg := aws.Config{
		Region:      region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil }),
	}
	if endpoint := getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		cfg.BaseEndpoint = aws.String(endpoint)
	}
	return cfg, nil
}
