package page

import (
	"cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// addReference puts what a page shows of a specification around what its author
// wrote: method, path and description before it, parameters and answers after
// it, examples beside it. Examples that the author wrote stand in place of made
// ones. Without a slice, a page that names an operation shows method and path,
// and one that a specification should have filled says that it is not.
func (s *resolver) addReference(p *site.Page, slice *reference.Slice) {
	api := &s.r.Site.Config.API
	alone := slice == nil
	if alone {
		_, file := reference.ParseFile(p.OpenAPI)
		if p.Reference == nil && p.OpenAPI+p.OpenAPISchema+p.AsyncAPI != "" && !file {
			absent := reference.Absent(s.Lang(), p.ReferenceAway)
			s.put(absent, p.Source)
			s.root = append([]*mdx.Node{absent}, s.root...)
		}
		_, key, ok := reference.ParseKey(cmp.Or(p.OpenAPI, p.API))
		if !ok {
			return
		}
		slice = &reference.Slice{File: p.File(), Key: key}
	}
	without := map[string]bool{}
	for _, n := range s.root {
		if n.Kind == mdx.Element && (n.Name == "RequestExample" || n.Name == "ResponseExample") {
			without[n.Name] = true
		}
	}
	playground := cmp.Or(p.Playground, api.Playground)
	content := slice.Content(reference.Options{
		Lang:         s.Lang(),
		Languages:    api.Examples.Languages,
		NoSamples:    alone || api.Examples.Autogenerate != nil && !*api.Examples.Autogenerate,
		RequiredOnly: api.Examples.Defaults == "required",
		Prefill:      api.Examples.Prefill,
		Open:         api.Params == "all",
		FullURL:      api.URL == "full",
		Playground:   !alone && s.r.Playground && playground != "none" && playground != "simple",
		Credentials:  api.Credentials,
		Without:      without,
	})
	for _, list := range [...][]*mdx.Node{content.Head, content.Body, content.Beside} {
		for _, n := range list {
			s.put(n, slice.File)
		}
	}
	root := append(content.Head, content.Beside...)
	root = append(root, s.root...)
	s.root = append(root, content.Body...)
	s.reference = true
	for _, n := range content.Head {
		s.playground = s.playground || reference.IsPlayground(n)
	}
	if s.playground { // its script asks the servers
		for _, server := range slice.Servers {
			for _, address := range server.Addresses(maxPicks) {
				s.servers = append(s.servers, origin(address))
			}
		}
	}
	if content.Cut {
		s.report(slice.File, mdx.Pos{Line: max(slice.Line, 1), Column: 1}, mdx.Notice, "api-cut",
			slice.Key.String()+" has more fields or text than a page shows: the rest is left out")
	}
}

// put notes which file a node and all below it come from, and counts them as a
// source of the page.
func (s *resolver) put(n *mdx.Node, file string) {
	mdx.Walk(n, func(n *mdx.Node) bool {
		put(&s.origin, n, file)
		s.length += n.Size()
		return true
	})
}
