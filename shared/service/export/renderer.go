package export

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/bindery-docs/bindery/shared/base/buildid"
)

// rendererVersion is raised by hand where two programs of the same code must
// not meet in one bundle all the same.
const rendererVersion = 1

// sources is the digest of what the steps are built from, put here by the build
// (-ldflags -X; see the Makefile). Without it a program looks at its checkout.
var sources string

// Renderer returns the digest that distinguishes this program's output from another's:
// 32 hexadecimal digits. A renderer is its code, its assets, its outside modules
// and the Go release that it was built with, and nothing else: not which of the
// steps' programs asks, nor how, where and from which commit it was built. So a
// bundle made here is the bundle made by a deployment, and a commit that changes
// no code changes no bundle.
//
// A program that was built without that digest, and is not in the checkout that
// it was built from, is a renderer of its own: "dev-" and the digest of its
// executable.
func Renderer() string {
	sum := sources
	if sum == "" {
		here, ok := buildid.Here("shared/service/export")
		if !ok {
			return "dev-" + executable()
		}
		sum = here
	}
	h := sha256.New()
	fmt.Fprintln(h, "renderer", rendererVersion, runtime.Version(), sum)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// executable returns the digest of this program's file. Where it cannot be read,
// the digits are random: a renderer that cannot be told from others agrees with
// none.
func executable() string {
	name, err := os.Executable()
	if err != nil {
		return rand.Text()
	}
	f, err := os.Open(name)
	if err != nil {
		return rand.Text()
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return rand.Text()
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
