package store

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// Whatever a caller makes of a cursor, it leads nowhere but into what the
// query asks for.
func FuzzCursor(f *testing.F) {
	last := Record{Key: Key{PK: "p", SK: "a/1"}, Active: "a/1"}
	for _, q := range []Query{{PK: "p", Prefix: "a/"}, {Index: ByActive, Prefix: "a/"}, {PK: "p", Descending: true}} {
		b, err := base64.RawURLEncoding.DecodeString(EncodeCursor(q, last))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`{"q":["","p","a/","asc"],"at":["other","a/1",""]}`)
	f.Add(`{"q":["","p","a/","asc"],"at":["p","b",""]}`)
	f.Add(`{"q":["active","","a/","asc"],"at":["p","a/1",""]}`)
	f.Add(`{}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, document string) {
		for _, q := range []Query{{PK: "p", Prefix: "a/"}, {Index: ByActive, Prefix: "a/"}} {
			q.Cursor = base64.RawURLEncoding.EncodeToString([]byte(document))
			key, active, err := DecodeCursor(q)
			if err != nil {
				continue
			}
			if CheckKey(key) != nil || q.Index == ByKey && (key.PK != "p" || !strings.HasPrefix(key.SK, "a/")) ||
				q.Index == ByActive && !strings.HasPrefix(active, "a/") {
				t.Errorf("%s leads to %v %q", document, key, active)
			}
		}
	})
}

func TestCursorsAreOfOneQuery(t *testing.T) {
	last := Record{Key: Key{PK: "p", SK: "a/1"}, Active: "a/1"}
	made := Query{PK: "p", Prefix: "a/"}
	for name, c := range map[string]struct {
		q  Query
		ok bool
	}{
		"the same":          {Query{PK: "p", Prefix: "a/"}, true},
		"another page size": {Query{PK: "p", Prefix: "a/", Limit: 7}, true},
		"another partition": {Query{PK: "q", Prefix: "a/"}, false},
		"another prefix":    {Query{PK: "p", Prefix: "a"}, false},
		"another direction": {Query{PK: "p", Prefix: "a/", Descending: true}, false},
		"another index":     {Query{Index: ByActive, Prefix: "a/"}, false},
	} {
		c.q.Cursor = EncodeCursor(made, last)
		if _, _, err := DecodeCursor(c.q); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, err := json.Marshal(cursor{Query: newCursor(made).Query, At: [3]string{"q", "a/1"}})
	if err != nil {
		t.Fatal(err)
	}
	made.Cursor = base64.RawURLEncoding.EncodeToString(b)
	if at, _, err := DecodeCursor(made); err == nil {
		t.Errorf("a cursor that was made up to lead to another partition: %v", at)
	}
}
