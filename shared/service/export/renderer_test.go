package export

import (
	"regexp"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/buildid"
	"github.com/bindery-docs/bindery/tests/outside"
)

// A program in its checkout is the renderer that a build of the same sources is.
func TestRendererOfACheckoutAndOfABuild(t *testing.T) {
	here := Renderer()
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(here) {
		t.Fatalf("the renderer is %q", here)
	}
	digest, err := buildid.Digest(outside.Checkout(t), "shared/service/export")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sources = "" })
	if sources = digest; Renderer() != here {
		t.Errorf("a build of these sources is the renderer %q, and its checkout %q", Renderer(), here)
	}
	if sources = "0123456789abcdef"; Renderer() == here {
		t.Error("a build of other sources is the same renderer")
	}
}

// Without sources a program is told from others by its executable.
func TestExecutableDigest(t *testing.T) {
	if d := executable(); !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(d) || d != executable() {
		t.Errorf("%q, then %q", d, executable())
	}
}
