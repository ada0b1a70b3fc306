package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
)

// storage is where all state is.
type storage struct {
	table awsdynamodb.ITable
	// sources has manifests and packs, exports the parts and bundles of
	// exports; logs who read either.
	sources, exports, logs awss3.Bucket
	// key is the customer's, with which table and buckets are encrypted; nil
	// for AWS's own.
	key awskms.IKey
	// credentials is the key that the credentials of forges are encrypted with:
	// the customer's, or one of the stack. Their ciphertext is in the table.
	credentials awskms.IKey
	// modelKeys is the secret with the keys of the models' servers, appKey the one
	// with the private key of the operator's GitHub App.
	modelKeys, appKey awssecretsmanager.CfnSecret
}

// activeIndex is the index of jobs that are not final.
const activeIndex = "active"

func newStorage(s *stack) storage {
	var key awskms.IKey
	if s.key != "" {
		key = awskms.Key_FromKeyArn(s.Stack, jsii.String("Key"), &s.settings.key)
	}

	// S3 writes access logs with its own keys alone.
	logs := s.bucket("AccessLogs", nil, nil, &awss3.LifecycleRule{
		Id: jsii.String("old-logs"), Expiration: awscdk.Duration_Days(jsii.Number(90)),
	})
	st := storage{
		table:   s.newTable(key),
		logs:    logs,
		sources: s.bucket("Sources", logs, key),
		exports: s.bucket("Exports", logs, key),
		key:     key,
	}
	st.sources.AddCorsRule(&awss3.CorsRule{
		Id: jsii.String("uploads-of-the-dashboard"), AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
		AllowedOrigins: jsii.Strings(*s.dashboardOrigins()), AllowedHeaders: jsii.Strings(uploadHeaders...), MaxAge: jsii.Number(3600),
	})
	if st.credentials = key; key == nil {
		st.credentials = awskms.NewKey(s.Stack, jsii.String("CredentialKey"), &awskms.KeyProps{
			Description:       jsii.String("Credentials of forges, of " + s.stack),
			EnableKeyRotation: jsii.Bool(true), RemovalPolicy: s.removal(),
		})
	}
	st.modelKeys = s.secret("ModelKeys", "Keys of models, of "+s.stack+": the default server's, or a JSON object of keys by servers")
	st.appKey = s.secret("GitHubAppKey", "Private key in PEM of the GitHub App of "+s.stack)
	return st
}

// secret makes a secret that an operator puts the text in. An update leaves that as
// it is, as long as the text that the stack makes it with stays.
func (s *stack) secret(name, about string) awssecretsmanager.CfnSecret {
	made := awssecretsmanager.NewCfnSecret(s.Stack, &name, &awssecretsmanager.CfnSecretProps{
		Description: &about, SecretString: jsii.String(config.EmptySecret),
	})
	made.ApplyRemovalPolicy(s.removal(), nil)
	return made
}

// newTable makes the table of all records, or takes the one that the settings
// name: a restored one, which has expiry, recovery and protection from whoever
// restored it.
func (s *stack) newTable(key awskms.IKey) awsdynamodb.ITable {
	if s.settings.table != "" {
		return awsdynamodb.Table_FromTableName(s.Stack, jsii.String("Restored"), &s.settings.table)
	}
	text := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
	}
	table := awsdynamodb.NewTable(s.Stack, jsii.String("Table"), &awsdynamodb.TableProps{
		EncryptionKey:       key,
		PartitionKey:        text("pk"),
		SortKey:             text("sk"),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String("expires"),
		// The stream carries keys alone: it wakes the dispatcher (see newWebhooks).
		Stream: awsdynamodb.StreamViewType_KEYS_ONLY,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		DeletionProtection: jsii.Bool(s.protect),
		RemovalPolicy:      s.removal(),
	})
	// Sparse: only active jobs have both attributes.
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName: jsii.String(activeIndex), PartitionKey: text("activepk"), SortKey: text("active"),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
	})
	return table
}

// bucket makes a private bucket that takes requests over TLS alone. Uploads
// that were broken off go by themselves; nothing else does unless rules say so:
// a source of last year may hold a page of today. There are no versions of
// objects: each is named by its digest or its job and written once, never over
// another, and only the sweep and the steps may remove any.
func (s *stack) bucket(name string, logs awss3.Bucket, key awskms.IKey, rules ...*awss3.LifecycleRule) awss3.Bucket {
	all := append([]*awss3.LifecycleRule{{
		Id: jsii.String("broken-off-uploads"), AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(2)),
	}}, rules...)
	props := &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		LifecycleRules:    &all,
		RemovalPolicy:     s.removal(),
		AutoDeleteObjects: jsii.Bool(s.emptyBuckets),
	}
	if key != nil {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, key, jsii.Bool(true)
	}
	if logs != nil {
		props.ServerAccessLogsBucket = logs
		props.ServerAccessLogsPrefix = jsii.String(name + "/")
	}
	return awss3.NewBucket(s.Stack, &name, props)
}
