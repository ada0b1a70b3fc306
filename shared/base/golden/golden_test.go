package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that notes what fails.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func TestSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.golden")
	Write(t, file, []byte("one\ntwo\n"))
	for _, c := range []struct {
		name, file, got, says string
	}{
		{"the same", file, "one\ntwo\n", ""},
		{"another line", file, "one\nthree\n", `+ 	"three",`},
		{"no text", file, "\xff", "1 bytes, want 8"},
		{"no file", file + "x", "", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{TB: t}
			Same(r, c.file, []byte(c.got))
			said := strings.ReplaceAll(strings.Join(r.failed, "\n"), "\u00a0", " ")
			if (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
	*update = true
	defer func() { *update = false }()
	Same(t, file, []byte("new"))
	if b, err := os.ReadFile(file); err != nil || string(b) != "new" {
		t.Errorf("after -update it holds %q, %v", b, err)
	}
}
