package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a page loads from other hosts, and its own <style>, are sources that a
// content security policy must allow; links and files of the site are not.
func TestSources(t *testing.T) {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	for _, test := range []struct {
		name, source string
		want         map[string][]string
	}{
		{"nothing", "[a link](https://example.com/) and ![a picture](/a.png)", nil},
		{"picture", "![a](https://Pictures.example:8443/a.png?x=1) ![b](https://pictures.example:8443/b.png)", map[string][]string{"img-src": {"https://pictures.example:8443"}}},
		{"scheme of the page", "<img src=\"//cdn.example/a.png\" />", map[string][]string{"img-src": {"https://cdn.example"}}},
		{"data", "![a](data:image/png;base64,AA==)", map[string][]string{"img-src": {"data:"}}},
		{"frame", "<iframe src=\"https://www.video.example/embed/1\" />", map[string][]string{"frame-src": {"https://www.video.example"}}},
		{"video", "<video><source src=\"https://media.example/a.mp4\" /></video>", map[string][]string{"media-src": {"https://media.example"}}},
		{"picture's source", "<picture><source srcSet=\"https://small.example/a.png\" /><img src=\"/a.png\" /></picture>", map[string][]string{"img-src": {"https://small.example"}}},
		{"style attribute", "<p style=\"background:url(https://pictures.example/a.png)\">x</p>", map[string][]string{"img-src": {"https://pictures.example"}}},
		{"style element", "<style>{`.a > b { color: red }`}</style>", map[string][]string{"style-src": {hash(".a > b { color: red }")}}},
		{"more of the policy in a host", "<img src=\"https://a.example;script-src%20*/a.png\" />", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := renderSource(t, test.source)
			if diff := cmp.Diff(test.want, r.Sources); diff != "" {
				t.Errorf("sources differ (-want +got):\n%s\n%s", diff, r.HTML)
			}
		})
	}
}
