package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"

	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/highlight"
	"github.com/bindery-docs/bindery/shared/theme"
)

// rendererVersion is raised by hand with every change that changes bundles and
// that neither the build nor the assets show.
const rendererVersion = 1

// Renderer is the digest that tells this program's output from another's: the
// revision that it was built from, and the styles and scripts in it. It does
// not depend on which of the steps' programs asks.
func Renderer() string {
	h := sha256.New()
	fmt.Fprintln(h, "renderer", rendererVersion)
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, info.GoVersion, info.Main.Version, info.Main.Sum)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				fmt.Fprintln(h, s.Key, s.Value)
			}
		}
	}
	fmt.Fprintln(h, component.CSS(), component.JS(), highlight.CSS())
	if t, err := theme.New(theme.Config{}); err == nil {
		for _, a := range t.Assets() {
			fmt.Fprintln(h, a.Path)
			h.Write(a.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
