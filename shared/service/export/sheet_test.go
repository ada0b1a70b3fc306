package export

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// A site's own style sheet finds its files wherever the bundle lies: the
// addresses in it are relative, however they are written, and all else in it
// stays.
func TestAddressesInASiteOwnStyleSheet(t *testing.T) {
	w := newWorld(t)
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	w.publish(t, fstest.MapFS{
		"docs.json":        file(`{"name":"S","colors":{"primary":"#0055aa"},"navigation":{"pages":["index"]}}`),
		"index.mdx":        file("---\ntitle: T\n---\n\nText.\n"),
		"img/c.png":        file("\x89PNG\r\n"),
		"img/a b (1).png":  file("\x89PNG\r\n\x00"),
		"other.css":        file("i{}"),
		"styles/third.css": file("b{}"),
		"styles/site.css": file(`@charset "utf-8";
@import "/other.css";
@IMPORT/**/'/styles/third.css' screen;
@import URL( "/gone.css" );
@namespace url(/img/c.png);
/* url(/img/c.png) @import "/other.css"; */
a{background:URL(/img/c.png),url(/gone.png)}
b{content:"url(/img/c.png)";background:url('/img/a\20 b\ (1).png')}
c{background:url(/img/a\ b\ \(1\).png#x) , url(//cdn.example/c.png)}
`),
	})
	files := unpacked(t, w.exported(t, nil))
	want := `@charset "utf-8";
@import "../other.css";
@IMPORT/**/'third.css' screen;
@import URL( "../gone.css" );
@namespace url(/img/c.png);
/* url(/img/c.png) @import "/other.css"; */
a{background:URL(../img/c.png),url(../gone.png)}
b{content:"url(/img/c.png)";background:url('../img/a%20b%20%281%29.png')}
c{background:url(../img/a%20b%20%281%29.png#x) , url(//cdn.example/c.png)}
`
	got, wanted := strings.Split(files["styles/site.css"], "\n"), strings.Split(want, "\n")
	for i := range min(len(got), len(wanted)) {
		if got[i] != wanted[i] {
			t.Errorf("line %d: %s, want %s", i+1, got[i], wanted[i])
		}
	}
	if len(got) != len(wanted) {
		t.Errorf("the sheet has %d lines, want %d", len(got), len(wanted))
	}
	// A file that is missing is not reported, whatever names it.
	if report := files[bundle.DiagnosticsPath]; strings.Contains(report, "gone") {
		t.Errorf("the report has %s", report)
	}
}
