package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/tests/outside"
)

// corpus opens one of the real sites that tests read, or skips.
func corpus(t testing.TB, name string) (fs.FS, *site.Site) {
	t.Helper()
	return open(t, os.DirFS(outside.Folder(t, "corpora", name)))
}

// open loads a site.
func open(t testing.TB, fsys fs.FS) (fs.FS, *site.Site) {
	t.Helper()
	var paths []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	s, _, err := site.Load(context.Background(), fsys, paths, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return fsys, s
}

// iconSet draws with the theme's icons.
type iconSet struct{ *icons.Set }

func (s iconSet) Icon(name, library, style string) (string, bool) { return s.SVG(name, library, style) }

// Every page of the real sites renders: tags nest, ids are unique, no handler
// and no root-absolute address is left, and the same page gives the same bytes.
func TestRealPagesRender(t *testing.T) {
	outside.Long(t, "renders three real sites")
	sites, _ := outside.Sites(t)
	for _, real := range sites {
		t.Run(real.Name, func(t *testing.T) {
			t.Parallel()
			fsys, s := open(t, os.DirFS(real.Dir))
			r := page.New(page.Options{Site: s, FS: fsys, Highlighter: highlight.New(highlight.Options{}), Icons: iconSet{icons.New()}})
			codes := map[string]int{}
			for i := range s.Pages {
				result, err := r.RenderReference(t.Context(), i, sliceOf(t, fsys, s, i))
				if err != nil {
					t.Fatal(err)
				}
				for _, fault := range checkHTML(result) {
					t.Errorf("%s: %s", s.Pages[i].Source, fault)
				}
				for _, d := range result.Diagnostics {
					if d.File == "" || d.Line == 0 || d.Message == "" {
						t.Errorf("%s: a diagnostic without a place or message: %+v", s.Pages[i].Source, d)
					}
					if codes[d.Code]++; testing.Verbose() && codes[d.Code] <= 8 {
						t.Log(d)
					}
				}
			}
			t.Logf("%d pages, diagnostics: %v", len(s.Pages), codes)
		})
	}
}

// The text that the reference parser reads is on the page, in order.
func TestReferenceText(t *testing.T) {
	outside.Long(t, "renders three real sites")
	annotation := regexp.MustCompile(`(//|#|--|/\*|<!--)?\[!code[^\]]*\](\*/|-->)?`)
	sites, _ := outside.Sites(t)
	for _, real := range sites {
		t.Run(real.Name, func(t *testing.T) {
			t.Parallel()
			fsys, s := open(t, os.DirFS(real.Dir))
			r := page.New(page.Options{Site: s, FS: fsys})
			index := map[string]int{}
			for i := range s.Pages {
				index[s.Pages[i].Source] = i
			}
			f, err := os.Open(real.Trees(t))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<26)
			pages, wanted, found := 0, 0, 0
			for lines.Scan() {
				var ref struct {
					Page string
					Tree []string
				}
				if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
					t.Fatal(err)
				}
				i, ok := index[ref.Page]
				if !ok {
					continue
				}
				pages++
				result, err := r.Render(t.Context(), i)
				if err != nil {
					t.Fatal(err)
				}
				text, at := words(result.HTML), 0
				for _, token := range forPeople(ref.Tree) {
					var want string
					switch {
					case strings.HasPrefix(token, "T:"):
						want = squeeze(token[2:])
					case strings.HasPrefix(token, "`"):
						want = squeeze(token[1:])
					case strings.HasPrefix(token, "code:"):
						// The words behind the fence may hold colons too: the
						// code begins behind the one that makes it found.
						for rest := token[len("code:"):]; ; {
							_, after, more := strings.Cut(rest, ":")
							if !more {
								break
							}
							if rest = after; want == "" || strings.Contains(text, annotation.ReplaceAllString(squeeze(after), "")) {
								want = annotation.ReplaceAllString(squeeze(after), "")
								if strings.Contains(text, want) {
									break
								}
							}
						}
					}
					if want == "" {
						continue
					}
					wanted += len(want)
					if p := strings.Index(text[at:], want); p >= 0 {
						at += p + len(want)
						found += len(want)
					} else {
						t.Logf("%s: not on the page, or not in order: %.80s", ref.Page, want)
					}
				}
			}
			if wanted == 0 {
				t.Fatal("nothing was compared")
			}
			share := float64(found) / float64(wanted)
			t.Logf("%d pages, %d bytes of text, %.5f of it on the pages", pages, wanted, share)
			if share < 0.999 {
				t.Errorf("only %.5f of the reference's text is on the pages", share)
			}
		})
	}
}

