package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/search/searchtest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// guide is a small site that has what questions are about.
func guide() []search.Page {
	return number([]search.Page{
		{Path: "api/users", Title: "Users", Description: "Read and change users.", Trail: []string{"API"}, Sections: []search.Section{
			{Heading: "Get a user", ID: "get", Text: "Call getUserById with the identifier of the user."},
			{Heading: "Delete a user", ID: "delete", Text: "A removed user can't be brought back. The response is 204."},
		}},
		{Path: "api/webhooks", Title: "Webhooks", Trail: []string{"API"}, Sections: []search.Section{
			{Text: "Webhooks tell your server of events."},
			{Heading: "Verify signatures", ID: "verify", Text: "Every request has the header X-Signature, an HMAC of the body."},
		}},
		{Path: "guides/authentication", Title: "Authentication", Keywords: []string{"login", "SSO"}, Trail: []string{"Guides"}, Sections: []search.Section{
			{Text: "Send your key with each request."},
			{Heading: "Rotate keys", ID: "rotate", Text: "Make a new key before you revoke the old one."},
		}},
		{Path: "guides/deploy", Title: "Deployment", Trail: []string{"Guides"}, Sections: []search.Section{
			{Text: "Deploying takes a minute. Authentication happens at the edge. Users see no gap."},
			{Heading: "Umgebungen", ID: "env", Text: "Straßen und Brücken."},
		}},
		{Path: "guides/old", Title: "Deployment of last year", Boost: 0.01, Sections: []search.Section{{Text: "How deployments were."}}},
		{Path: "ja/setup", Title: "設定の方法", Sections: []search.Section{{Text: "環境変数を設定します。東京のサーバー。"}}},
		{Path: "sdk/c", Title: "C#", Trail: []string{"SDKs"}, Sections: []search.Section{{Text: "The package for this language."}}},
		{Path: "ar/index", Title: "مقدمة", Sections: []search.Section{{Text: "هذا دليل المُستخدم."}}},
	})
}

