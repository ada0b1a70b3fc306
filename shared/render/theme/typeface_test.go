package theme

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestFontsOfASite(t *testing.T) {
	tests := []struct {
		name  string
		fonts Fonts
		want  []string // in the sheet
		not   []string
	}{
		{"none: the theme's own", Fonts{},
			[]string{`:root{`, `--font-sans:"Bindery Sans Fallback",system-ui`, `:root:is(.bdy-fonts,:not(.bdy-js)){--font-sans:"Bindery Sans","Bindery Sans Fallback",system-ui`, `--font-heading:"Bindery Serif",`, `--font-mono:"Bindery Code",`,
				`"Bindery Sans Fallback";src:local("Arial"),local("Liberation Sans"),local("Arimo"),local("Arimo Regular"),local("Helvetica");font-weight:100 549;size-adjust:92.85%`,
				`"Bindery Serif Fallback";src:local("Times New Roman Bold"),local("Liberation Serif Bold"),local("Tinos Bold"),local("Times Bold");font-weight:550 900;size-adjust:112.85%`}, []string{"--root:100%"}},
		{"one of the set", Fonts{Body: Font{Family: "inter"}},
			[]string{`--font-sans:"Inter","Inter Fallback",`, `--font-heading:var(--font-sans)`, "--root:100%"}, []string{"Bindery Serif", "Bindery Sans"}},
		{"headings alone", Fonts{Heading: Font{Family: "Space Grotesk", Weight: "600"}},
			[]string{`--font-sans:"Bindery Sans",`, `--font-heading:"Space Grotesk",`, "--weight-heading:600"}, []string{"Bindery Serif"}},
		{"a file of the site", Fonts{Body: Font{Family: "Acme", Source: "/fonts/acme.woff2", Format: "woff2", Weight: "450"}},
			[]string{`url("../fonts/acme.woff2") format("woff2")`, "--weight-body:450", `--font-sans:"Acme",system-ui`}, nil},
		{"one that nobody has", Fonts{Body: Font{Family: "Nowhere"}}, []string{`--font-sans:"Nowhere",system-ui`}, []string{`font-family:"Nowhere"`}},
		{"the system's", Fonts{Body: Font{Family: "system-ui"}}, []string{"--font-sans:system-ui,"}, []string{"Bindery Sans"}},
		{"hostile", Fonts{Body: Font{Family: `Inter"; } body{display:none`}, Heading: Font{Family: "Lora", Weight: "bold;x"}},
			[]string{`--font-heading:"Lora",`}, []string{`Inter";`, "bold;x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{Fonts: tt.fonts}
			faces, err := newTypefaces(&cfg)
			if err != nil {
				t.Fatal(err)
			}
			css := faces.rules.String() + faces.local.String() + tokensCSS(&cfg, faces)
			for _, want := range tt.want {
				if !strings.Contains(css, want) {
					t.Errorf("%s is missing in %s", want, css)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(css, not) {
					t.Errorf("%s is in %s", not, css)
				}
			}
		})
	}
}

// Each file that the sheet names is in the bundle, and the other way round.
func TestFontFilesAreThoseOfTheSheet(t *testing.T) {
	th := newTheme(t, Config{Fonts: Fonts{Body: Font{Family: "Inter"}, Heading: Font{Family: "Source Serif 4"}}})
	files, named := map[string]bool{}, map[string]bool{}
	var sheet, licences []byte
	var name string
	for _, a := range th.Assets() {
		switch path.Ext(a.Path) {
		case ".woff2":
			files[a.Path] = true
		case ".css":
			if strings.Contains(a.Path, "/theme.") {
				sheet = a.Data
			}
		case ".txt":
			licences, name = a.Data, path.Base(a.Path)
		}
	}
	// The licences ask to go wherever the fonts and icons go.
	for _, owner := range []string{"Inter Project Authors", "Adobe", "Fonticons", "Lucide Icons and Contributors", "Paweł Kuna"} {
		if !bytes.Contains(licences, []byte(owner)) {
			t.Errorf("the licences do not name %s", owner)
		}
	}
	if bytes.Contains(licences, []byte("DM Sans")) {
		t.Error("a licence of a font that is not there")
	}
	if !bytes.Contains(sheet, []byte(name)) {
		t.Errorf("the sheet does not name %s", name)
	}
	for _, m := range regexp.MustCompile(`url\(([^)]+)\)`).FindAllSubmatch(sheet, -1) {
		named["bindery/"+string(bytes.Trim(m[1], `"`))] = true
	}
	if len(files) == 0 || len(files) != len(named) {
		t.Fatalf("%d files, %d named", len(files), len(named))
	}
	for f := range named {
		if !files[f] {
			t.Errorf("%s is not in the bundle", f)
		}
	}
}
