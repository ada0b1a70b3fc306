package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// cursor is the place of the last record of a page, together with what the
// query asked for, so that one of another query is noticed. The caller of a
// query vouches for its partition, so a cursor leads nowhere else.
type cursor struct {
	Query [4]string `json:"q"`
	At    [3]string `json:"at"` // partition key, sort key, active value
}

func newCursor(q Query) cursor {
	direction := "asc"
	if q.Descending {
		direction = "desc"
	}
	return cursor{Query: [4]string{string(q.Index), q.PK, q.Prefix, direction}}
}

// EncodeCursor returns the cursor of a page that ends with last.
func EncodeCursor(q Query, last Record) string {
	c := newCursor(q)
	c.At = [3]string{last.Key.PK, last.Key.SK}
	if q.Index == ByActive {
		c.At[2] = last.Active
	}
	b, _ := json.Marshal(c) // strings always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

// DecodeCursor returns key and active value of the record after which the
// query continues. It returns an error for a cursor of another query.
func DecodeCursor(q Query) (Key, string, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	key, active := Key{PK: c.At[0], SK: c.At[1]}, c.At[2]
	sortedBy := key.SK
	if q.Index == ByActive {
		sortedBy = active
	}
	if err != nil || c.Query != newCursor(q).Query || CheckKey(key) != nil || q.Index == ByKey && key.PK != q.PK ||
		sortedBy == "" || !strings.HasPrefix(sortedBy, q.Prefix) {
		return Key{}, "", errors.New("query: unknown cursor")
	}
	return key, active, nil
}