// TestShortNames: names of languages and versions are found in texts, too.
func TestShortNames(t *testing.T) {
	texts := map[string]string{
		"cpp": "Build with C++ or F#.", "sharp": "Call it from C# code.", "r": "A package for R, the language.", "io": "Bound by I/O, not by work.",
		"one": "Since v1.2.3 it starts at once.", "two": "Removed in 2.0.0-rc.1.", "tls": "It needs TLS 1.3 or later.", "camel": "Wrap XMLHttpRequest and useEffectOnce.",
		"plain": "Nothing of the kind, c and i and o, 1 of 2 and 3.",
	}
	var pages []search.Page
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		title := "Page " + name
		if name == "r" {
			title = "R"
		}
		pages = append(pages, search.Page{Path: name, Title: title, Sections: []search.Section{{Text: texts[name]}}})
	}
	e := ask(t, 0, build(t, []string{"en"}, number(pages), cutting{}))
	for query, want := range map[string]string{
		"C++": "cpp", "c++ build": "cpp", "C#": "sharp", "F#": "cpp", "R": "r", "I/O": "io", "1.2.3": "one", "v1.2.3": "one", "v1.2": "one",
		"2.0.0": "two", "1.3": "tls", "tls 1.3": "tls", "HttpRequest": "camel", "effectonce": "camel", "http": "camel",
	} {
		results, err := e.Find(query)
		if err != nil {
			t.Fatal(err)
		}
		if len(results) == 0 || results[0].Path != want {
			t.Errorf("%q finds %v, want first %s", query, results, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	e := ask(t, 0, build(t, []string{"en"}, guide(), cutting{}))
	for _, tt := range []struct {
		name, query string
		want        string // the first pages, with the section shown first
	}{
		{"a title", "Webhooks", "api/webhooks"},
		{"a word that is still typed", "webh", "api/webhooks"},
		{"a heading leads to its section", "verify signatures", "api/webhooks#verify"},
		{"all words count", "rotate key", "guides/authentication#rotate"},
		{"a keyword that stands nowhere", "sso", "guides/authentication"},
		{"a word of code", "getUserById", "api/users#get"},
		{"a part of a word of code", "user by id", "api/users#get"},
		{"another ending", "deployed", "guides/deploy guides/old"},
		{"boosted down", "deployment", "guides/deploy guides/old"},
		{"a letter too few", "authentcation", "guides/authentication guides/deploy"},
		{"letters swapped", "webhokos", "api/webhooks"},
		{"wrong from the first letter", "qebhooks", "api/webhooks"},
		{"small words aside", "how do I delete a user", "api/users#delete"},
		{"accents and ligatures", "strassen brucken", "guides/deploy#env"},
		{"Japanese", "環境変数", "ja/setup"},
		{"one character", "東", "ja/setup"},
		{"Arabic without its points", "المستخدم", "ar/index"},
		{"a number", "204", "api/users#delete"},
		{"nothing", "zzzzzz", ""},
		{"no word", "?!", ""},
		{"small words alone", "the", "api/webhooks#verify"},
		{"a letter that is a name", "C#", "sdk/c"},
		{"a letter that is a name among others", "package c", "sdk/c"},
		{"a letter that is none", "q", ""},
		{"what a script could trip over", "constructor __proto__ toString", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results, err := e.Find(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				at := r.Path
				if len(r.Sections) > 0 && r.Sections[0].ID != "" {
					at += "#" + r.Sections[0].ID
				}
				got = append(got, at)
			}
			want := strings.Fields(tt.want)
			for i, w := range want {
				if i >= len(got) || got[i] != w && strings.Split(got[i], "#")[0] != w {
					t.Fatalf("%q finds %q, want first %q", tt.query, got, want)
				}
			}
			if len(want) == 0 && len(got) > 0 {
				t.Errorf("%q finds %q", tt.query, got)
			}
		})
	}
}

// handbook is a site whose pages differ in what TestWhatIsMeant asks of.
func handbook() []search.Page {
	often := strings.Repeat("Install it with install, then install again. ", 12)
	return number([]search.Page{
		{Path: "install", Title: "Install", Sections: []search.Section{{Text: "Get the program."}}},
		{Path: "commands", Title: "Commands", Sections: []search.Section{{Text: often}, {Heading: "force", ID: "force", Text: "May the force be with you. The secret of a key is to trigger a lock."}}},
		{Path: "flags", Title: "Flags", Sections: []search.Section{{Text: "Pass --force to overwrite."}, {Heading: "Variables", ID: "vars", Text: "Set TRIGGER_SECRET_KEY, or call tasks.trigger() yourself."}}},
		{Path: "tasks", Title: "Tasks", Sections: []search.Section{{Text: "A trigger starts tasks. The docs are no json."}}},
		{Path: "config", Title: "Files", Sections: []search.Section{{Text: "The settings are in docs.json."}}},
		{Path: "notes", Title: "Notes", Sections: []search.Section{{Text: "Take a note."}, {Heading: "Note well", ID: "well", Text: "Another note on notes."}}},
		{Path: "never", Title: "Never", Sections: []search.Section{{Text: "This is not done."}}},
		{Path: "order", Title: "Order", Sections: []search.Section{{Text: "The lazy dog jumps over the quick fox."}}},
		{Path: "fox", Title: "Animals", Sections: []search.Section{{Text: "The quick brown fox: a dog, lazy, jumps. The fox is quick, the dog is lazy."}}},
		{Path: "old", Title: "Old", Boost: 0.001, Sections: []search.Section{{Text: "The only page that has a zeppelin."}}},
		{Path: "loud", Title: "Loud", Boost: 1000, Sections: []search.Section{{Text: "Install a page with zeppelins, notes and much that is quick."}}},
		{Path: "removal", Title: "Remove a member", Sections: []search.Section{{Text: "They lose their access at once."}}},
		{Path: "throughput", Title: "Throughput", Sections: []search.Section{{Text: "Requests a second, by region, measured hourly."}}},
	})
}

// TestWhatIsMeant asks for names of code, phrases, words in their very form, and
// what is called otherwise.
func TestWhatIsMeant(t *testing.T) {
	e := ask(t, 0, build(t, []string{"en"}, handbook(), cutting{}))
	for _, tt := range []struct{ name, query, first string }{
		{"a title is above a word that a text repeats", "install", "install"},
		{"a flag", "--force", "flags"},
		{"a name in capitals", "TRIGGER_SECRET_KEY", "flags"},
		{"a part of it", "secret_key", "flags"},
		{"a call", "tasks.trigger()", "flags"},
		{"a file", "docs.json", "config"},
		{"a short word does not grow", "it is not so", "never"},
		{"a phrase", `"quick fox"`, "order"},
		{"a phrase within a question", `is there a dog near “the quick brown fox”`, "fox"},
		{"a weight near zero buries nothing", "zeppelin", "old"},
		{"a word for the same", "delete a person", "removal"},
		{"wrong in the first letter of a body's word", "neasured", "throughput"},
		{"a first letter too few", "easured", "throughput"},
		{"the first letters swapped", "emasured", "throughput"},
		{"the nearest title", "troughputs-xyz", "throughput"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results, err := e.Find(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if len(results) == 0 || results[0].Path != tt.first {
				t.Errorf("%q finds %+v, want first %s", tt.query, results, tt.first)
			}
		})
	}
}

// Where the texts of pages don't come, the pages are still found.
func TestLostTexts(t *testing.T) {
	files := build(t, []string{"en"}, guide(), cutting{})
	for name := range files {
		if strings.HasPrefix(name, search.Folder+"x") {
			delete(files, name)
		}
	}
	got, err := ask(t, 0, files).Find("verify signatures")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 || got[0].Path != "api/webhooks" || got[0].Title != "Webhooks" || len(got[0].Sections) > 0 {
		t.Errorf("%+v", got)
	}
}

// What is shown of a page is what its author wrote.
func TestResults(t *testing.T) {
	pages := number([]search.Page{
		{Path: "a/b c", Title: "Tabs\tand\nlines", Trail: []string{"Guides", "First"}, Description: "What it is.", Sections: []search.Section{
			{Text: "Before <b>all</b> \u2028 \"quoted\" \\ </script>"},
			{Heading: "Part one", ID: "part-one", Text: strings.Repeat("long ", 1000) + "needle"},
		}},
	})
	got, err := ask(t, 0, build(t, []string{"en"}, number(pages), cutting{})).Find("tabs needle")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Sections) != 2 {
		t.Fatalf("%+v", got)
	}
	for i := range got[0].Sections {
		if s := &got[0].Sections[i]; s.ID != "" {
			if s.Text = strings.TrimSuffix(s.Text, "…"); len(s.Text) != 2000 {
				t.Errorf("%d bytes of a long text are kept", len(s.Text))
			}
			s.Text = ""
		}
	}
	got[0].Score = 0
	slices.SortFunc(got[0].Sections, func(a, b searchtest.Section) int { return strings.Compare(a.ID, b.ID) })
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"title":"Tabs and lines","path":"a/b c","trail":"Guides › First","score":0,"sections":[` +
		`{"heading":"","id":"","text":"What it is. Before \u003cb\u003eall\u003c/b\u003e \"quoted\" \\ \u003c/script\u003e"},{"heading":"Part one","id":"part-one","text":""}]}]`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// Each division has an index of its own; a page may be in several.
func TestDivisions(t *testing.T) {
	pages := number([]search.Page{
		{Divisions: []int{0, 1}, Path: "about", Title: "About apples"},
		{Divisions: []int{0}, Path: "v1/start", Title: "Start with apples"},
		{Divisions: []int{1}, Path: "v2/start", Title: "Start with apples anew"},
	})
	files := build(t, []string{"en", "fr"}, pages, cutting{shards: 2})
	for d, want := range []string{"about v1/start", "about v2/start"} {
		results, err := ask(t, d, files).Find("apples")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Path)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("division %d finds %q, want %q", d, got, want)
		}
	}
}

// An index is the same whatever pieces a site was cut into, and the names of its
// files change with any of its pages.
func TestSameIndexHoweverCut(t *testing.T) {
	letters := rapid.SliceOfN(rapid.SampledFrom(strings.Split("alpha beta gamma delta getUserById 設定 crème x1 a", " ")), 0, 12)
	proptest.Check(t, func(rt *rapid.T) {
		text := func(name string) string { return strings.Join(letters.Draw(rt, name), " ") }
		var pages []search.Page
		for i := range rapid.IntRange(1, 12).Draw(rt, "pages") {
			p := search.Page{Path: fmt.Sprintf("p%02d", i), Title: text("title"), Description: text("description"), Boost: float64(rapid.IntRange(0, 2).Draw(rt, "boost"))}
			p.Divisions = rapid.SampledFrom([][]int{{0}, {1}, {0, 1}}).Draw(rt, "divisions")
			for j := range rapid.IntRange(0, 3).Draw(rt, "sections") {
				p.Sections = append(p.Sections, search.Section{Heading: text("heading"), ID: fmt.Sprint(j), Text: text("text")})
			}
			pages = append(pages, p)
		}
		pages = number(pages)
		want := build(t, []string{"en", "de"}, pages, cutting{})
		how := cutting{rapid.IntRange(1, 5).Draw(rt, "shards"), rapid.IntRange(1, 3).Draw(rt, "units"), rapid.Bool().Draw(rt, "merged")}
		if diff := cmp.Diff(want, build(t, []string{"en", "de"}, pages, how)); diff != "" {
			rt.Fatalf("cut as %+v: %s", how, diff)
		}
		pages[0].Title += " changed"
		changed := build(t, []string{"en", "de"}, pages, how)
		for name, data := range changed {
			if root := strings.Count(name, ".") == 1; !root && want[name] != "" && want[name] != data {
				rt.Fatalf("%s is the name of a file of another state of the site", name)
			}
			if d := pages[0].Divisions[0]; want[name] != "" && strings.HasSuffix(name, suffixOf(want, d)) {
				rt.Fatalf("%s is the name of a file of another state of the site", name)
			}
		}
	})
}

// What several divisions show is written once, and each finds what is its own.
// Divisions of the same pages and language have the same files but for their
// roots.
func TestDivisionsShareFiles(t *testing.T) {
	outside.Long(t, "builds many indexes")
	var pages []search.Page
	for i := range 60 {
		p := search.Page{Path: fmt.Sprintf("p%02d", i), Title: fmt.Sprintf("Title%02d", i), Divisions: []int{0, 1, 2, 3}}
		switch { // pages of each kind between those of others
		case i%7 == 3:
			p.Divisions = []int{0, 1, 3}
		case i%7 == 5:
			p.Divisions = []int{2}
		}
		if i%10 == 9 {
			p.Boost = 2
		}
		for j := range 3 {
			p.Sections = append(p.Sections, search.Section{Heading: fmt.Sprintf("Part%02d%d", i, j), ID: fmt.Sprint(j), Text: strings.Repeat(fmt.Sprintf("word%d ", i), 150)})
		}
		pages = append(pages, p)
	}
	pages = number(pages)
	files := build(t, []string{"en", "en", "en", "fr"}, pages, cutting{shards: 3})
	texts, roots := map[string]string{}, 0
	for name, data := range files {
		switch base := strings.TrimPrefix(name, search.Folder); {
		case strings.Count(base, ".") == 1:
			roots++
		case base[0] == 'x':
			_, text, _ := strings.Cut(data, ",")
			if other, ok := texts[text]; ok {
				t.Errorf("%s has the texts of %s", name, other)
			}
			texts[text] = name
		}
	}
	for i := range pages {
		in := 0
		for text := range texts {
			if strings.Contains(text, fmt.Sprintf("Part%02d1", i)) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("the text of page %d is in %d files", i, in)
		}
	}
	if a, b := suffixOf(files, 0), suffixOf(files, 1); a != b {
		t.Errorf("divisions of the same pages have files ending in %s and %s", a, b)
	}
	if a, b := suffixOf(files, 0), suffixOf(files, 2); a == b {
		t.Errorf("divisions of other pages both have files ending in %s", a)
	}
	if a, b := suffixOf(files, 0), suffixOf(files, 3); a == b {
		t.Errorf("divisions of the same pages in two languages both have files ending in %s", a)
	}
	if roots != 4 {
		t.Errorf("%d roots", roots)
	}
	for d := range 4 {
		e := ask(t, d, files)
		for i, p := range pages {
			for j, query := range []string{p.Title, fmt.Sprintf("Part%02d2", i)} {
				results, err := e.Find(query)
				if err != nil {
					t.Fatal(err)
				}
				var got string
				if len(results) > 0 && results[0].Title == p.Title && len(results[0].Sections) > 0 {
					got = results[0].Path + "#" + results[0].Sections[0].ID
				}
				want := ""
				if slices.Contains(p.Divisions, d) {
					want = p.Path + "#" + []string{"", "2"}[j]
				}
				if got != want {
					t.Errorf("division %d finds %q for %q, want %q", d, got, query, want)
				}
			}
		}
	}
}

// suffixOf is how the names of a division's files end.
func suffixOf(files map[string]string, division int) string {
	root := files[search.RootPath(strconv.Itoa(division))]
	_, rest, _ := strings.Cut(root, `"d":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name + ".js"
}

