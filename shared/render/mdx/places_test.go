package mdx

import (
	"fmt"
	"slices"
	"testing"
)

// An address is found where its author wrote it, whatever stands around it.
func TestPlacesOfAddresses(t *testing.T) {
	for src, want := range map[string][]string{
		`[a](/x "t") ![b [c](/in)](/y) <https://z.example>`:                               {"/x", "/y"},
		"[a]( </x y> 'https://no.example' ) [b][r]\n\n[r]: /r#f\n":                        {"/x y", "/r#f"},
		"> - [a](/x)\n>   ![b](\n>   /y)\n":                                               {"/x"},
		"\ufeff\r\n[ü](/x)\r\n[a](/b\\_c)\r\n[ref]\r\n\r\n[ref]: <../r>\r\n":              {"/x", `/b\_c`, "../r"},
		`<Card href="/x" title='/x' img = {'/y'} id={"/" + z} data-x={` + "`/w`" + `} />`: {"/x", "/x", "/y", "/w"},
		`<a href="/a?b&amp;c" hidden>[x]()</a>`:                                           {"/a?b&amp;c"},
		`<A HREF="/a">x</A><img src=/b.png>`:                                              {"/a"},
	} {
		f, _ := Parse([]byte(src), Options{Markdown: true})
		var got []string
		Walk(f.Root, func(n *Node) bool {
			if from, to, ok := n.URLPlace([]byte(src)); ok {
				got = append(got, src[from:to])
			}
			for _, a := range n.Attrs {
				if from, to, ok := a.ValuePlace([]byte(src)); ok {
					got = append(got, src[from:to])
				}
			}
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", src, got, want)
		}
	}
}

// Work for a place grows with the length of its source.
func TestPlaceOfAHostileLink(t *testing.T) {
	src := "!["
	for range 20_000 {
		src += "]("
	}
	src += "](/x)"
	n := &Node{Kind: Image, URL: "/x", End: Pos{Offset: len(src)}}
	if from, to, ok := n.URLPlace([]byte(src)); ok && src[from:to] != "/x" {
		t.Error(fmt.Sprint(from, to, ok))
	}
}
