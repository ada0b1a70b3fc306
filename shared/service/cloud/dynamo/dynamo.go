// Package dynamo is store.Store on one table of DynamoDB.
//
//	dynamo.go  the store
//	items.go   records as items, the index's keys, what a write is held to
package dynamo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// The table: attributes of its items, and its index. Whoever creates it must
// use these names.
const (
	AttrPK        = "pk"       // S, partition key
	AttrSK        = "sk"       // S, sort key
	AttrActivePK  = "activepk" // S, partition key of IndexActive; only on active records, always ActivePartition
	AttrActive    = "active"   // S, sort key of IndexActive
	AttrExpires   = "expires"  // N, Unix seconds: the table's time to live
	IndexActive   = "active"   // holds all attributes
	attrRevision  = "rev"      // N
	attrValue     = "value"    // S; B where the document is not UTF-8
	attrBy        = "by"       // S, names the call that wrote the item
	activeRecords = "active"   // the one partition of IndexActive: few records are active at once
)

// DynamoDB's limits that package store does not name.
const (
	itemOverhead   = 64   // names of attributes, and what else all items have, rounded up
	maxPageRecords = 1000 // where the caller sets no limit
)

// Store is store.Store on one table of DynamoDB.
//
// Every condition is on the revision. The SDK repeats calls whose answer was
// lost, and a repeated write would fail on the revision that it has written
// itself; so each write carries a random name, and a refused item that bears
// the name was written after all. Transactions have DynamoDB's own means for
// that. Reads of the table are consistent, those of the index can't be.
type Store struct {
	client *dynamodb.Client
	table  string
	sleep  func(context.Context, time.Duration) error
}

var _ store.Store = (*Store)(nil)

// Options say where records are.
type Options struct {
	// Table is the name of the table.
	Table string
}

// New makes a Store; it asks nothing of AWS.
func New(cfg aws.Config, opt Options) *Store {
	return &Store{client: dynamodb.NewFromConfig(call.WithRetries(cfg)), table: opt.Table, sleep: call.Sleep}
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key store.Key) (store.Record, error) {
	if err := store.CheckKey(key); err != nil {
		return store.Record{}, err
	}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: keyItem(key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return store.Record{}, call.Failure(ctx, err, "get record %q %q", key.PK, key.SK)
	}
	if out.Item == nil {
		return store.Record{}, fmt.Errorf("record %q %q: %w", key.PK, key.SK, store.ErrNotFound)
	}
	return readItem(out.Item)
}

// Query implements store.Store. It asks for one record more than a page
// holds, so that a cursor always has something after it.
func (s *Store) Query(ctx context.Context, q store.Query) (store.Page, error) {
	if err := store.CheckQuery(q); err != nil {
		return store.Page{}, err
	}
	in := &dynamodb.QueryInput{TableName: &s.table, ScanIndexForward: aws.Bool(!q.Descending)}
	partition, order, prefix := AttrPK, AttrSK, q.Prefix
	values := map[string]types.AttributeValue{}
	if q.Index == store.ByKey {
		in.ConsistentRead = aws.Bool(true)
		values[":pk"] = text(q.PK)
	} else {
		in.IndexName = aws.String(IndexActive)
		partition, order, prefix = AttrActivePK, AttrActive, escapeActive(prefix)
		values[":pk"] = text(activeRecords)
	}
	in.ExpressionAttributeNames = map[string]string{"#pk": partition}
	condition := "#pk = :pk"
	if prefix != "" {
		// Not begins_with: there are services that let it pass over case.
		condition += " AND #sk BETWEEN :first AND :last"
		in.ExpressionAttributeNames["#sk"] = order
		values[":first"], values[":last"] = text(prefix), text(lastOf(prefix))
	}
	in.KeyConditionExpression, in.ExpressionAttributeValues = &condition, values
	if q.Cursor != "" {
		key, active, err := store.DecodeCursor(q)
		if err != nil {
			return store.Page{}, err
		}
		in.ExclusiveStartKey = keyItem(key)
		if q.Index == store.ByActive {
			in.ExclusiveStartKey[AttrActivePK], in.ExclusiveStartKey[AttrActive] = text(activeRecords), text(activeKey(active, key))
		}
	}
	limit := q.Limit
	if limit == 0 || limit > maxPageRecords {
		limit = maxPageRecords
	}
	in.Limit = aws.Int32(int32(limit + 1))
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return store.Page{}, call.Failure(ctx, err, "query records of %q", q.PK)
		}
		if len(out.Items) == 0 && len(out.LastEvaluatedKey) > 0 {
			in.ExclusiveStartKey = out.LastEvaluatedKey
			continue
		}
		more := len(out.LastEvaluatedKey) > 0 || len(out.Items) > limit
		var page store.Page
		for _, item := range out.Items[:min(limit, len(out.Items))] {
			rec, err := readItem(item)
			if err != nil {
				return store.Page{}, err
			}
			page.Records = append(page.Records, rec)
		}
		if more {
			page.Cursor = store.EncodeCursor(q, page.Records[len(page.Records)-1])
		}
		return page, nil
	}
}