// A term that is on more pages than are kept leads to those that are most about
// it, however the site was cut.
func TestTermsOnManyPages(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	var pages []search.Page
	for i := range 9000 {
		title := fmt.Sprintf("Page %d", i)
		if i%3000 == 2999 {
			title = "Everywhere"
		}
		pages = append(pages, search.Page{Path: fmt.Sprintf("p%04d", i), Title: title, Sections: []search.Section{{Text: "everywhere"}}})
	}
	pages = number(pages)
	files := build(t, []string{"en"}, number(pages), cutting{})
	if !maps.Equal(files, build(t, []string{"en"}, pages, cutting{shards: 7, units: 3, merged: true})) {
		t.Error("other pieces give another index")
	}
	results, err := ask(t, 0, files).Find("everywhere")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results[:min(3, len(results))] {
		got = append(got, r.Path)
	}
	if diff := cmp.Diff([]string{"p2999", "p5999", "p8999"}, got); diff != "" {
		t.Error(diff)
	}
}

// A stream that was cut short, or has other bytes in it, is refused; it is never
// an index that lacks something.
func TestBrokenStreams(t *testing.T) {
	var part search.Part
	for _, p := range guide() {
		if _, err := part.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := part.WriteTerms(&b); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() {
		if err := search.Merge(context.Background(), new(bytes.Buffer), readers([][]byte{b.Bytes()[:n]})); err == nil {
			t.Fatalf("the first %d of %d bytes pass for a stream", n, b.Len())
		}
	}
	twice := slices.Concat(b.Bytes()[:b.Len()-1], b.Bytes()) // its terms begin anew in the middle
	if err := search.Merge(context.Background(), new(bytes.Buffer), readers([][]byte{twice})); err == nil {
		t.Error("terms that are out of order pass for a stream")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := search.Merge(ctx, new(bytes.Buffer), readers([][]byte{b.Bytes()})); err == nil {
		t.Error("a merge goes on though nobody waits for it")
	}
	const runs = "\t1\t1:0123456789abcd"
	for _, line := range []string{
		"", "{", "0\t1\t0\tp\tTitle\t" + runs, "0\t0\t0\tp\tTitle", "0\t0,0\t0\tp\tTitle\t" + runs, "-1\t0\t0\tp\tTitle\t" + runs,
		"0\t0\tx\tp\tTitle\t" + runs, "0\tx\t0\tp\tTitle\t" + runs, "0\t0\t0\tp\tTitle\t\tx", "0\t0\t0\tp\tTitle\t\t1\tx",
	} {
		builder := search.NewBuilder([]*search.Division{search.NewDivision("site", "en")}, func(string, []byte) error { return nil })
		if builder.Page([]byte(line)) == nil {
			t.Errorf("%q passes for a page", line)
		}
	}
}

// Whatever the bytes, a merge ends with an error or with a stream that merges
// to itself.
func FuzzMerge(f *testing.F) {
	var part search.Part
	for _, p := range guide() {
		if _, err := part.Add(p); err != nil {
			f.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := part.WriteTerms(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var once, twice bytes.Buffer
		if search.Merge(context.Background(), &once, readers([][]byte{data})) != nil {
			return
		}
		if err := search.Merge(context.Background(), &twice, readers([][]byte{once.Bytes()})); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Error("merged again, a stream has other bytes")
		}
	})
}
