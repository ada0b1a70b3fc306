package icons_test

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/tests/outside"
)

func TestNamesAsPeopleWriteThem(t *testing.T) {
	s := icons.New()
	tests := []struct {
		why                        string
		name, library, style       string
		sameAs, asLibrary, asStyle string
	}{
		{"case does not matter", "GitHub", "", "", "github", "fontawesome", "brands"},
		{"the class names of Font Awesome", "fa-solid fa-book", "", "", "book", "fontawesome", "solid"},
		{"a class name says the style", "far fa-bell", "", "", "bell", "fontawesome", "regular"},
		{"a name of version 4", "area-chart", "", "", "chart-area", "fontawesome", "solid"},
		{"a name of version 5", "home", "fontawesome", "", "house", "fontawesome", "solid"},
		{"brands need no style", "python", "", "", "python", "fontawesome", "brands"},
		{"a style that only Pro has", "book", "", "duotone", "book", "fontawesome", "solid"},
		{"the name of a React component", "MessageCircle", "lucide", "", "message-circle", "lucide", ""},
		{"the name of a React component with a digit", "Building2", "lucide", "", "building-2", "lucide", ""},
		{"a name that Lucide changed", "alert-triangle", "lucide", "", "triangle-alert", "lucide", ""},
		{"brands that Lucide no longer draws", "discord", "lucide", "", "discord", "fontawesome", "brands"},
		{"a prefix for the library", "lucide:zap", "", "", "zap", "lucide", ""},
		{"Tabler's filled names", "heart-filled", "tabler", "", "heart", "tabler", "filled"},
		{"a name of Pro with a free stand-in", "wave-pulse", "", "", "activity", "lucide", ""},
		{"a letter in a square", "square-k", "", "", "square-letter-k", "tabler", ""},
		{"a digit in a circle", "circle-1", "", "", "circle-number-1", "tabler", ""},
		{"a variant that only Pro has", "book-duotone", "", "", "book", "fontawesome", "solid"},
		{"an unknown library is the default", "book", "streamline", "", "book", "fontawesome", "solid"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, ok := s.SVG(tt.name, tt.library, tt.style)
			want, wantOK := s.SVG(tt.sameAs, tt.asLibrary, tt.asStyle)
			if !ok || !wantOK {
				t.Fatalf("%q drawn: %v; %q drawn: %v", tt.name, ok, tt.sameAs, wantOK)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q is not drawn as %q (-want +got):\n%s", tt.name, tt.sameAs, diff)
			}
		})
	}
}

func TestTheLibraryThatIsAskedForComesFirst(t *testing.T) {
	s := icons.New()
	seen := map[string]string{}
	for _, lib := range []string{icons.FontAwesome, icons.Lucide, icons.Tabler} {
		svg, ok := s.SVG("book", lib, "")
		if !ok {
			t.Fatalf("%s has no book", lib)
		}
		if other, dup := seen[svg]; dup {
			t.Errorf("%s draws the book of %s", lib, other)
		}
		seen[svg] = lib
	}
}

// Names of Font Awesome Pro have the nearest free icon, by the table or by their words;
// a slip of the pen is none of them.
func TestNamesOfPro(t *testing.T) {
	s := icons.New()
	for name, want := range map[string]string{
		"arrow-progress": "lucide:workflow", "rocket-launch": "rocket", "party-horn": "champagne-glasses", "paper-plane-top": "paper-plane",
		"user-magnifying-glass": "magnifying-glass", "chart-line-up": "arrow-trend-up", "sliders-up": "sliders", "signal-stream": "tower-broadcast",
		"elephant": "paw", "llama": "lucide:brain-circuit", "fa-solid fa-rocket-launch": "rocket",
		// By their words alone.
		"envelope-gear": "envelope", "plug-check": "plug", "database-magnifying-glass": "database",
	} {
		want, _ := s.SVG(want, "", "solid")
		if got, ok := s.SVG(name, "", ""); !ok || got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"rocket-lunch", "rockett", "vercel", "not-an-icon", "user-magnifing-glass", "circle-chek", "text-amber-600"} {
		if got, ok := s.SVG(name, "", ""); ok || s.Pro(name) {
			t.Errorf("%s is %q; it may be one of Pro: %v", name, got, s.Pro(name))
		}
	}
	if !s.Pro("lightning-bolt") {
		t.Error("lightning-bolt has words of Font Awesome")
	}
}

// Each name of the table has an icon that there is.
func TestTableOfPro(t *testing.T) {
	s := icons.New()
	for name, to := range icons.ProNames() {
		if to == "" {
			continue
		}
		if _, ok := s.SVG(to, "", ""); !ok {
			t.Errorf("%s stands for %s, which there is not", to, name)
		}
	}
}

func TestUnknownNamesAreNotDrawn(t *testing.T) {
	s := icons.New()
	for _, name := range []string{"", " ", "no-such-icon-at-all", "=book", "book:solid:solid", strings.Repeat("a", 1000), "\x00", "../book"} {
		if svg, ok := s.SVG(name, "", ""); ok {
			t.Errorf("%q is drawn: %s", name, svg)
		}
	}
}

