package dynamo

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/bindery-docs/bindery/shared/store"
)

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
