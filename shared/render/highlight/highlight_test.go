package highlight

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

func TestLanguage(t *testing.T) {
	h := New(Options{})
	for _, tt := range []struct {
		label, name string
		known       bool
	}{
		{"ts", "TypeScript", true},
		{"typescript", "TypeScript", true},
		{"TypeScript", "TypeScript", true},
		{"TSX", "TSX", true},
		{"typescriptreact", "TSX", true},
		{"prisma", "Kotlin", true},
		{"liquid", "Django/Jinja", true},
		{"con", "Bash Session", true},
		{"pycon", "Python", true},
		{"package-install", "Bash", true},
		{"mts", "TypeScript", true},
		{"js", "JavaScript", true},
		{"node", "JavaScript", true},
		{"jsx", "react", true},
		{"json", "JSON", true},
		{"jsonc", "JSON", true},
		{"json5", "JSON", true},
		{"jsonl", "JSON", true},
		{"sh", "Bash", true},
		{"shell", "Bash", true},
		{"zsh", "Bash", true},
		{"cURL", "Bash", true},
		{"env", "Bash", true},
		{"console", "Bash Session", true},
		{"shell-session", "Bash Session", true},
		{"yml", "YAML", true},
		{"py", "Python", true},
		{"c#", "C#", true},
		{"tf", "Terraform", true},
		{"md", "markdown", true},
		{"mdx", "MDX", true},
		{"text", "plaintext", true},
		{"txt", "plaintext", true},
		{"mermaid", "Mermaid", true},
		{" go ", "Go", true},
		{"", "", false},
		{"no such language", "", false},
		{"*", "", false},
		{"\x00\xff", "", false},
	} {
		if name, known := h.Language(tt.label); name != tt.name || known != tt.known {
			t.Errorf("Language(%q) = %q, %v, want %q, %v", tt.label, name, known, tt.name, tt.known)
		}
	}
}

// TestLabelsAsChroma: a name, an alias or an extension means what it means to
// chroma, unless this package says otherwise.
func TestLabelsAsChroma(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	h := New(Options{})
	for label, lang := range h.languages.byLabel {
		_, extra := extraAliases[label]
		_, plain := plainLabels[label]
		if _, own := ownLanguages[lang.name]; extra || plain || own {
			continue
		}
		lexer := lexers.Get(label)
		if lexer == nil {
			t.Errorf("chroma knows no %q, here it is %s", label, lang.name)
		} else if got := lexer.Config().Name; got != lang.name {
			t.Errorf("%q is %s to chroma and %s here", label, got, lang.name)
		}
	}
	for label, alias := range extraAliases {
		if _, known := h.Language(alias); !known {
			t.Errorf("extra alias %q means %q, which is no language", label, alias)
		}
	}
	for name, own := range ownLanguages {
		for _, label := range own.labels {
			if got, _ := h.Language(label); got != name {
				t.Errorf("%q is %q, want %s", label, got, name)
			}
		}
	}
	for name := range ownLexers {
		if got, _ := h.Language(name); got != name {
			t.Errorf("there is a lexer for %q, which is no language", name)
		}
	}
	for name := range languageTraits {
		if _, known := h.Language(name); !known {
			t.Errorf("there are traits for %q, which is no language", name)
		}
	}
}