func TestDrawingsAreInlineSVGWithoutReferences(t *testing.T) {
	s := icons.New()
	for _, name := range []string{"book", "github", "house", "activity", "circle-number-1", "database", "a-b-2"} {
		for _, lib := range []string{icons.FontAwesome, icons.Lucide, icons.Tabler} {
			svg, ok := s.SVG(name, lib, "")
			if !ok {
				t.Fatalf("%s: not drawn", name)
			}
			if !strings.HasPrefix(svg, `<svg class="icon bdy-icon" viewBox="`) || !strings.Contains(svg, `aria-hidden="true"`) || !strings.Contains(svg, "currentColor") {
				t.Errorf("%s of %s: %s", name, lib, svg)
			}
			if strings.Contains(svg, "href") || strings.Contains(svg, "<style") || strings.Contains(svg, " id=") {
				t.Errorf("%s of %s refers to something: %s", name, lib, svg)
			}
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s of %s is not well-formed: %v", name, lib, err)
				}
			}
		}
	}
}

func TestEveryEmbeddedEntryCanBeDrawn(t *testing.T) {
	total := 0
	for _, lib := range []struct {
		name string
		min  int // no fewer names than when the files were made
	}{{"fontawesome", 3000}, {"lucide", 2100}, {"tabler", 6200}} {
		file, err := os.ReadFile("data/" + lib.name + ".bin")
		if err != nil {
			t.Fatal(err)
		}
		if total += len(file); len(file) > 2<<20 {
			t.Errorf("%s: %d bytes, more than 2 MiB", lib.name, len(file))
		}
		entries, err := icons.Entries(file)
		if err != nil {
			t.Fatalf("%s: %v", lib.name, err)
		}
		if len(entries) < lib.min {
			t.Errorf("%s: %d names, want at least %d", lib.name, len(entries), lib.min)
		}
		for name, entry := range entries {
			if to, ok := strings.CutPrefix(entry, "="); ok {
				if e, ok := entries[to]; !ok || strings.HasPrefix(e, "=") {
					t.Errorf("%s: %s leads to %s, which is no drawing", lib.name, name, to)
				}
				continue
			}
			if icons.Draw(entry) == "" {
				t.Errorf("%s: %s is not drawn", lib.name, name)
			}
		}
	}
	if total > 3<<20 {
		t.Errorf("the libraries are %d bytes, more than 3 MiB", total)
	}
}

func TestEveryStandInExists(t *testing.T) {
	s := icons.New()
	for name := range icons.Aliases {
		if _, ok := s.SVG(name, "", ""); !ok {
			t.Errorf("%s is not drawn", name)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	s := icons.New()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for _, name := range []string{"book", "zap", "github", "none", "circle-1"} {
				_, ok := s.SVG(name, []string{"", "lucide", "tabler"}[i%3], "")
				if ok == (name == "none") {
					t.Errorf("%s: drawn is %v", name, ok)
				}
			}
		})
	}
	wg.Wait()
}

// knownMissing are the names in the corpora that stand for no icon.
var knownMissing = []string{}

func TestIconsOfTheCorpora(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	corpora := outside.Folder(t, "corpora")
	use := regexp.MustCompile(`(?m)(?:\bicon=|^icon: *|"icon": *)["']?([A-Za-z0-9][A-Za-z0-9 _-]*)`)
	names := map[string]string{}
	err := filepath.WalkDir(corpora, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !(strings.HasSuffix(path, ".mdx") || d.Name() == "docs.json") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range use.FindAllStringSubmatch(string(src), -1) {
			names[strings.TrimSpace(m[1])] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Fatalf("found %d names: the search is broken", len(names))
	}
	s := icons.New()
	var missing []string
	for name := range names {
		if _, ok := s.SVG(name, "", ""); !ok {
			missing = append(missing, name)
		}
	}
	sort.Strings(missing)
	for _, m := range missing {
		if !slices.Contains(knownMissing, m) {
			t.Errorf("%q (%s) is not drawn and not known to be missing", m, names[m])
		}
	}
	for _, k := range knownMissing {
		if !slices.Contains(missing, k) {
			t.Errorf("%q is listed as missing but drawn or not used", k)
		}
	}
}

func FuzzSVG(f *testing.F) {
	for _, n := range []string{"book", "GitHub", "fa-solid fa-book", "circle-1", "a:b", "\xff", `"><script>`} {
		f.Add(n, "lucide", "solid")
	}
	s := icons.New()
	f.Fuzz(func(t *testing.T, name, library, style string) {
		svg, ok := s.SVG(name, library, style)
		if ok != strings.HasPrefix(svg, "<svg ") {
			t.Errorf("%q: %v, %q", name, ok, svg)
		}
	})
}

func FuzzEntries(f *testing.F) {
	file, err := os.ReadFile("data/lucide.bin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file[:2000])
	f.Add([]byte{})
	f.Add([]byte{1, 1, 'a', 200})
	f.Fuzz(func(t *testing.T, b []byte) {
		// Damaged bytes give an error or fewer names, never a panic.
		_, _ = icons.Entries(b)
	})
}

func BenchmarkSVG(b *testing.B) {
	s := icons.New()
	for b.Loop() {
		s.SVG("book-open", "lucide", "")
	}
}

// A process that shows one icon: what the first look costs.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		icons.New().SVG("book-open", "lucide", "")
	}
}