// forPeople returns a tree of the reference parser without what is for agents
// alone (<Visibility for="agents">).
func forPeople(tree []string) (kept []string) {
	skip := 0
	for _, token := range tree {
		opens := strings.HasPrefix(token, "<") || strings.HasPrefix(token, "a:") ||
			slices.Contains([]string{"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "bq", "em1", "em2", "del", "table", "tr", "td"}, token)
		switch {
		case skip > 0 && opens:
			skip++
		case skip > 0 && token == "/":
			skip--
		case skip > 0:
		case strings.HasPrefix(token, "<Visibility") && strings.Contains(token, "for=agents"):
			skip = 1
		default:
			kept = append(kept, token)
		}
	}
	return kept
}

// Links to headings find them: what the real sites' authors link to is what
// ids are made for.
func TestFragments(t *testing.T) {
	outside.Long(t, "renders three real sites")
	links, broken := 0, 0
	for _, name := range []string{"mcp", "novu", "trigger"} {
		fsys, s := corpus(t, name)
		r := page.New(page.Options{Site: s, FS: fsys})
		ids := make([]map[string]bool, len(s.Pages))
		var refs []page.Ref
		for i := range s.Pages {
			result, err := r.Render(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = map[string]bool{}
			for _, id := range result.IDs {
				ids[i][id] = true
			}
			refs = append(refs, result.Links...)
		}
		for _, ref := range refs {
			if ref.Page < 0 || ref.Fragment == "" {
				continue
			}
			links++
			if !ids[ref.Page][ref.Fragment] {
				broken++
				t.Logf("%s:%d: %s", ref.File, ref.Line, ref.Raw)
			}
		}
	}
	t.Logf("%d of %d links to a place on a page find it", links-broken, links)
	// Those that remain name headings that their sites do not have.
	if links == 0 || float64(broken) > 0.012*float64(links) {
		t.Errorf("%d of %d links to a place on a page do not find it", broken, links)
	}
}

func BenchmarkRender(b *testing.B) {
	fsys, s := corpus(b, "trigger")
	var size int64
	for i := range s.Pages {
		size += s.Pages[i].Size
	}
	memory := sources{fsys, map[string][]byte{}}
	for _, withCode := range []bool{false, true} {
		name := "plain"
		o := page.Options{Site: s, FS: memory, Icons: iconSet{icons.New()}}
		if withCode {
			name = "highlighted"
			o.Highlighter = highlight.New(highlight.Options{})
		}
		r := page.New(o)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size / int64(len(s.Pages)))
			for i := 0; i < b.N; i++ {
				if _, err := r.Render(b.Context(), i%len(s.Pages)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("parse", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			p := &s.Pages[i%len(s.Pages)]
			src, _ := memory.ReadFile(p.Source)
			f, _ := mdx.Parse(src, mdx.Options{})
			mdx.Unravel(f.Root)
		}
	})
}

// sources keeps files in memory: benchmarks are about rendering.
type sources struct {
	fs.FS
	files map[string][]byte
}

func (s sources) ReadFile(name string) ([]byte, error) {
	if b, ok := s.files[name]; ok {
		return b, nil
	}
	b, err := fs.ReadFile(s.FS, name)
	s.files[name] = b
	return b, err
}
