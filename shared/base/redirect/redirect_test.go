package redirect

import (
	pathpkg "path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What each form of a source is: which paths it matches, and what a destination
// becomes by that. This table is the language; whoever uses the package follows.
func TestPatterns(t *testing.T) {
	const (
		literal = "literal"
		no      = "no match"
	)
	for _, c := range []struct {
		source, destination string
		want                map[string]string // by path; literal is a source that is no pattern
	}{
		{"/plain", "", map[string]string{literal: "plain"}},
		{"/", "", map[string]string{literal: ""}},
		{"/a*b", "", map[string]string{literal: "a*b"}},
		{"/a*b/c", "", map[string]string{literal: "a*b/c"}},
		{"/*a", "", map[string]string{literal: "*a"}},
		{"/a:b", "", map[string]string{literal: "a:b"}},
		{"/a/:", "", map[string]string{literal: "a/:"}},
		{"/gr%C3%B6%C3%9Fe", "", map[string]string{literal: "größe"}},
		{"/50%", "", map[string]string{literal: "50%"}},
		{"/a/:one", "/p/:one", map[string]string{"a/b": "/p/b", "a": no, "a/": no, "a/b/c": no, "b/b": no}},
		{"/:one/b", "/:one", map[string]string{"a/b": "/a", "a/c": no, "b": no}},
		{"/:one/:two", "/:two/:one", map[string]string{"a/b": "/b/a", "a": no}},
		{"/a*b/:one", "/:one", map[string]string{"a*b/x": "/x", "axb/x": no}},
		{"/a/:many*", "/p/:many*", map[string]string{"a": "/p", "a/b": "/p/b", "a/b/c": "/p/b/c", "ab": no}},
		{"/a/:many+", "/p/:many", map[string]string{"a": "/p", "a/b/c": "/p/b/c"}},
		{"/a/:many(.*)", "/p/:many", map[string]string{"a/b/c": "/p/b/c"}},
		{"/a/:many(.+)", "/p/:many", map[string]string{"a/b/c": "/p/b/c"}},
		{"/a/:one(\\d+)", "/p/:one", map[string]string{"a/1": "/p/1", "a/x": "/p/x", "a/1/2": no}},
		{"/:many*/b", "/p/:many*/q", map[string]string{"b": "/p/q", "a/b": "/p/a/q", "b/b": "/p/b/q", "a": no}},
		{"/:one/:many*/b", "/:many*/:one", map[string]string{"x/b": "/x", "x/y/z/b": "/y/z/x", "b": no}},
		{"/a/:many*/:other*", "/:many*", map[string]string{"a/x/:other*": "/x", "a/x/y": no}},
		{"/*", "/p/*", map[string]string{"": "/p", "a": "/p/a", "a/b": "/p/a/b"}},
		{"/a/*", "/p/*", map[string]string{"a": "/p", "a/b": "/p/b", "a/b/c": "/p/b/c", "ab": no}},
		{"/a/*", "/p/x-*", map[string]string{"a/b/c": "/p/x-b/c"}},
		{"/a*", "/*", map[string]string{"a": "", "a/b": "//b", "ab/c": "/b/c", "b": no}},
		{"/a/c-*", "/p/*", map[string]string{"a/c-x": "/p/x", "a/c-": "/p", "a/c": no, "a": no}},
		{"/a/c-*/d", "/p/*", map[string]string{"a/c-x/d": "/p/x", "a/c-x/y/d": "/p/x/y", "a/c-x": no}},
		{"/a/*/*", "/p/*", map[string]string{"a/x/*": "/p/x", "a/x/y": no}},
		{"/:x/:x", "/:x", map[string]string{"1/2": "/2"}},
		{"/v/:x", "https://o.example/:x/:y", map[string]string{"v/1": "https://o.example/1/:y"}},
		{"/v/:https", "https://o.example/:https", map[string]string{"v/1": "https://o.example/1"}},
		{"/%3Aone", "/:one", map[string]string{"a": "/a"}},
	} {
		s := Parse(c.source)
		p, wild := Compile(s.Path)
		if path, plain := c.want[literal]; plain {
			if wild || s.Path != path {
				t.Errorf("%s: path %q, a pattern %v; want the path %q alone", c.source, s.Path, wild, path)
			}
			continue
		}
		if !wild {
			t.Errorf("%s is no pattern", c.source)
		}
		for path, want := range c.want {
			got := no
			if values, ok := p.Match(path); ok {
				got = p.Fill(c.destination, values)
			}
			if got != want {
				t.Errorf("%s to %s: %q leads to %q, want %q", c.source, c.destination, path, got, want)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for source, want := range map[string]Source{
		"/a/b/":        {Path: "a/b"},
		"a?b=c#d":      {Path: "a", Query: "b=c", Fragment: "d"},
		"/a#d?b":       {Path: "a", Fragment: "d?b"},
		"/a/:b?":       {Path: "a/:b", Optional: true},
		"/:b*?":        {Path: ":b*", Optional: true},
		"/a/:b?c":      {Path: "a/:b", Query: "c"},
		"/a/b?":        {Path: "a/b"},
		"/a/:?":        {Path: "a/:"},
		"/%zz/%61":     {Path: "%zz/%61"},
		"/a%2Fb/%3Fc/": {Path: "a/b/?c"},
	} {
		if d := cmp.Diff(want, Parse(source)); d != "" {
			t.Errorf("%s (-want +got):\n%s", source, d)
		}
	}
	for _, c := range [][4]string{{"/a/:b?", "/c/:b", "a", "/c"}, {"/:b?", "/c/:b/d", "", "/c/d"}, {"/:a/:b?", "/:a/:b", ":a", "/:a"}} {
		if path, to := Parse(c[0]).Short(c[1]); path != c[2] || to != c[3] {
			t.Errorf("%s to %s is without its last element %q to %q, want %q to %q", c[0], c[1], path, to, c[2], c[3])
		}
	}
}

func TestFillOfQueries(t *testing.T) {
	for _, c := range []struct{ source, destination, path, want string }{
		{"/q/:id", "/only?id=:id", "q/7", "/only?id=7"},
		{"/h/:id", "/only#:id", "h/a-1", "/only#a-1"},
		{"/w/:p*", "https://x.test:8080/docs/:p*?utm=1", "w/a/b", "https://x.test:8080/docs/a/b?utm=1"},
		{"/w/:p*", "/find?q=:p*&from=:p#:p", "w/a/b", "/find?q=a/b&from=a/b#a/b"},
		{"/q/:id", "/only?id=:id", "q/a&admin=1", "/only?id=a%26admin%3D1"},
		{"/q/:id", "/only?id=:idx&at=12:30", "q/7", "/only?id=:idx&at=12:30"},
		{"/w/*", "/x?y=*", "w/a", "/x?y=*"},
	} {
		p, ok := Compile(Parse(c.source).Path)
		values, matches := p.Match(c.path)
		if !ok || !matches {
			t.Fatalf("%s does not match %s", c.source, c.path)
		}
		if got := p.Fill(c.destination, values); got != c.want {
			t.Errorf("%s to %s: %s leads to %s, want %s", c.source, c.destination, c.path, got, c.want)
		}
	}
}

func TestNamesWithoutEffect(t *testing.T) {
	for _, c := range []struct{ source, destination, unknown, inert string }{
		{"/a/:x", "/b/:x?c=:x#:x", "", ""},
		{"/a/:x", "/b/:y", ":y", ""},
		{"/a/:x*", "https://h.test:8080/:x*?at=12:30", "", ""},
		{"/a/:x", "/b?id=:y", ":y", ""},
		{"/a/:x", "/b#:x:z", ":z", ""},
		{"/pre-:x/:y", "/b/:y", "", "pre-:x"},
		{"/a*b/*", "/b/*", "", "a*b"},
		{"/a-*", "/b/*", "", ""},
		{"/blog/10:30", "/b", "", ""},
	} {
		path := Parse(c.source).Path
		p, _ := Compile(path)
		if got := p.Unknown(c.destination); got != c.unknown {
			t.Errorf("%s to %s: %q is unknown, want %q", c.source, c.destination, got, c.unknown)
		}
		if got := Inert(path); got != c.inert {
			t.Errorf("%s: %q represents itself, want %q", c.source, got, c.inert)
		}
	}
}

// FuzzPattern: redirects come from a site's authors and paths from anyone. A
// path that matches is the pattern with the values in it again.
func FuzzPattern(f *testing.F) {
	f.Add("/old/:rest*", "/guides/:rest*", "old/one")
	f.Add("/x/:page?y#z", "https://docs.example/guides/:page#p", "x/one")
	f.Add("/:a/:b(.*)", "/:b/*", "guides//x")
	f.Add("/:", "*", "")
	f.Add("/a*b/c-*/d", "/*", "a*b/c-1/2/d")
	f.Fuzz(func(t *testing.T, source, destination, path string) {
		s := Parse(source)
		if s.Optional {
			s.Short(destination)
		}
		p, ok := Compile(s.Path)
		if !ok {
			return
		}
		path = strings.Trim(pathpkg.Clean("/"+path), "/")
		values, ok := p.Match(path)
		if !ok {
			return
		}
		p.Fill(destination, values)
		p.Unknown(destination)
		Inert(s.Path)
		var again []string
		for i, e := range p.Elements {
			text := e.Literal
			if e.Name != "" {
				text, values = text+values[0], values[1:]
			}
			if i != p.Rest || text != "" {
				again = append(again, text)
			}
		}
		if got := strings.Join(again, "/"); len(values) > 0 || got != path {
			t.Fatalf("%q matches %q as %q, with %q left over", source, path, got, values)
		}
	})
}
