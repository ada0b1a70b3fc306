package export

import (
	"crypto/sha256"
	_ "embed" // for renderer.sum
	"encoding/hex"
	"fmt"
	"runtime"
)

// rendererVersion is raised by hand where two programs of the same code must
// not meet in one bundle all the same.
const rendererVersion = 1

// rendererSum has a line for each package of ours that the steps are made of,
// with a digest of its code and assets, and one for each outside module, with
// its version. A test holds it against the code; -update writes it anew.
//
//go:embed renderer.sum
var rendererSum string

// Renderer is the digest that tells this program's output from another's. A
// renderer is its code, assets, outside modules and the Go release that it was
// built with, and nothing else: not which of the steps' programs asks, nor how,
// where and from which commit it was built. So a bundle made here is the bundle
// made by a deployment, and a commit that changes no code changes no bundle.
func Renderer() string {
	h := sha256.New()
	fmt.Fprintln(h, "renderer", rendererVersion, runtime.Version())
	fmt.Fprint(h, rendererSum)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
