package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/bindery-docs/bindery/shared/store"
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
	maxPartitionKey     = 2048    // bytes of a partition key
	maxSortKey          = 1024    // bytes of a sort key, that of an index included
	maxTransactionBytes = 4 << 20 // of all items of one transaction
	itemOverhead        = 64      // names of attributes, and what else all items have, rounded up
	maxPageRecords      = 1000    // where the caller sets no limit
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

// StoreOptions say where records are.
type StoreOptions struct {
	// Table is the name of the table.
	Table string
}

// NewStore makes a Store; it asks nothing of AWS.
func NewStore(cfg aws.Config, opt StoreOptions) *Store {
	return &Store{client: dynamodb.NewFromConfig(withRetries(cfg)), table: opt.Table, sleep: sleep}
}

// sleep waits, no longer than ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key store.Key) (store.Record, error) {
	if err := checkKey(key); err != nil {
		return store.Record{}, err
	}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: keyItem(key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return store.Record{}, failure(ctx, err, "get record %q %q", key.PK, key.SK)
	}
	if out.Item == nil {
		return store.Record{}, fmt.Errorf("record %q %q: %w", key.PK, key.SK, store.ErrNotFound)
	}
	return readItem(out.Item)
}

// Query implements store.Store. It asks for one record more than a page
// holds, so that a cursor always has something behind it.
func (s *Store) Query(ctx context.Context, q store.Query) (store.Page, error) {
	in := &dynamodb.QueryInput{TableName: &s.table, ScanIndexForward: aws.Bool(!q.Descending)}
	partition, order, prefix := AttrPK, AttrSK, q.Prefix
	values := map[string]types.AttributeValue{}
	switch q.Index {
	case store.ByKey:
		if err := checkText("partition key", q.PK, maxPartitionKey, true); err != nil {
			return store.Page{}, err
		}
		in.ConsistentRead = aws.Bool(true)
		values[":pk"] = text(q.PK)
	case store.ByActive:
		if q.PK != "" {
			return store.Page{}, errors.New("query: the index of active records has no partitions")
		}
		in.IndexName = aws.String(IndexActive)
		partition, order, prefix = AttrActivePK, AttrActive, escapeActive(prefix)
		values[":pk"] = text(activeRecords)
	default:
		return store.Page{}, fmt.Errorf("query: unknown index %q", q.Index)
	}
	if q.Limit < 0 {
		return store.Page{}, fmt.Errorf("query: limit %d", q.Limit)
	}
	if err := checkText("prefix", q.Prefix, maxSortKey, false); err != nil {
		return store.Page{}, err
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
		at, err := decodeCursor(q)
		if err != nil {
			return store.Page{}, err
		}
		in.ExclusiveStartKey = at
	}
	limit := q.Limit
	if limit == 0 || limit > maxPageRecords {
		limit = maxPageRecords
	}
	in.Limit = aws.Int32(int32(limit + 1))
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return store.Page{}, failure(ctx, err, "query records of %q", q.PK)
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
			page.Cursor = encodeCursor(q, page.Records[len(page.Records)-1])
		}
		return page, nil
	}
}

// conflictTries is how often a write is repeated that met another transaction
// at work on the same records, before the caller is told.
const conflictTries = 4

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	if err := checkWrite(puts, deletes); err != nil {
		return err
	}
	by, err := writeName()
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
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
		busy := errors.Is(err, errBusy)
		if !busy {
			return err
		}
		if try == conflictTries {
			return &store.ConflictError{}
		}
		if err := s.sleep(ctx, mathrand.N(50*time.Millisecond<<try)); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
	}
}

// errBusy: another transaction is at work on the same records.
var errBusy = errors.New("another transaction is at work on the same records")

// put writes one record; it costs half of what a transaction of one does.
func (s *Store) put(ctx context.Context, r store.Record, by string) error {
	condition, values := revisionCondition(r.Revision)
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: writeItem(r, by),
		ConditionExpression: condition, ExpressionAttributeNames: revisionName(r.Revision), ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
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
		return &temporaryError{fmt.Errorf("write records: %w", err)}
	}
	return failure(ctx, err, "write records")
}

