package preview

import (
	"bytes"
	"image/color"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// TestPictures holds pictures against golden files, byte for byte: a picture is
// the same wherever it is drawn. What the font lacks is not drawn as boxes.
func TestPictures(t *testing.T) {
	pen, err := NewPen()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Card{
		"light":     {Name: "Example", Domain: "docs.example.com", Section: "API reference", Color: "#0055aa"},
		"dark":      {Name: "Ελληνικά и кириллица", Domain: "docs.example.com", Color: "#fa0", Dark: true},
		"long":      {Name: strings.Repeat("A rather long name ", 20), Domain: strings.Repeat("d", 60) + ".bdy-example.com", Section: strings.Repeat("section ", 30), Color: "red"},
		"unwritten": {Name: "日本語ドキュメント", Domain: "docs.example.com", Section: "العربية", Color: "#0055aa"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := pen.Draw(c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := pen.Draw(c)
			if err != nil || !bytes.Equal(data, again) {
				t.Errorf("the second picture differs: %v", err)
			}
			pic, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if s := pic.Bounds().Size(); s.X != width || s.Y != height {
				t.Errorf("the size is %v", s)
			}
			if got, want := color.RGBAModel.Convert(pic.At(margin+1, height/2)), parse(c.Color); got != want {
				t.Errorf("the bar is %v, want %v", got, want)
			}
			golden.Same(t, filepath.Join("testdata", name+".png"), data)
		})
	}
}

// TestPath: a picture's name tells all that it shows.
func TestPath(t *testing.T) {
	base := Card{Name: "a", Domain: "b", Section: "c", Color: "d"}
	seen := map[string]Card{}
	for _, c := range []Card{
		base, {Name: "ab", Section: "c", Color: "d"}, {Name: "a", Domain: "b", Section: "cd"},
		{Name: "a", Domain: "b", Section: "c", Color: "d", Dark: true},
	} {
		if old, twice := seen[c.Path()]; twice {
			t.Errorf("%+v and %+v share %s", c, old, c.Path())
		}
		seen[c.Path()] = c
	}
	if again := base; again.Path() != base.Path() {
		t.Error("a path changed")
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("Example", "docs.example.com", "API", "#123456")
	f.Add(strings.Repeat("x", 500), "\xff\xfe", "a\x00b  c", "#12")
	pen, err := NewPen()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, domain, section, hex string) {
		data, err := pen.Draw(Card{Name: name, Domain: domain, Section: section, Color: hex})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzWrap: no line is wider than its place, and there are no more than asked.
func FuzzWrap(f *testing.F) {
	f.Add("one two three", 100, 2)
	pen, err := NewPen()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, width, most int) {
		if width < 0 || width > 2000 || most < 1 || most > 9 {
			return
		}
		lines := wrap(pen.low, plain(text), width, most)
		if len(lines) > most {
			t.Errorf("%d lines", len(lines))
		}
		for _, l := range lines {
			if font.MeasureString(pen.low, l) > fixed.I(width) {
				t.Errorf("%q is too wide", l)
			}
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	pen, err := NewPen()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := pen.Draw(Card{Name: "Example", Domain: "docs.example.com", Section: "API reference", Color: "#0055aa"}); err != nil {
			b.Fatal(err)
		}
	}
}
