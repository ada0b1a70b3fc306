package dynamo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/bindery-docs/bindery/shared/service/store"
)

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

// decodeCursor returns the key after which a page continues.
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
	if store.CheckKey(key) != nil || q.Index == store.ByKey && (key.PK != q.PK || !strings.HasPrefix(key.SK, q.Prefix)) ||
		q.Index == store.ByActive && (c.At[2] == "" || !strings.HasPrefix(c.At[2], q.Prefix)) {
		return nil, unknown
	}
	at := keyItem(key)
	if q.Index == store.ByActive {
		at[AttrActivePK], at[AttrActive] = text(activeRecords), text(activeKey(c.At[2], key))
	}
	return at, nil
}
