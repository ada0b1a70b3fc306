package fonts

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ ask, want string }{
		{"Inter", "Inter"},
		{"inter", "Inter"},
		{"Inter Variable", "Inter"},
		{"JetBrains Mono", "JetBrains Mono"},
		{"jetbrains-mono", "JetBrains Mono"},
		{"Source Sans Pro", "Source Sans 3"},
		{"Comic Sans MS", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got := ""
		if f, ok := s.Find(tt.ask); ok {
			got = f.Family
		}
		if got != tt.want {
			t.Errorf("Find(%q) = %q, want %q", tt.ask, got, tt.want)
		}
	}
}

// TestWidths : a few widths, those between two weights among them.
func TestWidths(t *testing.T) {
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		family string
		r      rune
		weight int
		want   int
		ok     bool
	}{
		{"Source Sans 3", 'i', 400, 246, true}, {"Source Sans 3", 'i', 700, 276, true}, {"Source Sans 3", 'i', 550, 261, true},
		{"JetBrains Mono", 'ß', 400, 600, true}, {"Inter", 'ж', 300, 0, true}, {"Source Sans 3", '日', 400, 0, false},
		{"Geist", 'α', 400, 0, false}, {"Source Sans 3", '\u0001', 400, 0, false},
	}
	for _, tt := range tests {
		f, _ := s.Find(tt.family)
		got, ok := s.Widths(f).Of(tt.r, tt.weight)
		if ok != tt.ok || tt.want > 0 && got != tt.want || ok && (got < 100 || got > 1500) {
			t.Errorf("%s: %q at %d is %d wide, %t, want %d, %t", tt.family, tt.r, tt.weight, got, ok, tt.want, tt.ok)
		}
	}
}

// The table, the files and the licences belong together, no file is heavy, and
// no name that a licence reserves is used for a changed font.
func TestTheSetIsWhole(t *testing.T) {
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, f := range s.Families() {
		if len(f.Files) == 0 || f.Files[0].Range == "" {
			t.Errorf("%s has no file", f.Family)
		}
		if (f.Fallback == nil) != (f.Kind == Mono) {
			t.Errorf("%s is %s: fallback %v", f.Family, f.Kind, f.Fallback)
		}
		if f.Fallback != nil {
			for _, m := range []Metrics{f.Fallback.Regular, f.Fallback.Bold} {
				if m.Size < 80 || m.Size > 120 || m.Ascent < 60 || m.Ascent > 130 || m.Descent < 10 || m.Descent > 50 {
					t.Errorf("%s: no likely metrics: %+v", f.Family, m)
				}
			}
		}
		stem, _, _ := strings.Cut(f.Files[0].Name, "-latin")
		licence, err := os.ReadFile(filepath.Join("licences", stem+".txt"))
		if err != nil || !bytes.Contains(licence, []byte("SIL OPEN FONT LICENSE")) {
			t.Errorf("%s: no licence (%v)", f.Family, err)
		}
		head, _, _ := strings.Cut(string(licence), "-----")
		if strings.Contains(strings.ToLower(head), "with reserved font name") && f.Name == f.Family {
			t.Errorf("%s is a reserved name", f.Family)
		}
		for _, file := range f.Files {
			listed[file.Name] = true
			b, err := Read(file.Name)
			if err != nil {
				t.Error(err)
				continue
			}
			if !bytes.HasPrefix(b, []byte("wOF2")) || len(b) > 40<<10 {
				t.Errorf("%s: %d bytes, begins with %q", file.Name, len(b), b[:4])
			}
		}
	}
	err = fs.WalkDir(files, "data", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !listed[d.Name()] {
			t.Errorf("%s is in no family", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
