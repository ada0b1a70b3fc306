package search

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

func core(t testing.TB) *goja.Runtime {
	t.Helper()
	vm := goja.New()
	if _, err := vm.RunString(coreJS); err != nil {
		t.Fatal(err)
	}
	return vm
}

// Texts and questions are cut alike: for every character the two tables, and
// what a character is folded to, agree.
func TestCharactersMeanTheSameInBothLanguages(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	vm := core(t)
	v, err := vm.RunString(`(function () {
	  var out = [];
	  for (var c = 0; c < 0xFFFF; c++) out.push(kindOf(c) + (ignored(c) ? "i" : "") + (c >= 0xD800 && c < 0xE000 ? "" : fold(String.fromCharCode(c))));
	  return out.join("\n" + String.fromCharCode(1));
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for c, got := range strings.Split(v.String(), "\n\x01") {
		want := string(rune('0' + kindOf(rune(c))))
		if ignored(rune(c)) {
			want += "i"
		}
		if c < 0xD800 || c >= 0xE000 {
			want += fold(string(rune(c)))
		}
		if got != want {
			if wrong++; wrong < 20 {
				t.Errorf("U+%04X: the script says %q, Go %q", c, got, want)
			}
		}
	}
}

// TestOneFunctionOfAName: core.js and box.js are one scope, in which the last function
// of a name would be called for both.
func TestOneFunctionOfAName(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:function|var) (\w+)`).FindAllStringSubmatch(coreJS+"\n"+boxJS, -1) {
		if seen[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d names were found: are they?", len(seen))
	}
}

func TestTerms(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Getting started", "getting started"},
		{"a b cd", "cd"},
		{"getUserById(HTTPServer)", "getuserbyid +get +user +userbyid +by +byid +id httpserver +http +server"},
		{"api-keys, snake_case v2.1", "api keys +api_keys snake case +snake_case v2 +2_1"},
		{"docs.json tasks.trigger() a::b TRIGGER_SECRET_KEY", "docs json +docs_json tasks trigger +tasks_trigger trigger secret +trigger_secret key +secret_key"},
		{"--force (.env) $ref 1.2.3 end. Next x-y", "force +_force env +_env ref +_ref +1_2 +2_3 end next"},
		{"v1.2.3 or 1.2, 10.0.0.1, 1-2, 3:4, .5, 20240101.123", "v1 +1_2 +2_3 or +1_2 10 +10_0 +0_0 +0_1 123"},
		{"C++ and c#, F#; i++x C#x ab++ 1++ #c", "+c_plusplus and +c_sharp +f_sharp ab"},
		{"I/O, N/A 1/2 a/b/c x/", "+i_o +n_a +a_b +b_c"},
		{"x1 1234567 123456", "x1 123456"},
		{"Crème BRÛLÉE Straße Łódź", "creme brulee strasse lodz"},
		{"ﬁne ＡＰＩ", "fine api"},
		{"日本語テキスト", "日本 本語 語テ テキ キス スト"},
		{"한국어 설정", "한국 국어 설정"},
		{"設 API設定", "設 api 設定"},
		{"שָׁלוֹם مُحَمَّد", "שלום محمد"},
		{"Ελληνικά Привет Йод", "ελληνικα привет иод"},
		{strings.Repeat("x", 33) + " ok", "ok"},
		{"\xff\xfe bad\xff utf", "bad utf"},
		{"🙂 smile🙂d", "smile"},
	} {
		var got []string
		terms(tt.text, false, func(term string, part bool) {
			if part {
				term = "+" + term
			}
			got = append(got, term)
		})
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// Single letters are terms of names alone, and digits are none.
func TestTermsOfNames(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"C# and C++", "c c_sharp and c c_plusplus"},
		{"R: É, и, 設", "r e 設"},
		{"Step 1 of x1", "step of x1"},
		{"aB", "ab"},
	} {
		var got []string
		terms(tt.text, true, func(term string, part bool) { got = append(got, term) })
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// A lexicon has the terms of a text, met before or not.
func TestLexicon(t *testing.T) {
	var x lexicon
	for _, text := range []string{"C# getUserById R r É 設 API設定", "getUserById r, R: C# É API設定 設", "", "日本語 ok"} {
		for _, name := range []bool{false, true} {
			var want, got []string
			terms(text, name, func(term string, part bool) { want = append(want, fmt.Sprint(term, part)) })
			x.each(text, name, func(term uint32, part bool) { got = append(got, fmt.Sprint(string(x.terms.at(term)), part)) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	}
	for i := range 5000 { // more than the first table has room for
		x.terms.number(fmt.Sprint("t", i))
	}
	n, fresh := x.terms.number("getuserbyid")
	if fresh || string(x.terms.at(n)) != "getuserbyid" {
		t.Errorf("getuserbyid is number %d, %q, fresh %v", n, x.terms.at(n), fresh)
	}
	var before string
	for _, n := range x.terms.inOrder() {
		text := string(x.terms.at(n))
		if text <= before {
			t.Errorf("%q comes after %q", text, before)
		}
		before = text
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		limit      int
	}{
		{" a\t\n b\u00a0\u2003c ", "a b c", 5},
		{"", "", 0},
		{"one two  ", "one two", 7},
		{"one two three", "one two…", 7},
		{"one two", "one…", 4 - 1},
		{"aé", "a…", 2},
		{"\xffa b", "\xffa b", 99},
	} {
		if diff := cmp.Diff("x"+tt.want, string(appendOneLine([]byte("x"), tt.text, tt.limit))); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// Words of a language that differ by grammar alone have one stem; those that
// mean different things have not.
func TestStems(t *testing.T) {
	vm := core(t)
	stem, ok := goja.AssertFunction(vm.Get("stem"))
	if !ok {
		t.Fatal("no function stem")
	}
	of := func(word, lang string) string {
		v, err := stem(goja.Undefined(), vm.ToValue(word), vm.ToValue(lang))
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	for _, tt := range []struct{ lang, same, other string }{
		{"en", "deploy deploys deployed deploying deployment deployments", "employ"},
		{"en", "authenticate authenticates authenticated authenticating authentication", "author"},
		{"en", "configure configures configured configuring", "conflict"},
		{"en", "query queries", "quest"},
		{"en", "run runs running", "rung"},
		{"en", "class classes", "clan"},
		{"en", "status", "stat"},
		{"de", "einstellung einstellungen", "einstieg"},
		{"fr", "page pages", "pagode"},
		{"fr", "variable variables", "varie"},
		{"es", "pagina paginas", "pagar"},
		{"es", "configuracion configuraciones", "conflicto"},
		{"ja", "pages", "page"},
	} {
		words := strings.Fields(tt.same)
		for _, w := range words[1:] {
			if of(w, tt.lang) != of(words[0], tt.lang) {
				t.Errorf("%s: %s is %q, %s is %q", tt.lang, words[0], of(words[0], tt.lang), w, of(w, tt.lang))
			}
		}
		if of(tt.other, tt.lang) == of(words[0], tt.lang) {
			t.Errorf("%s: %s and %s have one stem", tt.lang, tt.other, words[0])
		}
	}
}

// Of a question that is a whole text, a few words of its beginning are asked
// for: each is compared with thousands.
func TestLongQuestions(t *testing.T) {
	vm := core(t)
	chosen, err := vm.RunString(`(function (query) {
	  var index = Object.create(Index.prototype);
	  index.lang = "en"; index.begins = ["a"]; index.factor = 1; index.groups = ""; index.size = 0;
	  return index.chosen(query).words.map(function (w) { return w.text; }).join(" ");
	})`)
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := goja.AssertFunction(chosen)
	for _, tt := range []struct{ name, query, want string }{
		{"the longest words", strings.Repeat("abc ", 20) + "stands by its length among words words2 words3 words4 words5 words6 words7 words8 words9 words10 words11 words12 words13",
			"stands length among words words2 words3 words4 words5 words6 words7 words8 words9 words10 words11 words12 words13"},
		{"the beginning", strings.Repeat("same ", 100) + "later", "same"},
		{"without spaces", "設定の方法環境変数を東京のサーバーで決める手順について説明します", "設定 定の の方 方法 法環 環境 境変 変数 数を を東 東京 京の のサ サー ーバ バー"},
	} {
		v, err := fn(goja.Undefined(), vm.ToValue(tt.query))
		if err != nil {
			t.Fatal(err)
		}
		got, want := strings.Fields(v.String()), strings.Fields(tt.want)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// Mistyped letters are counted, up to a bound.
func TestDistance(t *testing.T) {
	vm := core(t)
	distance, ok := goja.AssertFunction(vm.Get("distance"))
	if !ok {
		t.Fatal("no function distance")
	}
	for _, tt := range []struct {
		a, b string
		max  int
		open bool
		want int64
	}{
		{"webhook", "webhook", 2, false, 0},
		{"webhok", "webhook", 2, false, 1},
		{"webohok", "webhook", 2, false, 1},
		{"wbhok", "webhook", 2, false, 2},
		{"xyz", "webhook", 2, false, 3},
		{"webh", "webhook", 2, false, 3},
		{"webh", "webhook", 2, true, 0},
		{"wehb", "webhook", 2, true, 1},
		{"webhooks", "webhook", 1, false, 1},
		{"webhookssss", "webhook", 1, true, 2},
	} {
		v, err := distance(goja.Undefined(), vm.ToValue(tt.a), vm.ToValue(tt.b), vm.ToValue(tt.max), vm.ToValue(tt.open))
		if err != nil {
			t.Fatal(err)
		}
		if v.ToInteger() != tt.want {
			t.Errorf("%+v: got %d", tt, v.ToInteger())
		}
	}
}

// Whatever the text, terms are short, not empty, and whole characters of the
// basic plane; a question of the same text has the same words.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"getUserById", "a.b--c->d x_y 日.a .é", "日本語 テキスト", "Straße ﬁ", "a\u0301\u0301b", "\xff", "İstanbul ǅ", "ΑΣ ας", "ﷺ", "Å"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		terms(text, true, func(term string, part bool) {
			if n := utf8.RuneCountInString(term); n == 0 || n > maxTerm && !(part && n <= 4*maxTerm && strings.ContainsRune(term, '_')) || !utf8.ValidString(term) {
				t.Errorf("%q has the term %q", text, term)
			}
			for _, r := range term {
				if r > 0xFFFF || kindOf(r) == separator && !(part && r == '_') {
					t.Errorf("%q has the term %q", text, term)
				}
			}
			if !part || strings.ContainsRune(term, '_') {
				seen[term] = true
			}
		})
		if !utf8.ValidString(text) {
			return
		}
		vm := core(t)
		v, err := vm.RunString("wordsOf")
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := goja.AssertFunction(v)
		got, err := fn(goja.Undefined(), vm.ToValue(text))
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for _, w := range got.Export().([]any) {
			asked[w.(map[string]any)["text"].(string)] = true
		}
		for term := range seen {
			if !asked[term] {
				t.Errorf("%q: nobody who asks for the text asks for its term %q", text, term)
			}
		}
	})
}
