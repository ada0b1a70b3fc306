package merge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/service/agent/merge"
)

const docs = `{
  "name": "Acme",
  "navigation": {
    "groups": [
      {
        "group": "Start",
        "pages": ["index", "quick"]
      },
      {
        "group": "Guides",
        "pages": [
          "guides/a",
          "guides/b"
        ]
      }
    ]
  },
  "redirects": []
}
`

// Each side replaces texts of the same document.
func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name               string
		ours, theirs, want []string // old and new
		places             string
	}{
		{name: "nobody changed it"},
		{name: "two pages at the end of a list", ours: []string{`"guides/b"`, `"guides/b",
          "guides/ours"`}, theirs: []string{`"guides/b"`, `"guides/b",
          "guides/theirs"`}, want: []string{`"guides/b"`, `"guides/b",
          "guides/ours",
          "guides/theirs"`}},
		{name: "two pages in a list on one line", ours: []string{`"quick"`, `"quick", "ours"`}, theirs: []string{`"index", `, `"index", "theirs", `}, want: []string{`"index", "quick"`, `"index", "theirs", "quick", "ours"`}},
		{name: "the same page", ours: []string{`"quick"]`, `"quick", "new"]`}, theirs: []string{`["index"`, `["new", "index"`}, want: []string{`["index"`, `["new", "index"`}},
		{name: "we add a group, they rename one", ours: []string{`      {
        "group": "Guides"`, `      {
        "group": "Ours",
        "pages": ["o"]
      },
      {
        "group": "Guides"`}, theirs: []string{`"group": "Guides"`, `"group": "How to"`}, want: []string{`      {
        "group": "Guides"`, `      {
        "group": "Ours",
        "pages": ["o"]
      },
      {
        "group": "How to"`}},
		{name: "we remove a page, they add one after it", ours: []string{`,
          "guides/b"`, ``}, theirs: []string{`"guides/b"`, `"guides/b",
          "guides/c"`}, want: []string{`"guides/b"`, `"guides/c"`}},
		{name: "both begin a list", ours: []string{`"redirects": []`, `"redirects": [{ "source": "/o", "destination": "/a" }]`}, theirs: []string{`"redirects": []`, `"redirects": [
    { "source": "/t", "destination": "/b" }
  ]`}, want: []string{`"redirects": []`, `"redirects": [
    { "source": "/o", "destination": "/a" },
    { "source": "/t", "destination": "/b" }
  ]`}},
		{name: "members beside each other", ours: []string{`"name": "Acme",`, `"name": "Acme",
  "theme": "mint",`}, theirs: []string{`"name": "Acme",`, `"name": "Acme",
  "favicon": "/f.svg",`}, want: []string{`"name": "Acme",`, `"name": "Acme",
  "theme": "mint",
  "favicon": "/f.svg",`}},
		{name: "we move a page, they add one", ours: []string{`"guides/a",
          "guides/b"`, `"guides/b",
          "guides/a"`}, theirs: []string{`"guides/b"`, `"guides/b",
          "guides/c"`}, want: []string{`"guides/a",
          "guides/b"`, `"guides/b",
          "guides/c",
          "guides/a"`}},
		{name: "the same member", ours: []string{`"Acme"`, `"Ours"`}, theirs: []string{`"Acme"`, `"Theirs"`}, want: []string{`"Acme"`, `"Theirs"`}, places: `name:"Ours"`},
		{name: "we remove a group that they change", ours: []string{`,
      {
        "group": "Guides",
        "pages": [
          "guides/a",
          "guides/b"
        ]
      }`, ``}, theirs: []string{`"guides/b"`, `"guides/c"`}, want: []string{`"guides/b"`, `"guides/c"`}, places: `navigation.groups[1]:`},
		{name: "they remove a group that we change", ours: []string{`"guides/b"`, `"guides/c"`}, theirs: []string{`,
      {
        "group": "Guides",
        "pages": [
          "guides/a",
          "guides/b"
        ]
      }`, ``}, want: []string{`,
      {
        "group": "Guides",
        "pages": [
          "guides/a",
          "guides/b"
        ]
      }`, ``}, places: `navigation.groups:{ "group": "Guides", "pages": [ "guides/a", "guides/c" ] }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			with := func(pairs []string) string { return strings.NewReplacer(pairs...).Replace(docs) }
			merged, places, ok := merge.JSON([]byte(docs), []byte(with(c.ours)), []byte(with(c.theirs)))
			var said []string
			for _, p := range places {
				said = append(said, p.Path+":"+strings.Join(strings.Fields(p.Lost), " "))
			}
			if got := strings.Join(said, "; "); !ok || got != c.places {
				t.Errorf("ok: %t, places %q, want %q", ok, got, c.places)
			}
			if d := cmp.Diff(with(c.want), string(merged)); d != "" {
				t.Errorf("merged:\n%s", d)
			}
		})
	}
	for _, bad := range []string{"", "{", `{"a": 1, "a": 2}`} {
		if _, _, ok := merge.JSON([]byte(docs), []byte(bad), []byte(`{"name": "Theirs"}`)); ok {
			t.Errorf("%q is merged", bad)
		}
	}
}

// Of a list of pages, all that either side added is there, once, and nothing that either
// side removed; and no page that both sides have changes its place to another.
func TestListsOfBothSides(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 8, rapid.ID).Draw(t, "base")
		side := func(who string) (list []string, removed map[string]bool) {
			removed = map[string]bool{}
			for i, n := range base {
				page := fmt.Sprint("base/", n)
				if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
					removed[page] = true
				} else {
					list = append(list, page)
				}
				if rapid.IntRange(0, 2).Draw(t, "add") == 0 {
					list = append(list, fmt.Sprint(who, "/", i))
				}
			}
			return append(list, "both/last"), removed
		}
		var old []string
		for _, n := range base {
			old = append(old, fmt.Sprint("base/", n))
		}
		ours, ourRemoved := side("ours")
		theirs, theirRemoved := side("theirs")
		text := func(list []string) []byte {
			b, err := json.MarshalIndent(map[string]any{"pages": append([]string{}, list...)}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		merged, places, ok := merge.JSON(text(old), text(ours), text(theirs))
		var got struct{ Pages []string }
		if err := json.Unmarshal(merged, &got); !ok || err != nil || len(places) > 0 {
			t.Fatalf("%s, %v, ok: %t, %v", merged, places, ok, err)
		}
		want := map[string]bool{}
		for _, page := range append(slices.Clone(ours), theirs...) {
			if !ourRemoved[page] && !theirRemoved[page] {
				want[page] = true
			}
		}
		if len(got.Pages) != len(want) {
			t.Fatalf("%v, want %v", got.Pages, want)
		}
		var order []string
		for _, page := range got.Pages {
			if !want[page] {
				t.Fatalf("%s is there", page)
			}
			if slices.Contains(theirs, page) {
				order = append(order, page)
			}
		}
		left := slices.DeleteFunc(slices.Clone(theirs), func(p string) bool { return !want[p] })
		if !slices.Equal(order, left) {
			t.Fatalf("the order of theirs is %v, want %v", order, left)
		}
	})
}

// Whatever the documents are, the result is one; a side that changed nothing adds
// nothing, and sides that agree never conflict.
func FuzzJSON(f *testing.F) {
	f.Add(docs, strings.Replace(docs, "index", "home", 1), strings.Replace(docs, "quick", "start", 1))
	f.Add(`{"a":[1,1,{"tab":"x"}]}`, `{"a":[1,{"tab":"x","b":null}]}`, "{\r\n\t\"a\":[\r\n]}")
	f.Add(`[]`, `[[1]]`, `[{}]`)
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		merged, _, ok := merge.JSON([]byte(base), []byte(ours), []byte(theirs))
		if !ok {
			return
		}
		if !json.Valid(merged) {
			t.Fatalf("%q is not JSON, of %q, %q and %q", merged, base, ours, theirs)
		}
		for _, c := range []struct{ base, ours, theirs, want string }{{base, base, theirs, theirs}, {base, ours, base, ours}, {base, ours, ours, ours}} {
			got, places, ok := merge.JSON([]byte(c.base), []byte(c.ours), []byte(c.theirs))
			if !ok {
				continue // the base alone is no JSON
			}
			if !cmp.Equal(plain(string(got)), plain(c.want)) || len(places) > 0 {
				t.Fatalf("%q with %v, want %q", got, places, c.want)
			}
		}
	})
}

func plain(text string) (v any) {
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}
