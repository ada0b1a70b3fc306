package reference_test

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/tests/outside"
)

// outlineNode is what the elements of one name and class have in common that
// stand in the same kind of place: how many there are, how many words they hold
// themselves, and what is in them.
type outlineNode struct {
	name         string
	count, words int
	inside       []*outlineNode
}

// outlineOf takes an element and what is in it into the outline. Colours of code,
// drawings and formulas are none of it.
func (o *outlineNode) outlineOf(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			o.words += len(strings.Fields(c.Data))
		case html.ElementNode:
			name := c.Data
			for _, a := range c.Attr {
				if a.Key == "class" {
					name += "." + strings.Join(strings.Fields(a.Val), ".")
				}
			}
			var child *outlineNode
			for _, have := range o.inside {
				if have.name == name {
					child = have
				}
			}
			if child == nil {
				child = &outlineNode{name: name}
				o.inside = append(o.inside, child)
			}
			child.count++
			switch {
			case c.DataAtom == atom.Svg || c.DataAtom == atom.Math:
			case c.DataAtom == atom.Code && n.DataAtom == atom.Pre:
				child.words += len(strings.Fields(text(c)))
			default:
				child.outlineOf(c)
			}
		}
	}
}

func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(text(c))
	}
	return b.String()
}

func (o *outlineNode) write(b *strings.Builder, depth int) {
	for _, c := range o.inside {
		fmt.Fprintf(b, "%s%s %d", strings.Repeat(" ", depth), c.name, c.count)
		if c.words > 0 {
			fmt.Fprintf(b, ", %d words", c.words)
		}
		b.WriteByte('\n')
		c.write(b, depth+1)
	}
}

// pairs adds what stands in what.
func (o *outlineNode) pairs(to map[string]bool) {
	for _, c := range o.inside {
		to[o.name+" > "+c.name] = true
		c.pairs(to)
	}
}

// TestCorporaPages holds the outlines of pages about the APIs of real sites:
// elements with their classes, counts and numbers of words, none of the words.
// Of each specification its first page is taken, in the site's order, and each
// page on which an element stands in another as on none before. The pages of mcp
// are its own, generated as MDX; those of novu name operations of a specification
// that is on another host.
func TestCorporaPages(t *testing.T) {
	for name, want := range map[string]func(*site.Page) bool{
		"trigger": aboutAPI,
		"novu":    aboutAPI,
		"mcp":     func(p *site.Page) bool { return path.Base(p.Address) == "schema" },
	} {
		t.Run(name, func(t *testing.T) {
			pages, results := rendered(t, os.DirFS(outside.Folder(t, "corpora", name)), want)
			var b strings.Builder
			files, seen := map[string]bool{}, map[string]bool{}
			for i, p := range pages {
				root, err := html.Parse(bytes.NewReader(results[i].HTML))
				if err != nil {
					t.Fatal(err)
				}
				var body *html.Node
				for n := range root.Descendants() {
					if n.DataAtom == atom.Body {
						body = n
					}
				}
				var o outlineNode
				o.outlineOf(body)
				known := len(seen)
				o.pairs(seen)
				file := ""
				if p.Reference != nil {
					file = p.Reference.File
				}
				if len(seen) > known || !files[file] {
					files[file] = true
					fmt.Fprintf(&b, "# %s\n", p.Address)
					o.write(&b, 0)
				}
			}
			fmt.Fprintf(&b, "%d pages\n", len(pages))
			golden.Same(t, filepath.Join("testdata", "corpora", name+".golden"), []byte(b.String()))
		})
	}
}
