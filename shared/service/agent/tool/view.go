package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// maxViewed is the size of the largest page that view shows, in bytes.
const maxViewed = 4 << 20

var viewTool = definition{
	name: "view",
	about: "Shows the outline of a page as readers get it, with its snippets and its part of an API's specification in place: headings with their anchors, components, tables, " +
		"code, links and pictures. Texts are shortened; read shows the source. No scripts are run.",
	params: []param{
		{name: "path", required: true, about: "The page's file, or its address on the site, such as /guides/start."},
		{name: "from", kind: number, least: 1, most: page.MaxParts, about: "The first part of the page, from 1. Default 1."},
	},
	call: (*Set).view,
}

func (s *Set) view(ctx context.Context, a args) (Result, error) {
	name, _, _ := strings.Cut(a.text("path"), "#")
	if isOutside(name) {
		return Result{}, errOutside(name)
	}
	name = strings.Trim(strings.TrimPrefix(name, "./"), "/")
	specs := reference.NewReader(s.tree.FS())
	loaded, _, err := site.Load(ctx, s.tree.FS(), s.tree.files(), site.Options{Reference: specs})
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{}, refuse("the site can't be read: %v", err)
	}
	i := slices.IndexFunc(loaded.Pages, func(p site.Page) bool { return p.From == "" && p.Source == name })
	if i < 0 {
		if t := loaded.Resolve(-1, "/"+edit.EscapeAddress(name)); t.Kind == site.ToPage {
			i = t.Page
		}
	}
	if i < 0 {
		if s.tree.exists(name) {
			return Result{File: name}, refuse("%s is not a page of the site", name)
		}
		return Result{}, refuse("there is no page %.200q; the files of pages end in .mdx or .md", a.text("path"))
	}
	p := &loaded.Pages[i]
	if p.Size > maxViewed {
		return Result{File: name}, refuse("%s has more than %d MiB; read shows its source", name, maxViewed>>20)
	}
	outline, err := page.New(page.Options{Site: loaded, FS: loaded.Readable(s.tree.FS())}).Outline(ctx, i, sliceOf(specs, p))
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{File: name}, refuse("%s can't be shown: %v", name, err)
	}
	from := a.number("from", 1)
	if from > len(outline.Parts) && from > 1 {
		return Result{File: name}, refuse("from: the page has only %s", Plural(len(outline.Parts), "part"))
	}
	text := viewed(p, outline, from)
	return Result{Text: text, File: name, Outcome: Plural(len(outline.Parts)+outline.More, "part")}, nil
}

// sliceOf returns the part of a specification that a page shows, nil for none.
func sliceOf(specs *reference.Reader, p *site.Page) *reference.Slice {
	if p.Reference == nil {
		return nil
	}
	spec := specs.Spec(p.Reference.File)
	if spec == nil {
		return nil
	}
	o := spec.Find(p.Reference.Key)
	if o == nil {
		return nil
	}
	return specs.Slice(spec, o)
}

// viewed writes the outline of a page, from one of its parts on.
func viewed(p *site.Page, o *page.Outline, from int) string {
	var b pages
	b.add("/%s: %s", p.CleanAddress(), p.Title)
	if p.Description != "" && from == 1 {
		b.add("description: %s", cutLine(p.Description))
	}
	shown := 0
	if from == 1 {
		for _, d := range o.Diagnostics {
			if d.Severity == mdx.Error || d.Severity == mdx.Warning {
				b.add("%s", cutLine(fmt.Sprintf("%s:%d: %s: %s", d.File, d.Line, d.Severity, d.Message)))
				if shown++; shown == 10 {
					break // check shows all
				}
			}
		}
	}
	for n, part := range o.Parts[min(from-1, len(o.Parts)):] {
		if !b.add("%s%s", strings.Repeat("  ", min(part.Depth, 12)), part.Text) {
			fmt.Fprintf(&b, "… %d more parts; view on with from=%d\n", len(o.Parts)+o.More-from+1-n, from+n)
			return b.String()
		}
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "… %d more parts, which are not listed\n", o.More)
	}
	if o.Unrun {
		b.WriteString("Some parts need JavaScript. It was not run, so they can look different to readers.\n")
	}
	return b.String()
}
