package mdx

import (
	"bufio"
	"encoding/json"
	"github.com/google/go-cmp/cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// corpusPages is how many pages the three corpora hold.
const corpusPages = 1122

// knownDifferences lists pages whose tree differs from the reference parser's,
// each with the reason. It is empty: all are identical.
var knownDifferences = map[string]string{}

// Every page of the real sites has the tree that the reference parser reads.
func TestRealPagesParseLikeTheReference(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	sites, all := outside.Sites(t)
	compared, same := 0, 0
	for _, site := range sites {
		f, err := os.Open(site.Trees(t))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			var want struct {
				Page  string
				Tree  []string
				Error string
			}
			if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(site.Name, want.Page)
			src, err := os.ReadFile(filepath.Join(site.Dir, want.Page))
			if err != nil {
				t.Fatal(err)
			}
			compared++
			difference := compareTrees(name, src, want.Tree, want.Error)
			switch {
			case difference == "":
				same++
				if knownDifferences[name] != "" {
					t.Errorf("%s: listed as different, but identical", name)
				}
			case knownDifferences[name] == "":
				t.Errorf("%s: %s", name, difference)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if all && compared != corpusPages {
		t.Errorf("compared %d pages, want %d", compared, corpusPages)
	}
	if same*1000 < compared*995 {
		t.Errorf("%d of %d pages are identical, want 99.5%%", same, compared)
	}
	t.Logf("%d of %d pages identical", same, compared)
}

// compareTrees says where the tree of a source differs from the reference's;
// "" means that it does not.
func compareTrees(name string, src []byte, want []string, wantErr string) string {
	f, diags := Parse(src, Options{File: name})
	if len(diags) > 0 {
		if wantErr != "" {
			return ""
		}
		return diags[0].String()
	}
	if wantErr != "" {
		return "read without error, the reference says: " + wantErr
	}
	got := tokens(f.Root)
	for i := 0; i < len(got) || i < len(want); i++ {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = strings.ReplaceAll(want[i], "\r\n", "\n") // HTML reads both as one line end
		}
		if g != w {
			return "token " + itoa(i) + ":\n got " + clip(g) + "\nwant " + clip(w)
		}
	}
	return ""
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// indented lists pages of the real sites that are not the same when they may be Markdown,
// each with the reason: four columns of white space.
var indented = map[string]string{
	"novu/community/self-hosting-novu/data-migrations.mdx": "a list right below a paragraph goes on with its text",
	"trigger/snippets/nextjs-missing-api-key.mdx":          "a paragraph and a fence are code",
	"trigger/snippets/trigger-tasks-nextjs.mdx":            "all but the first line is code, the components too",
	"trigger/snippets/trigger-tasks-remix.mdx":             "all but the first line is code, the components too",
}

// A page of the real sites that the parser reads as MDX without a fault has the same tree
// when it may be Markdown, but for indentation.
func TestRealPagesAsMarkdown(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	sites, all := outside.Sites(t)
	pages, markdown, found := 0, 0, 0
	for _, site := range sites {
		err := filepath.WalkDir(site.Dir, func(file string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(file); err != nil || d.IsDir() || ext != ".mdx" && ext != ".md" {
				return err
			}
			src, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			asMDX, faults := Parse(src, Options{File: file})
			if len(faults) > 0 {
				return nil
			}
			pages++
			if !holdsMDX(asMDX.Root) {
				markdown++
			}
			f, diags := Parse(src, Options{File: file, Markdown: true})
			for _, d := range diags {
				t.Error(d)
			}
			rel, err := filepath.Rel(site.Dir, file)
			if err != nil {
				return err
			}
			name := site.Name + "/" + filepath.ToSlash(rel)
			switch diff, why := cmp.Diff(tokens(asMDX.Root), tokens(f.Root)), indented[name]; {
			case diff != "" && why != "":
				found++
			case diff != "":
				t.Errorf("%s: %s", name, diff)
			case why != "":
				t.Errorf("%s is listed (%s), but the same", name, why)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if all && (found != len(indented) || markdown < 400) {
		t.Errorf("%d pages are others, want %d; %d hold no MDX", found, len(indented), markdown)
	}
	t.Logf("%d pages, %d of them hold no MDX; %d differ by indentation", pages, markdown, found)
}
