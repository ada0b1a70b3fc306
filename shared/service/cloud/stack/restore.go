package stack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Tables restores a table to a point in time, into one of another name.
type Tables struct{ client *dynamodb.Client }

// NewTables asks nothing of AWS.
func NewTables(cfg aws.Config) *Tables { return &Tables{dynamodb.NewFromConfig(cfg)} }

// Restore makes the table target of what the table source was at a time, the
// zero time for the latest that can be restored, and waits until it is there,
// which takes AWS minutes to hours. It returns the errors of DynamoDB: source
// may be without recovery, and target may be there already. A target that was created
// since the call began is its own: the answer to its first try was lost.
func (t *Tables) Restore(ctx context.Context, source, target string, at time.Time) error {
	in := &dynamodb.RestoreTableToPointInTimeInput{SourceTableName: &source, TargetTableName: &target}
	if at.IsZero() {
		in.UseLatestRestorableTime = aws.Bool(true)
	} else {
		in.RestoreDateTime = &at
	}
	began := time.Now().Add(-time.Second) // DynamoDB's times are in milliseconds or seconds
	_, err := t.client.RestoreTableToPointInTime(ctx, in)
	if _, ok := errors.AsType[*types.TableAlreadyExistsException](err); ok {
		found, e := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &target})
		if e == nil && found.Table.CreationDateTime != nil && !found.Table.CreationDateTime.Before(began) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("restore table %s into %s: %w", source, target, err)
	}
	wait := dynamodb.NewTableExistsWaiter(t.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, 20*time.Second })
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &target}, 24*time.Hour); err != nil {
		return fmt.Errorf("restore table %s into %s: %w", source, target, err)
	}
	return nil
}

// Ready sets what a restore leaves out on a restored table: expiry of records by an
// attribute, recovery to a point in time, and protection from deletion. It returns DynamoDB's errors.
func (t *Tables) Ready(ctx context.Context, table, expires string) error {
	_, err := t.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &expires, Enabled: aws.Bool(true)}})
	if err == nil {
		_, err = t.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: &table,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
	}
	if err == nil {
		_, err = t.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &table, DeletionProtectionEnabled: aws.Bool(true)})
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	return nil
}

// Drop deletes a table. It succeeds if the table is gone or is being deleted: the
// answer to an earlier try may have been lost. It returns DynamoDB's other errors,
// such as the refusal for a table with protection from deletion.
func (t *Tables) Drop(ctx context.Context, table string) error {
	_, err := t.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return nil
	}
	if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
		found, e := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if e == nil && found.Table.TableStatus == types.TableStatusDeleting {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("delete table %s: %w", table, err)
	}
	return nil
}