// Scan calls fn with every record of the table, in no order and not
// consistently: operators look at a table that nothing writes to, such as a
// restored one. It returns the first error of fn, and DynamoDB's.
func (s *Store) Scan(ctx context.Context, fn func(store.Record) error) error {
	for p := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: &s.table}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			return call.Failure(ctx, err, "read all records of %q", s.table)
		}
		for _, item := range page.Items {
			rec, err := readItem(item)
			if err == nil {
				err = fn(rec)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	if err := store.CheckWrite(puts, deletes, sizeOf); err != nil {
		return err
	}
	by := writeName()
	for try := 1; ; try++ {
		var err error
		switch {
		case len(puts)+len(deletes) == 0:
			return ctx.Err()
		case len(puts) == 1 && len(deletes) == 0:
			err = s.put(ctx, puts[0], by)
		case len(puts) == 0 && len(deletes) == 1 && deletes[0].Revision == 0:
			err = s.remove(ctx, deletes[0].Key)
		default:
			err = s.transact(ctx, puts, deletes, by)
		}
		if !errors.Is(err, errBusy) {
			return err
		}
		if try == call.ConflictTries {
			return &store.ConflictError{}
		}
		if err := s.sleep(ctx, mathrand.N(50*time.Millisecond<<try)); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
	}
}

// errBusy: another transaction is changing the same records.
var errBusy = errors.New("another transaction is at work on the same records")

// put writes one record; it costs half of what a transaction of one does.
func (s *Store) put(ctx context.Context, r store.Record, by string) error {
	condition, values := revisionCondition(r.Revision)
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: writeItem(r, by),
		ConditionExpression: condition, ExpressionAttributeNames: revisionName(r.Revision), ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if is, ok := refused.Item[attrBy].(*types.AttributeValueMemberS); ok && is.Value == by {
			return nil // an earlier try, whose answer was lost, has written it
		}
		return &store.ConflictError{Keys: []store.Key{r.Key}}
	}
	return s.writeError(ctx, err)
}

// remove removes one record without condition.
func (s *Store) remove(ctx context.Context, key store.Key) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: keyItem(key)})
	return s.writeError(ctx, err)
}

// transact writes all or nothing. Its token makes repeated calls one for ten
// minutes, longer than the SDK tries.
func (s *Store) transact(ctx context.Context, puts []store.Record, deletes []store.Delete, by string) error {
	items := make([]types.TransactWriteItem, 0, len(puts)+len(deletes))
	keys := make([]store.Key, 0, cap(items))
	for _, p := range puts {
		condition, values := revisionCondition(p.Revision)
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &s.table, Item: writeItem(p, by),
			ConditionExpression: condition, ExpressionAttributeNames: revisionName(p.Revision), ExpressionAttributeValues: values,
		}})
		keys = append(keys, p.Key)
	}
	for _, d := range deletes {
		del := &types.Delete{TableName: &s.table, Key: keyItem(d.Key)}
		if d.Revision != 0 {
			del.ConditionExpression, del.ExpressionAttributeValues = revisionCondition(d.Revision)
			del.ExpressionAttributeNames = revisionName(d.Revision)
		}
		items = append(items, types.TransactWriteItem{Delete: del})
		keys = append(keys, d.Key)
	}
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		return s.writeError(ctx, err)
	}
	var conflict store.ConflictError
	busy, throttled := false, false
	for i, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			if i < len(keys) {
				conflict.Keys = append(conflict.Keys, keys[i])
			}
		case "TransactionConflict":
			busy = true
		case "ProvisionedThroughputExceeded", "ThrottlingError":
			throttled = true
		}
	}
	switch {
	case conflict.Keys != nil:
		return &conflict
	case busy:
		return errBusy
	case throttled:
		return call.Temporary(fmt.Errorf("write records: %w", err))
	}
	return call.Failure(ctx, err, "write records")
}

// writeError adds its kind to the error of a write.
func (s *Store) writeError(ctx context.Context, err error) error {
	var (
		conflict *types.TransactionConflictException
		progress *types.TransactionInProgressException
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &conflict), errors.As(err, &progress):
		return errBusy
	}
	return call.Failure(ctx, err, "write records")
}

// revisionCondition is the condition under which a record may be written over:
// nothing is there, or the revision is the one that was read.
func revisionCondition(revision int64) (*string, map[string]types.AttributeValue) {
	if revision == 0 {
		return aws.String("attribute_not_exists(#c)"), nil
	}
	return aws.String("#c = :rev"), map[string]types.AttributeValue{":rev": number(revision)}
}

func revisionName(revision int64) map[string]string {
	if revision == 0 {
		return map[string]string{"#c": AttrPK}
	}
	return map[string]string{"#c": attrRevision}
}

// writeName makes the random name of a write. Eight characters are enough: it
// is compared only with the one item that a refused put has met.
func writeName() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
