package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// No cell is empty or holds markup, what a phrase leaves open is the same in all
// languages, and every language that docs.json may name has a column.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(tsv, "\n"), "\n")
	tags := strings.Split(lines[0], "\t")[1:]
	for _, label := range strings.Fields("ar ca cs zh-Hans zh-Hant da de en es fi fr he hi hu id it ja ko lv nl no pl pt-BR ro ru sv tr uk uz vi") {
		if !slices.Contains(tags, label) {
			t.Errorf("no column %s", label)
		}
	}
	documented, err := os.ReadFile("../../../infra/docs/authoring/navigation.mdx")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		if !strings.Contains(string(documented), "`"+tag+"`") {
			t.Errorf("the page about navigation does not name %s", tag)
		}
	}
	if tags[0] != "en" {
		t.Errorf("the first column is %s: the zero Language is English", tags[0])
	}
	open := regexp.MustCompile(`%.?`)
	seen := map[string]bool{}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		phrase := cells[0]
		if seen[phrase] {
			t.Errorf("%s: there are two", phrase)
		}
		seen[phrase] = true
		if cells = cells[1:]; len(cells) != len(tags) {
			t.Errorf("%s: %d cells, want %d", phrase, len(cells), len(tags))
			continue
		}
		want := open.FindAllString(cells[0], -1)
		slices.Sort(want)
		for i, cell := range cells {
			got := open.FindAllString(cell, -1)
			slices.Sort(got)
			switch {
			case cell == "" || cell != strings.TrimSpace(cell) || strings.ContainsAny(cell, `<>&"\`):
				t.Errorf("%s, %s: %q", phrase, tags[i], cell)
			case !slices.Equal(got, want):
				t.Errorf("%s, %s: %q leaves %q open, English %q", phrase, tags[i], cell, got, want)
			case phrase == string(Months) && len(strings.Fields(cell)) != 12:
				t.Errorf("%s, %s: %q", phrase, tags[i], cell)
			}
		}
	}
}

// The phrases are the table's rows, each is named as its row is, and none is
// one that nobody says.
func TestPhrases(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	file, err := parser.ParseFile(token.NewFileSet(), "phrases.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range file.Decls {
		if d := d.(*ast.GenDecl); d.Tok == token.CONST {
			for _, s := range d.Specs {
				s := s.(*ast.ValueSpec)
				name, row := s.Names[0].Name, strings.Trim(s.Values[0].(*ast.BasicLit).Value, `"`)
				if names[name] = true; strings.ToLower(name[:1])+name[1:] != row {
					t.Errorf("%s is the row %s", name, row)
				}
				if read().rows[Phrase(row)] == nil {
					t.Errorf("%s has no row", name)
				}
			}
		}
	}
	for row := range read().rows {
		if !names[strings.ToUpper(string(row[:1]))+string(row[1:])] {
			t.Errorf("the row %s has no name", row)
		}
	}
	said := regexp.MustCompile(`\bwords\.([A-Z]\w*)`)
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		for _, m := range said.FindAllSubmatch(source, -1) {
			delete(names, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range names {
		t.Errorf("nobody says %s", name)
	}
}

func TestIn(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "en-US": "en", "": "en", "-": "en", "sw": "en", "constructor": "en", "zero-": "en",
		"zh": "zh-Hans", "cn": "zh-Hans", "zh-CN": "zh-Hans", "zh_Hans_SG": "zh-Hans", "ZH": "zh-Hans",
		"zh-Hant": "zh-Hant", "zh-TW": "zh-Hant", "zh_hk": "zh-Hant", "zh-Hant-MO": "zh-Hant",
		"pt": "pt-BR", "pt-PT": "pt-BR", "pt-br": "pt-BR", "ja": "ja", "jp": "ja", "ja-jp": "ja",
		"no": "no", "nb": "no", "nn-NO": "no", "he-IL": "he", "iw": "he", "in": "id", "fr-CA": "fr",
	} {
		column := slices.Index(strings.Split(strings.Split(tsv, "\n")[0], "\t")[1:], want)
		if got := In(tag); got != (Language{column}) {
			t.Errorf("%q is column %d, want that of %s, %d", tag, got.column, want, column)
		}
	}
	if en, other := In("en").Say(Footnotes), In("nl").Say(Footnotes); en != "Footnotes" || other != "Voetnoten" {
		t.Errorf("the words are %q, %q", en, other)
	}
}

func TestScript(t *testing.T) {
	if got, want := Script([]string{"zh-TW", "</script>"}, Copied, Close), `{"\u003c/script\u003e":["Copied","Close"],"en":["Copied","Close"],"zh-TW":["已複製","關閉"]}`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got, want := Script(nil, Yes), `{"en":["Yes"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// All say what they know at the same time; the table is read once, and stays.
func TestManySpeakers(t *testing.T) {
	done := make(chan string)
	for range 8 {
		go func() { done <- In("uk").Say(Skip) }()
	}
	for range 8 {
		if s := <-done; s != "Перейти до вмісту" {
			t.Errorf("it says %q", s)
		}
	}
}

func BenchmarkSay(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		In("zh-TW").Say(Link)
	}
}