func TestRuns(t *testing.T) {
	h := New(Options{})
	for _, tt := range []struct {
		name, label, code string
		want              []Run
	}{
		{"nothing", "go", "", nil},
		{"no label", "", "let a", []Run{{Plain, 0, 5}}},
		{"unknown label", "nope", "let a", []Run{{Plain, 0, 5}}},
		{"text", "text", "let a", []Run{{Plain, 0, 5}}},
		{"mermaid", "mermaid", "graph TD", []Run{{Plain, 0, 8}}},
		{"spaces only", "ts", "  \n", []Run{{Plain, 0, 3}}},
		{"keyword and number", "js", "let a=1", []Run{{Keyword, 0, 3}, {Plain, 3, 5}, {Operator, 5, 6}, {Number, 6, 7}}},
		{"a call is a function", "js", "go(1)", []Run{{Function, 0, 2}, {Plain, 2, 3}, {Number, 3, 4}, {Plain, 4, 5}}},
		{"a name is not", "js", "go+1", []Run{{Plain, 0, 2}, {Operator, 2, 3}, {Number, 3, 4}}},
		{"a call of a built-in", "py", "print(x)", []Run{{Function, 0, 5}, {Plain, 5, 8}}},
		{"an object of the library", "js", "console.log(a)", []Run{{Plain, 0, 8}, {Function, 8, 11}, {Plain, 11, 14}}},
		{"keys of JSON", "json", `{"a":"b"}`, []Run{{Plain, 0, 1}, {Attribute, 1, 4}, {Plain, 4, 5}, {String, 5, 8}, {Plain, 8, 9}}},
		{"tags of HTML", "html", `<a b="c">`, []Run{{Plain, 0, 1}, {Tag, 1, 2}, {Plain, 2, 3}, {Attribute, 3, 4}, {Operator, 4, 5}, {String, 5, 8}, {Plain, 8, 9}}},
		{"chroma's errors are plain", "json", "\x01", []Run{{Plain, 0, 1}}},
		{"characters of several bytes", "js", `é="ü";`, []Run{{Plain, 0, 2}, {Operator, 2, 3}, {String, 3, 7}, {Plain, 7, 8}}},
		{"no UTF-8", "js", "\xff=\"\xfe\";", []Run{{Plain, 0, 1}, {Operator, 1, 2}, {String, 2, 5}, {Plain, 5, 6}}},
		{"line ends of Windows", "js", "1\r\n2", []Run{{Number, 0, 1}, {Plain, 1, 3}, {Number, 3, 4}}},
		{"diff", "diff", "-a\n+b\n", []Run{{Deleted, 0, 3}, {Inserted, 3, 6}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := h.Runs(tt.label, tt.code)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("runs differ (-want +got):\n%s", diff)
			}
			checkRuns(t, tt.code, got)
		})
	}
}

// TestTooLong: a block above the bound is plain, one at the bound is not.
func TestTooLong(t *testing.T) {
	h := New(Options{})
	line := "let a = 1;\n"
	code := strings.Repeat(line, MaxBytes/len(line))
	code += strings.Repeat("\n", MaxBytes-len(code))
	if runs := h.Runs("js", code); len(runs) < 1000 {
		t.Errorf("%d bytes gave %d runs, want many", len(code), len(runs))
	}
	if runs := h.Runs("js", code+"\n"); len(runs) != 1 || runs[0].Class != Plain {
		t.Errorf("%d bytes gave %d runs, want one plain one", len(code)+1, len(runs))
	}
}

// TestRunaway: code that uses up its steps is plain from there on, whether one
// expression takes them or all together, and the same each time.
func TestRunaway(t *testing.T) {
	for _, tt := range []struct {
		name, label, code string
		limits            limits
		want              []Run
	}{
		{
			"attempt", "bash", "echo ok\n" + `"` + strings.Repeat(`\`, 200), limits{attempt: 10_000, block: 1 << 30},
			[]Run{{Function, 0, 4}, {Plain, 4, 209}},
		},
		{
			"block", "js", "let a = 1;\n" + strings.Repeat("\n", 10), limits{attempt: 1000, block: 8},
			[]Run{{Keyword, 0, 3}, {Plain, 3, 21}},
		},
		{
			"block by length", "js", "let a = 1;\n" + strings.Repeat("\n", 10), limits{attempt: 1000, character: 2},
			[]Run{{Keyword, 0, 3}, {Plain, 3, 21}},
		},
		{
			"none", "js", "let a = 1;\n", limits{},
			[]Run{{Plain, 0, 11}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				h := New(Options{})
				h.languages.limits = tt.limits
				if diff := cmp.Diff(tt.want, h.grammarRuns(h.languages.find(tt.label), tt.code)); diff != "" {
					t.Errorf("runs differ (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestConcurrent: the same runs whoever asks at the same time, also when the
// cache is too small for one block.
func TestConcurrent(t *testing.T) {
	all := samples(t)
	reference := New(Options{})
	for _, bytes := range []int{0, 1} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			h := New(Options{CacheBytes: bytes})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for label, code := range all {
						if diff := cmp.Diff(reference.Runs(label, code), h.Runs(label, code)); diff != "" {
							t.Errorf("runs of %s differ:\n%s", label, diff)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestCacheKey: the language's name is apart from the code in the key.
func TestCacheKey(t *testing.T) {
	if cacheKey("a", "b") == cacheKey("ab", "") {
		t.Error("the language's name is not apart from the code in the key")
	}
}

// TestEmbedded: code in Markdown has the classes of its language, also of one
// without an own lexer, for as many fences as the bound allows.
func TestEmbedded(t *testing.T) {
	h := New(Options{})
	fence := "```yaml\na: 1\n```\n"
	code := strings.Repeat(fence, maxOthers+1)
	classed := 0
	for _, r := range h.Runs("mdx", code) {
		if code[r.Start:r.End] == "a" && r.Class == Attribute {
			classed++
		}
	}
	if classed != maxOthers {
		t.Errorf("%d of %d fences have classes, want %d", classed, maxOthers+1, maxOthers)
	}
	for _, label := range []string{"unknown", "text", "markdown", ""} {
		code := "```" + label + "\na: 1\n```\n"
		checkRuns(t, code, h.Runs("md", code))
	}
}

// TestInventory: the labels of fences that real sites use are known, but for
// those that name no language.
func TestInventory(t *testing.T) {
	source, err := os.ReadFile(outside.Folder(t, "corpora", "inventory.json"))
	if err != nil {
		t.Fatal(err)
	}
	var inventory struct {
		Fences struct{ Languages map[string]int } `json:"code_fences"`
	}
	if err := json.Unmarshal(source, &inventory); err != nil {
		t.Fatal(err)
	}
	h := New(Options{})
	checked := 0
	for label := range inventory.Fences.Languages {
		if label == "" || strings.ContainsAny(label, `<>="`) {
			continue // none, or what belongs behind the label
		}
		checked++
		if _, known := h.Language(label); !known && label != "gel" {
			t.Errorf("%q is unknown", label)
		}
	}
	if checked < 50 {
		t.Errorf("checked %d labels, want at least 50", checked)
	}
}

// TestShikiNames: each name of Shiki's is a language, and the names that Shiki has
// for one are one here. All but a few are in colours.
func TestShikiNames(t *testing.T) {
	data, err := os.ReadFile("testdata/shiki.txt")
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]bool{
		"ansi": true, "text": true, "mermaid": true, // which is drawn
		"raku": true, "wenyan": true,
	}
	h, count := New(Options{}), 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		names := strings.Fields(line)
		for _, name := range names {
			count++
			if _, known := h.Language(name); !known {
				t.Errorf("%s is unknown", name)
			} else if lang := h.languages.find(name); (lang.lexer == nil && lang.lex == nil) != plain[names[0]] {
				t.Errorf("%s (%s) is plain: %v, want %v", name, lang.name, !plain[names[0]], plain[names[0]])
			}
		}
	}
	if count < 340 {
		t.Errorf("%d names were read", count)
	}
	for _, name := range []string{"env", "gitignore", "jinja", "npmrc", "regex"} {
		if _, known := h.Language(name); !known {
			t.Errorf("%s is unknown", name)
		}
	}
}

