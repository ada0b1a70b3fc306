package dynamo

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/bindery-docs/bindery/shared/service/store"
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
// that are equal in it. So that attribute is the value and, after a zero
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
// last characters of Unicode.
func lastOf(prefix string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, last := range []rune{utf8.MaxRune, 0xFFFF, 0x7FF, 0x7F} { // of four bytes, of three, two, one
		for b.Len()+utf8.RuneLen(last) <= store.MaxSortKey {
			b.WriteRune(last)
		}
	}
	return b.String()
}

// sizeOf is what DynamoDB counts for a record as an item, rounded up. It
// refuses one that the index could not sort: DynamoDB's own error can't be
// distinguished from others.
func sizeOf(r store.Record) (int, error) {
	size := itemOverhead + len(r.Key.PK) + len(r.Key.SK) + len(r.Value)
	if r.Active != "" {
		active := activeKey(r.Active, r.Key)
		if err := store.CheckText("active value with its key", active, store.MaxSortKey, true); err != nil {
			return 0, err
		}
		size += len(active)
	}
	return size, nil
}
