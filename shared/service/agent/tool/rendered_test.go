package tool

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A document is read as browsers read it.
func TestSeenInDocuments(t *testing.T) {
	for _, c := range []struct {
		doc   string
		hosts []string
		code  []string
	}{
		{doc: `<a href="https://a.example/x">x</a><img src=//b.example>`, hosts: []string{"a.example", "b.example"}},
		{doc: "<img src=\"ht\ntps:\\\\a.example\">", hosts: []string{"a.example"}},
		{doc: `<a href="/https/a.example">x</a><p>https://a.example is text</p><!-- <img src="https://a.example"> -->`},
		{doc: `<a href="https&colon;//a.example">x</a>`, hosts: []string{"a.example"}},
		{doc: `<meta http-equiv=Refresh content="3; URL='//a.example/x'">`, hosts: []string{"a.example"}},
		{doc: `<meta http-equiv=refresh content="0;javascript:alert(1)">`, code: []string{"an address that runs code"}},
		{doc: `<meta name=description content="See https://a.example"><meta property="og:image" content="https://b.example/x.png">`, hosts: []string{"b.example"}},
		{doc: `<base href="//a.example/">`, hosts: []string{"a.example"}},
		{doc: `<img srcset="/x.png 1x, https://a.example/x.png 2x">`, hosts: []string{"a.example"}},
		{doc: `<noscript><img src="https://a.example"></noscript><template><img src="https://b.example"></template>`, hosts: []string{"a.example", "b.example"}},
		{doc: `<iframe srcdoc="<img src=&quot;//a.example&quot;>"></iframe>`, hosts: []string{"a.example"}, code: []string{"<iframe>"}},
		{doc: `<p style="background: url('https://a.example')">x</p>`, hosts: []string{"a.example"}},
		{doc: `<style>p { background: image-set("https://a.example/x" 1x) } @import '//b.example';</style>`, hosts: []string{"a.example", "b.example"}},
		{doc: `<style>p { background: url(\68ttps\3a//a.example) }</style>`, hosts: []string{"a.example"}},
		{doc: `<svg xmlns="http://www.w3.org/2000/svg"><image xlink:href="https://a.example"/><use href="https://b.example/x#y"/><path fill="url(https://c.example#d)"/><animate values="/x;https://d.example"/></svg>`,
			hosts: []string{"a.example", "b.example", "c.example", "d.example"}},
		{doc: `<svg><set attributeName="href" to="https://a.example"/></svg>`, hosts: []string{"a.example"}},
		{doc: `<p onclick="location = 'https://a.example'">x</p>`, hosts: []string{"a.example"}, code: []string{"the attribute onclick"}},
		{doc: `<a href=" java&Tab;script:f()">x</a>`, code: []string{"an address that runs code"}},
		{doc: `<script>fetch("https://a.example")</script>`, hosts: []string{"a.example"}, code: []string{"an inline script"}},
		{doc: `<script type=module>f()</script><script type="text/JavaScript">g()</script>`, code: []string{"an inline script", "an inline script"}},
		{doc: `<script src="https://a.example/x.js"></script><script src="/own.js"></script>`, hosts: []string{"a.example"}, code: []string{"a script of a.example"}},
		{doc: `<script type="application/ld+json">{"url": "https://a.example"}</script>`},
		{doc: `<script type="application/json">{"url": "https://a.example"}</script>`, hosts: []string{"a.example"}},
		{doc: `<object data="//a.example"></object>`, hosts: []string{"a.example"}, code: []string{"<object>"}},
		{doc: `<div data-to="//a.example/x" data-about="see https://b.example" title="https://c.example">x</div>`, hosts: []string{"a.example", "c.example"}},
		{doc: `<figure class="bdy-diagram mermaid">click A href "https://a.example"</figure>`, hosts: []string{"a.example"}},
		{doc: `<link rel=icon href="data:,"><img src="data:image/png;base64,AAAA">`},
		{doc: `<link rel=dns-prefetch href="//a.example"><form action="https://b.example"><button formaction="https://c.example">x</button></form>`, hosts: []string{"a.example", "b.example", "c.example"}},
		{doc: `<a ping="https://a.example" href="/x">x</a><video poster="https://b.example"></video>`, hosts: []string{"a.example", "b.example"}},
	} {
		var s Seen
		s.Document([]byte(c.doc))
		if got := slices.Sorted(maps.Keys(s.Hosts)); !slices.Equal(got, c.hosts) {
			t.Errorf("%s: hosts %q, want %q", c.doc, got, c.hosts)
		}
		if got := slices.Sorted(maps.Values(s.Code)); !slices.Equal(got, c.code) {
			t.Errorf("%s: code %q, want %q", c.doc, got, c.code)
		}
	}
}

// Documents in documents are read to a depth; what is deeper counts as code.
func TestSeenIsBounded(t *testing.T) {
	doc := `<img src="https://a.example">`
	for range 5 {
		doc = `<iframe srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(doc) + `"></iframe>`
	}
	var s Seen
	s.Document([]byte(doc))
	if !slices.Contains(slices.Collect(maps.Values(s.Code)), "a document in a document") {
		t.Errorf("%+v", s)
	}
	var deep Seen
	deep.Document([]byte(strings.Repeat("<b>", 20_000) + `<img src="https://a.example">`))
	if !deep.Hosts["a.example"] {
		t.Errorf("%+v", deep)
	}
}

// Code that is the same has the same digest, wherever it comes from.
func TestSeenCode(t *testing.T) {
	var one, two Seen
	one.Document([]byte(`<script>f()</script><p onclick="f()">`))
	two.Document([]byte(`<p onclick="f()"><script>f()</script>`))
	two.Script("a script", []byte("f()"))
	if len(one.Code) != 2 || len(two.Code) != 3 {
		t.Fatalf("%+v, %+v", one, two)
	}
	for id, kind := range one.Code {
		if two.Code[id] != kind {
			t.Errorf("%s is not in the other", kind)
		}
	}
	one.Add(two)
	if len(one.Code) != 3 {
		t.Errorf("%+v", one)
	}
}

// Named are the hosts that links, pictures and files of a repository lead to.
func TestNamed(t *testing.T) {
	base := memory{"a.mdx": "[x](https://a.example) `https://b.example`\n", "docs.json": `{"x": "https://c.example"}`}
	got := slices.Sorted(maps.Keys(Named(base, []string{"a.example", "b.example", "c.example", "d.example"})))
	if want := []string{"a.example", "c.example"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
