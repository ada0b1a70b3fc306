package admin_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func TestNormalBasePath(t *testing.T) {
	for path, want := range map[string]string{"": "", "/": "", " /handbook/ ": "handbook", "docs/v2.1": "docs/v2.1", "a~b_c": "a~b_c"} {
		if got, err := admin.NormalBasePath(path); got != want || err != nil {
			t.Errorf("%q is %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"a//b", "a/../b", ".", "a b", "a?b", "a%20b", "a/<b>", strings.Repeat("a", 201)} {
		if _, err := admin.NormalBasePath(path); admin.CodeOf(err) != admin.CodeInvalid {
			t.Errorf("%q: %v", path, err)
		}
	}
}