// TestWordLanguages: languages that chroma lacks have their comments, strings,
// numbers and words.
func TestWordLanguages(t *testing.T) {
	for _, tt := range []struct{ label, code, want string }{
		{"kusto", "Logs // all\n| where n > 12\n| project-away x\n| extend y = strcat(\"a|b\", 'c')", "Logs <c>// all</c>\n| <k>where</k> n > <n>12</n>\n| <k>project-away</k> x\n| <k>extend</k> y = <f>strcat</f>(<s>\"a|b\"</s>, <s>'c'</s>)"},
		{"cypher", "MATCH (a)--(b) /* both */ WHERE a.x = 'it''s' RETURN null", "<k>MATCH</k> (a)--(b) <c>/* both */</c> <k>WHERE</k> a.x = <s>'it''s'</s> <k>RETURN</k> <o>null</o>"},
		{"spl", "index=web | stats count by host", "index=web | <k>stats</k> count <k>by</k> host"},
		{"gitignore", "# built\n/dist/#not\n!keep.log", "<c># built</c>\n/dist/#not\n!keep.log"},
		{"codeowners", "*.go @team # no comment", "*.go @team # no comment"},
		{"git-rebase", "pick 1a2b Words\n# Commands", "<k>pick</k> <n>1a2b</n> Words\n<c># Commands</c>"},
		{"log", "2026-01-02 ERROR could not \"open\"\nWARN x=12ms", "<n>2026</n>-<n>01</n>-<n>02</n> <k>ERROR</k> could not <s>\"open\"</s>\n<o>WARN</o> x=<n>12ms</n>"},
		{"regex", `^(?:a|[b\]c]+)\d{2}$`, `<p>^</p><k>(?:</k>a<k>|</k><s>[b</s><o>\]</o><s>c]</s><p>+</p><k>)</k><o>\d</o><p>{</p>2<p>}$</p>`},
		{"cypher", "MATCH 'open\n/*", "<k>MATCH</k> <s>'open</s>\n<c>/*</c>"},
	} {
		var b strings.Builder
		for _, r := range New(Options{}).Runs(tt.label, tt.code) {
			if name := classes[r.Class].name; name != "" {
				fmt.Fprintf(&b, "<%s>%s</%[1]s>", name, tt.code[r.Start:r.End])
			} else {
				b.WriteString(tt.code[r.Start:r.End])
			}
		}
		if got := b.String(); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.label, got, tt.want)
		}
	}
}
