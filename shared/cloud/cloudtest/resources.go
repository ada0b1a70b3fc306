package cloudtest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/bindery-docs/bindery/shared/cloud"
)

// Table makes the table of records and gives its name.
func (c *Cloud) Table(t *testing.T) string {
	t.Helper()
	client := dynamodb.NewFromConfig(c.Config)
	name := aws.String("records")
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	keys := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute(cloud.AttrPK), attribute(cloud.AttrSK), attribute(cloud.AttrActivePK), attribute(cloud.AttrActive),
		},
		KeySchema: keys(cloud.AttrPK, cloud.AttrSK),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(cloud.IndexActive), KeySchema: keys(cloud.AttrActivePK, cloud.AttrActive),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return *name
}

// Buckets makes the buckets of sources and of exports and gives their names.
func (c *Cloud) Buckets(t *testing.T) (sources, exports string) {
	t.Helper()
	client := s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
	for _, name := range []string{"sources", "exports"} {
		if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
			t.Fatal(err)
		}
	}
	return "sources", "exports"
}