// writeError gives an error of a write its kind.
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
	return failure(ctx, err, "write records")
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
func writeName() (string, error) {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("write records: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func keyItem(key store.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{AttrPK: text(key.PK), AttrSK: text(key.SK)}
}

// writeItem is the item for a record as a write leaves it.
func writeItem(r store.Record, by string) map[string]types.AttributeValue {
	item := keyItem(r.Key)
	item[attrRevision] = number(r.Revision + 1)
	item[attrBy] = text(by)
	if utf8.Valid(r.Value) {
		item[attrValue] = text(string(r.Value))
	} else {
		item[attrValue] = &types.AttributeValueMemberB{Value: r.Value}
	}
	if r.Active != "" {
		item[AttrActivePK] = text(activeRecords)
		item[AttrActive] = text(activeKey(r.Active, r.Key))
	}
	if !r.ExpiresAt.IsZero() {
		item[AttrExpires] = number(r.ExpiresAt.Unix())
	}
	return item
}

// readItem is the record of an item.
func readItem(item map[string]types.AttributeValue) (store.Record, error) {
	var (
		r   store.Record
		bad error
	)
	str := func(name string, required bool) string {
		v, ok := item[name].(*types.AttributeValueMemberS)
		if ok {
			return v.Value
		}
		if required || item[name] != nil {
			bad = fmt.Errorf("attribute %s", name)
		}
		return ""
	}
	num := func(name string, required bool) int64 {
		if v, ok := item[name].(*types.AttributeValueMemberN); ok {
			if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
				return n
			}
		}
		if required || item[name] != nil {
			bad = fmt.Errorf("attribute %s", name)
		}
		return 0
	}
	r.Key = store.Key{PK: str(AttrPK, true), SK: str(AttrSK, true)}
	r.Revision = num(attrRevision, true)
	if b, ok := item[attrValue].(*types.AttributeValueMemberB); ok {
		r.Value = b.Value
	} else {
		r.Value = []byte(str(attrValue, true))
	}
	r.Active = activeValue(str(AttrActive, false))
	if at := num(AttrExpires, false); at != 0 {
		r.ExpiresAt = time.Unix(at, 0).UTC()
	}
	if bad != nil {
		return store.Record{}, fmt.Errorf("record %q %q is not one of ours: %w", r.Key.PK, r.Key.SK, bad)
	}
	return r, nil
}

