package job

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestCarriesNoRenderer: programs that only look after exports link neither the
// renderer nor its JavaScript engine. What Fail, Reconcile and Sweep do is
// tested in package export, where there are exports to look after.
func TestCarriesNoRenderer(t *testing.T) {
	outside.Long(t, "asks the go command")
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"/shared/render/page", "/shared/render/script", "/shared/render/theme", "/shared/render/highlight", "dop251/goja"} {
			if strings.HasSuffix(dep, heavy) {
				t.Errorf("it links %s", dep)
			}
		}
	}
}

// TestCoded: an error of a port gets a code, and keeps one that it has.
func TestCoded(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"of a port", errors.New("connection reset"), admin.CodeTemporary},
		{"of a digest", store.ErrDigest, admin.CodeInconsistent},
		{"with a code", admin.Errorf(admin.CodeSiteTooLarge, "too large"), admin.CodeSiteTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Coded(tt.err)
			if got := admin.CodeOf(err); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("the code is %s, want %s, of %v", got, tt.want, err)
			}
		})
	}
}

// TestMessages: every code that a step may end with has words of ours.
func TestMessages(t *testing.T) {
	for _, code := range []string{
		admin.CodeInvalidSite, admin.CodeRendererChanged, admin.CodeSiteTooLarge,
		admin.CodeInconsistent, admin.CodeTemporary, admin.CodeInternal,
	} {
		if Message(code) == "" {
			t.Errorf("%s has no message", code)
		}
	}
	if Message("States.Timeout") != "" {
		t.Error("a code that is not ours has a message")
	}
}
