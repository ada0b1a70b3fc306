package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"github.com/tdewolff/parse/v2/js"
	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/tests/outside"
)

// evil is what the cases have for EVIL: it ends whatever it may stand in, and
// begins an element. In JSON a quote goes before it.
const evil = `'></title></style></script></textarea>]]>--><x-evil onload=pwned()>`

// entities writes what is evil as text of a page, which ETXT stands for.
var entities = strings.NewReplacer("<", "&lt;", ">", "&gt;")

const defaultConfig = `{"name": "Hostile", "colors": {"primary": "#0055aa"}, "navigation": {"pages": ["index"]}}`

// Sites as an attacker writes them, in testdata/hostile. A file of a case has the
// case's name before its path; "want" is what comes out: that the site is refused
// and why, or the findings of its export, which TestHostileSites holds to much
// more: see harmless. Files whose names end with .made are written by made. A
// case without a docs.json has one whose only page is index.
//
// Packages of shared/render have more cases of their own: TestBrokenPages,
// TestNothingIsInjected, TestReferencesAreBounded, FuzzBudget.
func TestHostileSites(t *testing.T) {
	outside.Long(t, "exports many sites")
	files, err := filepath.Glob("testdata/hostile/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	cases := 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sites := make(map[string]fstest.MapFS)
		var order []string
		wants := make(map[string]*[]byte)
		for i := range archive.Files {
			f := &archive.Files[i]
			site, file, _ := strings.Cut(f.Name, "/")
			if sites[site] == nil {
				sites[site] = fstest.MapFS{"docs.json": {Data: []byte(defaultConfig)}}
				order = append(order, site)
			}
			if file == "want" {
				wants[site] = &f.Data
				continue
			}
			if plain, ok := strings.CutSuffix(file, ".made"); ok {
				file = plain
				sites[site][file] = &fstest.MapFile{Data: made(t, string(f.Data))}
				continue
			}
			text := string(f.Data)
			if path.Ext(file) == ".json" {
				text = strings.ReplaceAll(text, "EVIL", `\"`+evil)
			}
			text = strings.NewReplacer("EVIL", evil, "ETXT", entities.Replace(evil)).Replace(text)
			sites[site][file] = &fstest.MapFile{Data: []byte(text)}
		}
		for _, site := range order {
			cases++
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+site, func(t *testing.T) {
				if filepath.Base(name) == "bombs.txtar" {
					outside.Long(t, "exports pages of megabytes")
				}
				if wants[site] == nil {
					t.Fatal("the case does not say what is wanted")
				}
				got := attack(t, sites[site])
				if golden.Update() {
					*wants[site] = []byte(got)
				}
				if want := string(*wants[site]); strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
		if golden.Update() {
			golden.Write(t, name, txtar.Format(archive))
		}
	}
	t.Logf("%d sites", cases)
}

// made writes what the lines of a file say: each is a string of Go, or "*N" and
// one that is written N times, with its number where it has a %d.
func made(t *testing.T, lines string) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(lines) {
		times := 1
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "*"); ok {
			n, text, _ := strings.Cut(rest, " ")
			var err error
			if times, err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
			line = text
		}
		text, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for i := range times {
			out.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
		}
	}
	return out.Bytes()
}

// most is how many bytes the export of a hostile site may allocate, all steps
// together: what it may hold at once is less.
const most = 1 << 30

// attack exports a site and returns what came out: that it was refused, or its
// findings by severity, code and file.
func attack(t *testing.T, site fstest.MapFS) string {
	t.Helper()
	var list []snapshot.File
	for name, f := range site {
		sum := sha256.Sum256(f.Data)
		list = append(list, snapshot.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(f.Data))})
	}
	slices.SortFunc(list, func(a, b snapshot.File) int { return strings.Compare(a.Path, b.Path) })
	w := newWorld(t)
	if _, err := snapshot.NewPlan(list, nil); err != nil {
		return fmt.Sprintf("not published: %v\n", err)
	}
	w.publish(t, site)
	j := w.start(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := workflow(context.Background(), w.steps(nil), j.ID)
	runtime.ReadMemStats(&after)
	used := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MiB", used>>20)
	if used > most {
		t.Errorf("its export took %d MiB of memory, one after another", used>>20)
	}
	if err != nil {
		j, err := w.admin.FindExport(context.Background(), j.ID)
		if err != nil || j.Failure == nil {
			t.Fatalf("the job is %+v, %v", j, err)
		}
		return fmt.Sprintf("refused %s: %s\n", j.Failure.Code, j.Failure.Message)
	}
	files := unpacked(t, w.bundle(t, j.ID))
	for name, text := range files {
		if _, own := site[name]; !own {
			harmless(t, name, text, files["bindery.json"])
		}
	}
	found := make(map[string]int)
	for line := range strings.Lines(files["bindery/diagnostics.jsonl"]) {
		var d struct{ Severity, Code, File string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.Code == "feature-unset" { // of the deployment, not of the site
			continue
		}
		found[fmt.Sprintf("%s %s %s", d.Severity, d.Code, d.File)]++
	}
	var out strings.Builder
	var info struct{ Pages int }
	if err := json.Unmarshal([]byte(files["bindery.json"]), &info); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "exported %d pages\n", info.Pages)
	for _, f := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&out, "%d %s\n", found[f], f)
	}
	return out.String()
}

