package theme

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/theme/fonts"
)

// mathRange is what most formulas need; internal/fontgen prints it. A browser
// looks for larger forms of a sign in the file that the sign is in.
const mathRange = "U+20-7E,U+A0-FF,U+300-338,U+370-3FF,U+2010-2057,U+20D0-20EF,U+2100-214F,U+2190-22FF,U+2308-230B,U+2329-232A,U+23B0-23B5,U+23DC-23E1,U+27E6-27EF," +
	"U+1D400-1D4CF,U+1D504-1D56B,U+1D6A4-1D755,U+1D7CE-1D7E1"

// Math returns the files of pages with formulas: the style sheet that such a page
// loads comes first, then its fonts and their licence. Without a font that has a
// table of mathematics browsers draw no stretched bracket and hardly a root; a
// reader's machine may have none. It fails only if the embedded set can't be read.
func Math() ([]Asset, error) { return mathFiles() }

var mathFiles = sync.OnceValues(func() ([]Asset, error) {
	hashed := func(name string, data []byte) Asset {
		sum := sha256.Sum256(data)
		ext := path.Ext(name)
		return Asset{Path: "bindery/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext, Data: data}
	}
	licence, err := fonts.ReadMath("licence.txt")
	if err != nil {
		return nil, fmt.Errorf("theme: %w", err)
	}
	files := []Asset{{}, hashed("fonts/math-licence.txt", licence)}
	sheet := "/*! Font: SIL Open Font License 1.1, " + strings.TrimPrefix(files[1].Path, "bindery/") + " */\n"
	// The rest stands first: of two that have a character, the last one wins.
	for _, file := range [...]struct{ name, covers string }{{"math-more.woff2", ""}, {"math.woff2", ";unicode-range:" + mathRange}} {
		data, err := fonts.ReadMath(file.name)
		if err != nil {
			return nil, fmt.Errorf("theme: %w", err)
		}
		a := hashed("fonts/"+file.name, data)
		files = append(files, a)
		// What is read wrongly without it is shown with it alone.
		sheet += `@font-face{font-family:"Bindery Math";src:url(` + strings.TrimPrefix(a.Path, "bindery/") + `) format("woff2");font-display:block` + file.covers + "}\n"
	}
	rules, err := assets.ReadFile("assets/formulas.css")
	if err != nil {
		return nil, fmt.Errorf("theme: %w", err)
	}
	sheet += "@layer bindery{" + string(rules) + `math{font-family:"Bindery Math","STIX Two Math","Cambria Math","Latin Modern Math",math}}` + "\n"
	files[0] = hashed("math.css", []byte(sheet))
	return files, nil
})
