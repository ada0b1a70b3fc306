package theme

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/theme/fonts"
)

// Font is a font of a site: a family of the bundled set (package fonts), one
// that the reader has or that the site's own styles load, or one whose file is
// in the bundle.
type Font struct {
	Family string
	// Weight is the value of font-weight for this use; empty leaves the
	// theme's.
	Weight string
	// Source is a path from the bundle's root, or an absolute address.
	Source string
	// Format is the font file's format, such as "woff2".
	Format string
}

// Fonts of a site. Body also serves headings when Heading has no family. A
// site that names none gets the theme's: a sans for text, a serif for
// headings, one for code.
type Fonts struct{ Body, Heading Font }

// What follows every family.
const (
	sansStack  = `system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif,"Apple Color Emoji","Segoe UI Emoji"`
	serifStack = `Charter,"Bitstream Charter",Cambria,Georgia,serif`
	monoStack  = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`
)

// The theme's own families.
const (
	ownSans  = "Source Sans 3"
	ownSerif = "Source Serif 4"
	ownMono  = "Source Code Pro"
)

// display leaves a font that comes after the first paint out until the next
// page: no stand-in is as wide in every line as the font, on whatever fonts a
// reader's machine has, so that a change would move what is being read. boot.js
// decides when pages ask for fonts.
const display = "optional"

// folderSheet is what pages in a folder load besides: fonts that they wait for.
// The rules win over those of the theme, which stand in a layer.
func (t *typefaces) folderSheet() string {
	return strings.ReplaceAll(t.rules.String(), "font-display:"+display, "font-display:block")
}

// western is what a stand-in may show: for other scripts the system's own fonts
// are right, not a scaled one.
const western = "U+0-24F,U+2B0-52F,U+1E00-20CF,U+2122,U+2190-22FF"

// typefaces collects the @font-face rules, files and stacks of a site.
type typefaces struct {
	set   *fonts.Set
	rules strings.Builder // of fonts with an address
	local strings.Builder // of stand-ins
	files []Asset
	used  []*fonts.Family // in the order of their first use
	done  map[string]bool
	// early are the files that text and titles are set in at first, as
	// addresses from the folder of the sheet.
	early []string
	// loaded are the families that have a file, as CSS strings; fitted is false if
	// nothing stands in for one of them with the same widths.
	loaded []string
	fitted bool

	sans, heading, mono stack
	ownBody             bool // text is set in the theme's own family
}

// stack is a value of font-family: a family that has a file, as a CSS string, then
// what stands in for it. The first is empty for a family without a file.
type stack struct{ loaded, standIn string }

// full is the value once the family may be shown.
func (s stack) full() string {
	if s.loaded == "" {
		return s.standIn
	}
	return s.loaded + "," + s.standIn
}

// variables are the custom properties of the three uses.
func (t *typefaces) variables(value func(stack) string) string {
	heading := "var(--font-sans)"
	if t.heading != (stack{}) {
		heading = value(t.heading)
	}
	return "--font-sans:" + value(t.sans) + ";--font-heading:" + heading + ";--font-mono:" + value(t.mono) + ";"
}

// newTypefaces decides the fonts of a site. Files of the bundled set go into
// the bundle only when the site uses them. boot.js decides when a page asks for
// them.
func newTypefaces(cfg *Config) (*typefaces, error) {
	set, err := fonts.Open()
	if err != nil {
		return nil, fmt.Errorf("theme: %w", err)
	}
	t := &typefaces{set: set, done: map[string]bool{}, fitted: true}
	body, heading := cfg.Fonts.Body, cfg.Fonts.Heading
	t.ownBody = body.Family == ""
	if t.ownBody {
		body.Family = ownSans
	}
	if t.sans, err = t.stack(body, sansStack, true); err != nil {
		return nil, err
	}
	switch {
	case heading.Family != "" && heading != body:
		t.heading, err = t.stack(heading, sansStack, false)
	case t.ownBody:
		t.heading, err = t.stack(Font{Family: ownSerif}, serifStack, false)
	}
	if err != nil {
		return nil, err
	}
	early := t.early
	t.mono, err = t.stack(Font{Family: ownMono}, monoStack, false)
	t.early = early // code is further down
	return t, err
}

// stack makes a family available and returns its value of font-family.
func (t *typefaces) stack(f Font, fallback string, italics bool) (stack, error) {
	switch strings.ToLower(f.Family) {
	case "system", "system-ui", "sans-serif", "-apple-system":
		return stack{standIn: sansStack}, nil
	case "serif", "ui-serif":
		return stack{standIn: serifStack}, nil
	}
	if f.Source != "" {
		t.face(f)
		t.fitted = false
		return t.load(f.Family, fallback), nil
	}
	family, ok := t.set.Find(f.Family)
	if !ok {
		return stack{standIn: cssString(f.Family) + "," + fallback}, nil
	}
	if family.Kind == fonts.Serif {
		fallback = serifStack
	}
	if err := t.bundled(family, italics); err != nil {
		return stack{}, err
	}
	if family.Fallback != nil {
		fallback = cssString(family.Name+" Fallback") + "," + fallback
	}
	return t.load(family.Name, fallback), nil
}

// load notes a family that has a file.
func (t *typefaces) load(family, standIn string) stack {
	s := stack{cssString(family), standIn}
	if !slices.Contains(t.loaded, s.loaded) {
		t.loaded = append(t.loaded, s.loaded)
	}
	return s
}

// HasFont reports whether a bundle can show a family that comes without a file.
// Its errors are faults of our own.
func HasFont(family string) (bool, error) {
	switch strings.ToLower(family) {
	case "", "system", "system-ui", "sans-serif", "-apple-system", "serif", "ui-serif":
		return true, nil
	}
	set, err := fonts.Open()
	if err != nil {
		return false, fmt.Errorf("theme: %w", err)
	}
	_, ok := set.Find(family)
	return ok, nil
}

// face loads a file of the site's own.
func (t *typefaces) face(f Font) {
	if t.done[f.Family+"\x00"+f.Source] {
		return
	}
	t.done[f.Family+"\x00"+f.Source] = true
	src := html.Safe(f.Source)
	if !isAbsolute(src) {
		src = "../" + strings.TrimLeft(src, "/") // the sheet lies in bindery/
		t.early = append(t.early, src)
	}
	t.rules.WriteString("@font-face{font-family:" + cssString(f.Family) + ";src:url(" + cssString(src) + ")")
	if f.Format != "" {
		t.rules.WriteString(" format(" + cssString(f.Format) + ")")
	}
	t.rules.WriteString(";font-display:" + display + ";font-weight:100 900}")
}

// bundled adds the files of a family of the set, and its stand-in.
func (t *typefaces) bundled(f *fonts.Family, italics bool) error {
	if !slices.Contains(t.used, f) {
		t.used = append(t.used, f)
	}
	for _, file := range f.Files {
		if file.Style == "italic" && !italics || t.done[file.Name] {
			continue
		}
		t.done[file.Name] = true
		data, err := fonts.Read(file.Name)
		if err != nil {
			return fmt.Errorf("theme: %w", err)
		}
		sum := sha256.Sum256(data)
		name := "fonts/" + strings.TrimSuffix(file.Name, ".woff2") + "." + hex.EncodeToString(sum[:6]) + ".woff2"
		t.files = append(t.files, Asset{Path: "bindery/" + name, Data: data})
		if len(t.early) < 2 && strings.HasSuffix(file.Name, "-latin.woff2") {
			t.early = append(t.early, name)
		}
		t.rules.WriteString("@font-face{font-family:" + cssString(f.Name) + ";src:url(" + name + ") format(\"woff2\");font-display:" + display + ";font-weight:" +
			fonts.Weights + ";font-style:" + file.Style + ";unicode-range:" + file.Range + "}")
	}
	key := f.Name + " Fallback"
	if fb := f.Fallback; fb != nil && !t.done[key] {
		t.done[key] = true
		regular := `local("Arial"),local("Liberation Sans"),local("Arimo"),local("Arimo Regular"),local("Helvetica")`
		bold := `local("Arial Bold"),local("Liberation Sans Bold"),local("Arimo Bold"),local("Helvetica Bold")`
		if f.Kind == fonts.Serif {
			regular = `local("Times New Roman"),local("Liberation Serif"),local("Tinos"),local("Tinos Regular"),local("Times")`
			bold = `local("Times New Roman Bold"),local("Liberation Serif Bold"),local("Tinos Bold"),local("Times Bold")`
		}
		t.standIn(key, regular, "100 549", fb.Regular)
		t.standIn(key, bold, "550 900", fb.Bold)
	}
	return nil
}

// standIn is a font of the reader's system, scaled by m, for the weights of a
// family that is not loaded yet.
func (t *typefaces) standIn(family, local, weights string, m fonts.Metrics) {
	percent := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) + "%" }
	t.local.WriteString("@font-face{font-family:" + cssString(family) + ";src:" + local + ";font-weight:" + weights + ";size-adjust:" + percent(m.Size) +
		";ascent-override:" + percent(m.Ascent) + ";descent-override:" + percent(m.Descent) + ";line-gap-override:" + percent(m.LineGap) +
		";unicode-range:" + western + "}")
}

func cssString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == '<' || r == 0x7f:
			// Nothing that could end the string or a <style> element.
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fontWeight passes only what can be a weight.
func fontWeight(w string) string {
	if w == "" || len(w) > 4 {
		return ""
	}
	for i := 0; i < len(w); i++ {
		if w[i] < '0' || w[i] > '9' {
			return ""
		}
	}
	return w
}