// harmless holds a file of a bundle that Bindery wrote: it has nothing that runs
// but Bindery's own scripts, which its policy names, leads to nothing that runs, and is well-formed.
func harmless(t *testing.T, name, text, bundle string) {
	t.Helper()
	switch path.Ext(name) {
	case ".html":
		harmlessPage(t, name, text, bundle)
	case ".js":
		harmlessScript(t, name, text)
	case ".css":
		harmlessStyle(t, name, text)
	case ".json":
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", name)
		}
	case ".jsonl":
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s has the line %q", name, line)
			}
		}
	case ".xml", ".svg":
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "x-evil" {
				t.Errorf("%s has an element of the attacker", name)
			}
		}
	}
}

// around is what stands beside a part of a text.
func around(text, part string) string {
	i := strings.Index(text, part)
	return text[max(0, i-80):min(len(text), i+80)]
}

// harmlessScript: a script of ours is one that can be read, in which what an
// author wrote is text.
func harmlessScript(t *testing.T, name, text string) {
	if _, err := js.Parse(parse.NewInputString(text), js.Options{}); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	lexer := js.NewLexer(parse.NewInputString(text))
	for {
		kind, data := lexer.Next()
		if kind == js.ErrorToken {
			if err := lexer.Err(); err != io.EOF && err != nil && !errors.Is(err, io.EOF) {
				return // a regular expression: the parser has read it
			}
			return
		}
		if kind == js.IdentifierToken && string(data) == "pwned" {
			t.Errorf("%s calls what the attacker names", name)
		}
	}
}

// harmlessStyle: a style sheet of ours is one that can be read, in which what an
// author wrote for a value is one.
func harmlessStyle(t *testing.T, name, text string) {
	lexer := css.NewLexer(parse.NewInputString(text))
	var open []css.TokenType
	for {
		kind, data := lexer.Next()
		switch kind {
		case css.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%s ends within brackets", name)
			}
			return
		case css.BadStringToken, css.BadURLToken:
			t.Errorf("%s has %s", name, data)
		case css.LeftBraceToken, css.LeftParenthesisToken, css.FunctionToken, css.LeftBracketToken:
			open = append(open, kind)
		case css.RightBraceToken, css.RightParenthesisToken, css.RightBracketToken:
			if len(open) == 0 || (open[len(open)-1] == css.LeftBraceToken) != (kind == css.RightBraceToken) {
				t.Errorf("%s has a bracket that closes nothing", name)
				return
			}
			open = open[:len(open)-1]
		case css.IdentToken:
			if string(data) == "x-evil" {
				t.Errorf("%s has a name of the attacker's", name)
			}
		}
	}
}

// unsafeElements are elements that a bundle has none of.
var unsafeElements = map[string]bool{
	"x-evil": true, "base": true, "applet": true, "frame": true, "frameset": true, "plaintext": true,
}

// addresses are attributes that name an address.
var addresses = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "cite": true, "data": true, "background": true,
	"xlink:href": true, "ping": true, "longdesc": true, "manifest": true,
}

// scheme is that of an address, as browsers read it, or nothing.
var scheme = regexp.MustCompile(`^([a-z][a-z0-9+.-]*):`)

func schemeOf(address string) string {
	address = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimLeftFunc(address, func(r rune) bool { return r <= ' ' }))
	if m := scheme.FindStringSubmatch(strings.ToLower(address)); m != nil {
		return m[1]
	}
	return ""
}

func harmlessPage(t *testing.T, name, text, bundle string) {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		if strings.Contains(err.Error(), "stack") {
			return // deeper than the parser goes
		}
		t.Errorf("%s: %v", name, err)
		return
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		at := make(map[string]string)
		for _, a := range n.Attr {
			key := strings.TrimPrefix(a.Namespace+":"+a.Key, ":")
			at[key] = a.Val
			if strings.HasPrefix(key, "on") || key == "srcdoc" || key == "x-evil" || key == "style" && strings.Contains(a.Val, "evil") {
				t.Errorf("%s: <%s> has %s=%q", name, n.Data, key, a.Val)
			}
			if addresses[key] {
				switch schemeOf(a.Val) {
				case "data":
					if strings.HasPrefix(strings.ToLower(a.Val), "data:image/") || n.Data == "link" && a.Val == "data:," {
						continue
					}
					fallthrough
				case "javascript", "vbscript", "file", "blob", "filesystem", "view-source":
					t.Errorf("%s: <%s> leads to %s=%q", name, n.Data, key, a.Val)
				}
			}
		}
		switch {
		case unsafeElements[n.Data]:
			t.Errorf("%s has <%s>", name, n.Data)
		case n.Data == "script" && at["type"] == "application/ld+json":
			if n.FirstChild == nil || !json.Valid([]byte(n.FirstChild.Data)) {
				t.Errorf("%s describes itself with what is not JSON", name)
			}
		case n.Data == "script" && name == "404.html" && at["src"] == "" && n.FirstChild != nil:
			// It can't load a file: who serves it knows no way to one.
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if !strings.Contains(bundle, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
				t.Errorf("%s has a script that its policy does not allow: %s", name, n.FirstChild.Data)
			}
		case n.Data == "script" && (at["src"] == "" || !strings.Contains(at["src"], "bindery/")):
			t.Errorf("%s has a script from %q: %v", name, at["src"], n.FirstChild)
		case n.Data == "meta" && strings.EqualFold(at["http-equiv"], "refresh"):
			_, to, _ := strings.Cut(strings.ToLower(at["content"]), "url=")
			if s := schemeOf(strings.Trim(to, ` '"`)); s != "" && s != "http" && s != "https" {
				t.Errorf("%s leads to %q", name, at["content"])
			}
		case n.Data == "style" && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "evil"):
			t.Errorf("%s has a style of the attacker: %s", name, around(n.FirstChild.Data, "evil"))
		}
	}
}
