package dashboard

import (
	"regexp"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Every name becomes one that an attachment may have.
func FuzzAttachedName(f *testing.F) {
	for name, want := range map[string]string{
		"notes.md": "notes.md", "Screenshot 2026-03-14 at 9.00.00\u202fAM (1).png": "Screenshot 2026-03-14 at 9.00.00 AM (1).png",
		".env": "_env", " a": "_a", "größe\n.md": "gr__e .md", "\xff": "_",
	} {
		if got := attachedName(name); got != want {
			f.Errorf("%q is %q, want %q", name, got, want)
		}
		f.Add(name)
	}
	form := regexp.MustCompile(admin.AttachmentPattern)
	f.Fuzz(func(t *testing.T, name string) {
		if got := attachedName(name); name != "" && !form.MatchString(got) {
			t.Errorf("%q is %q", name, got)
		} else if attachedName(got) != got {
			t.Errorf("%q changes again", got)
		}
	})
}