// The index sorts by one attribute, and says nothing about the order of items
// that are equal in it. So that attribute is the value and, behind a zero
// byte, the record's key. Zero bytes in the value itself are escaped such that
// the order stays that of the values: 00 by 01 01, 01 by 01 02.
var (
	activeEscaper   = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	activeUnescaper = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

func escapeActive(value string) string { return activeEscaper.Replace(value) }

// activeKey is what the index sorts a record by.
func activeKey(value string, key store.Key) string {
	return escapeActive(value) + "\x00" + escapeActive(key.PK) + "\x00" + key.SK
}

// activeValue is the value in an activeKey.
func activeValue(s string) string {
	value, _, _ := strings.Cut(s, "\x00")
	return activeUnescaper.Replace(value)
}

// lastOf is the last sort key that begins with prefix: the longest, of the
// last characters that there are.
func lastOf(prefix string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, last := range []rune{utf8.MaxRune, 0xFFFF, 0x7FF, 0x7F} { // of four bytes, of three, two, one
		for b.Len()+utf8.RuneLen(last) <= maxSortKey {
			b.WriteRune(last)
		}
	}
	return b.String()
}

// checkWrite refuses what no state of the table could make right, and what
// DynamoDB would refuse with an error that can't be told from others.
func checkWrite(puts []store.Record, deletes []store.Delete) error {
	if n := len(puts) + len(deletes); n > store.MaxTransaction {
		return fmt.Errorf("write: %d records, at most %d: %w", n, store.MaxTransaction, store.ErrTooLarge)
	}
	seen := make(map[store.Key]bool, len(puts)+len(deletes))
	once := func(key store.Key) error {
		if err := checkKey(key); err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("write: record %q %q stands twice", key.PK, key.SK)
		}
		seen[key] = true
		return nil
	}
	total := 0
	for _, p := range puts {
		if err := once(p.Key); err != nil {
			return err
		}
		if p.Revision < 0 {
			return fmt.Errorf("write: record %q %q: revision %d", p.Key.PK, p.Key.SK, p.Revision)
		}
		size := itemOverhead + len(p.Key.PK) + len(p.Key.SK) + len(p.Value)
		if p.Active != "" {
			active := activeKey(p.Active, p.Key)
			if err := checkText("active value with its key", active, maxSortKey, true); err != nil {
				return err
			}
			size += len(active)
		}
		if size > store.MaxRecordBytes {
			return fmt.Errorf("write: record %q %q: %d bytes, at most %d: %w",
				p.Key.PK, p.Key.SK, size, store.MaxRecordBytes, store.ErrTooLarge)
		}
		total += size
		if !json.Valid(p.Value) {
			return fmt.Errorf("write: record %q %q: the value is not JSON", p.Key.PK, p.Key.SK)
		}
	}
	if total > maxTransactionBytes {
		return fmt.Errorf("write: %d bytes in one transaction, at most %d: %w", total, maxTransactionBytes, store.ErrTooLarge)
	}
	for _, d := range deletes {
		if err := once(d.Key); err != nil {
			return err
		}
		if d.Revision < 0 {
			return fmt.Errorf("write: delete %q %q: revision %d", d.Key.PK, d.Key.SK, d.Revision)
		}
	}
	return nil
}

func checkKey(key store.Key) error {
	if err := checkText("partition key", key.PK, maxPartitionKey, true); err != nil {
		return err
	}
	return checkText("sort key", key.SK, maxSortKey, true)
}

// checkText holds a text to what a string attribute of a key can be.
func checkText(what, s string, limit int, required bool) error {
	switch {
	case s == "" && required:
		return fmt.Errorf("%s: empty", what)
	case len(s) > limit:
		return fmt.Errorf("%s: %d bytes, at most %d: %w", what, len(s), limit, store.ErrTooLarge)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s: not UTF-8", what)
	}
	return nil
}

// A cursor is the place of the last record of a page, together with what the
// query asked for, so that one of another query is noticed. The caller of a
// query vouches for its partition, so a cursor leads nowhere else.
type cursor struct {
	Query [4]string `json:"q"`
	At    [3]string `json:"at"` // partition key, sort key, active value
}

func cursorQuery(q store.Query) [4]string {
	direction := "asc"
	if q.Descending {
		direction = "desc"
	}
	return [4]string{string(q.Index), q.PK, q.Prefix, direction}
}

func encodeCursor(q store.Query, last store.Record) string {
	c := cursor{Query: cursorQuery(q), At: [3]string{last.Key.PK, last.Key.SK}}
	if q.Index == store.ByActive {
		c.At[2] = last.Active
	}
	b, err := json.Marshal(c)
	if err != nil { // strings always marshal
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor gives the key that a page goes on behind.
func decodeCursor(q store.Query) (map[string]types.AttributeValue, error) {
	unknown := errors.New("query: unknown cursor")
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil {
		return nil, unknown
	}
	var c cursor
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil || c.Query != cursorQuery(q) {
		return nil, unknown
	}
	key := store.Key{PK: c.At[0], SK: c.At[1]}
	if checkKey(key) != nil || q.Index == store.ByKey && (key.PK != q.PK || !strings.HasPrefix(key.SK, q.Prefix)) ||
		q.Index == store.ByActive && (c.At[2] == "" || !strings.HasPrefix(c.At[2], q.Prefix)) {
		return nil, unknown
	}
	at := keyItem(key)
	if q.Index == store.ByActive {
		at[AttrActivePK], at[AttrActive] = text(activeRecords), text(activeKey(c.At[2], key))
	}
	return at, nil
}
