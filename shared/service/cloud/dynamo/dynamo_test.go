package dynamo

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// hardStrings have bytes around those that the index's keys are made of.
func hardStrings(least, most int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("\x00\x01\x02 /a\x7fü\uffff\U0010ffff")), least, most, -1)
}

func TestActiveKeysSortAsTheirParts(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		type entry struct {
			active string
			key    store.Key
		}
		draw := func(name string) entry {
			return entry{hardStrings(1, 4).Draw(t, name), store.Key{PK: hardStrings(1, 4).Draw(t, name), SK: hardStrings(1, 4).Draw(t, name)}}
		}
		a, b := draw("a"), draw("b")
		want := strings.Compare(a.active, b.active)
		if want == 0 {
			want = strings.Compare(a.key.PK, b.key.PK)
		}
		if want == 0 {
			want = strings.Compare(a.key.SK, b.key.SK)
		}
		ka, kb := activeKey(a.active, a.key), activeKey(b.active, b.key)
		if got := strings.Compare(ka, kb); got != want {
			t.Errorf("%q and %q compare as %d, want %d", ka, kb, got, want)
		}
		if got := activeValue(ka); got != a.active {
			t.Errorf("%q comes back as %q", a.active, got)
		}
		prefix := hardStrings(0, 3).Draw(t, "prefix")
		if got, want := strings.HasPrefix(ka, escapeActive(prefix)), strings.HasPrefix(a.active, prefix); got != want {
			t.Errorf("does %q begin with %q: %t, want %t", a.active, prefix, got, want)
		}
	})
}

func TestLastOfIsAboveAllThatBeginWithAPrefix(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		prefix := rapid.OneOf(hardStrings(1, 8), rapid.StringN(1, 400, store.MaxSortKey), rapid.StringN(250, 350, store.MaxSortKey)).Draw(t, "prefix")
		last := lastOf(prefix)
		if len(last) > store.MaxSortKey || !utf8.ValidString(last) || !strings.HasPrefix(last, prefix) {
			t.Fatalf("%q gives %q", prefix, last)
		}
		// The greatest there is: as many of the last character as fit, and then
		// of those of fewer bytes.
		rest := rapid.StringOfN(rapid.SampledFrom([]rune("a\x7f߿\uffff\U0010ffff")), 0, -1, store.MaxSortKey-len(prefix)).Draw(t, "rest")
		if key := prefix + rest; key > last {
			t.Errorf("%q is above %q", key, last)
		}
	})
}

// attributeSize is DynamoDB's rule for the size of an attribute: bytes of its
// name and of its value; of a number half a byte for each digit, and one.
func attributeSize(t *testing.T, name string, v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(name) + len(v.Value)
	case *types.AttributeValueMemberB:
		return len(name) + len(v.Value)
	case *types.AttributeValueMemberN:
		return len(name) + (len(v.Value)+1)/2 + 1
	}
	t.Fatalf("an attribute of type %T", v)
	return 0
}

// The overhead that limits are held with is enough for all that an item has
// beside key, value and index key.
func TestItemOverhead(t *testing.T) {
	by := writeName()
	r := store.Record{
		Key: store.Key{PK: "p", SK: "s"}, Revision: 999_999_998, Value: []byte(`{}`), Active: "a",
		ExpiresAt: time.Unix(9_999_999_999, 0),
	}
	size := 0
	for name, v := range writeItem(r, by) {
		size += attributeSize(t, name, v)
	}
	if most := itemOverhead + len("p") + len("s") + len(`{}`) + len(activeKey("a", r.Key)); size > most {
		t.Errorf("an item of %d bytes, counted as %d", size, most)
	}
}

func TestItemsComeBack(t *testing.T) {
	for name, r := range map[string]store.Record{
		"least":      {Key: store.Key{PK: "p", SK: "s"}, Value: []byte(`1`)},
		"all":        {Key: store.Key{PK: "p\x00", SK: "s\x00"}, Value: []byte(`"ü"`), Active: "a\x00\x01", ExpiresAt: time.Unix(1e9, 0).UTC()},
		"not UTF-8":  {Key: store.Key{PK: "p", SK: "s"}, Value: []byte("\"\xff\"")},
		"revision 8": {Key: store.Key{PK: "p", SK: "s"}, Value: []byte(`1`), Revision: 7},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readItem(writeItem(r, "by"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Key != r.Key || got.Revision != r.Revision+1 || !bytes.Equal(got.Value, r.Value) || got.Active != r.Active || !got.ExpiresAt.Equal(r.ExpiresAt) {
				t.Errorf("got %+v, want %+v", got, r)
			}
		})
	}
}

func TestItemsThatAreNotOurs(t *testing.T) {
	item := func() map[string]types.AttributeValue {
		return writeItem(store.Record{Key: store.Key{PK: "p", SK: "s"}, Value: []byte(`1`), Active: "a", ExpiresAt: time.Unix(1, 0)}, "by")
	}
	for name, change := range map[string]func(map[string]types.AttributeValue){
		"no revision":              func(i map[string]types.AttributeValue) { delete(i, attrRevision) },
		"a revision of letters":    func(i map[string]types.AttributeValue) { i[attrRevision] = text("one") },
		"a revision of a fraction": func(i map[string]types.AttributeValue) { i[attrRevision] = &types.AttributeValueMemberN{Value: "1.5"} },
		"no value":                 func(i map[string]types.AttributeValue) { delete(i, attrValue) },
		"a value that is a number": func(i map[string]types.AttributeValue) { i[attrValue] = number(1) },
		"an end of letters":        func(i map[string]types.AttributeValue) { i[AttrExpires] = text("later") },
		"no key":                   func(i map[string]types.AttributeValue) { delete(i, AttrSK) },
	} {
		i := item()
		change(i)
		if r, err := readItem(i); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
}
