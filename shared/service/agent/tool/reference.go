package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// topics are the values of the field topic of reference, each with the table of the
// renderer that has it. Components have a table of their own.
var topics = []struct {
	name, about string
	kind        capability.Kind
}{
	{"components", "what a page may use without an import", ""},
	{"front-matter", "fields of a page's head", capability.Head},
	{"settings", "settings of docs.json", capability.Setting},
	{"navigation", "fields of an entry of the navigation", capability.Entry},
	{"code", "words after the language of a block of code", capability.Fence},
	{"specifications", "extensions of an API's specification", capability.Extension},
}

var referenceTool = definition{
	name: "reference",
	about: "Shows which components, front matter and settings exist, with their attributes and defaults. Look here before you use one that the site does not use yet; " +
		"what is not listed has no effect.",
	params: []param{
		{name: "topic", required: true, values: topicNames(), about: "What to show."},
		{name: "name", about: "One name, such as Card, title or seo; of components, it shows all attributes. Default: an overview of all."},
	},
	call: (*Set).reference,
}

func topicNames() (names []string) {
	for _, t := range topics {
		names = append(names, t.name)
	}
	return names
}

func (s *Set) reference(_ context.Context, a args) (Result, error) {
	topic, name := a.text("topic"), strings.TrimSpace(a.text("name"))
	i := slices.Index(topicNames(), topic)
	var text string
	var err error
	if kind := topics[i].kind; kind == "" {
		name = strings.Trim(name, "</> ")
		text, err = componentsNamed(name)
	} else {
		text, err = capabilitiesNamed(kind, topics[i].about, name)
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Text: text, Outcome: strings.TrimSpace(topic + " " + name)}, nil
}

// componentsNamed describes one component, or lists all of them if name is empty.
func componentsNamed(name string) (string, error) {
	registry := component.Builtin()
	var b pages
	if name == "" {
		for _, c := range registry.All() {
			var attrs []string
			for _, at := range c.Attrs {
				attrs = append(attrs, at.Name)
			}
			b.add("%s: %s Attributes: %s", c.Name, c.Doc, listed(attrs))
		}
		return b.end("components", "name one to see it"), nil
	}
	c := registry.Lookup(name)
	if c == nil {
		var names []string
		for _, c := range registry.All() {
			names = append(names, c.Name)
		}
		return "", refuse("there is no component %.80q%s; there are: %s. A site can have its own, in its snippets", name, meant(name, names), strings.Join(names, ", "))
	}
	b.add("%s: %s", c.Name, c.Doc)
	if c.Block {
		b.add("It is a block: leave an empty line before and after it.")
	}
	for _, at := range slices.Concat(c.Attrs, component.CommonAttrs()) {
		if slices.ContainsFunc(c.Attrs, func(own component.AttrSpec) bool { return own.Name == at.Name && own != at }) {
			continue // the component's own comes instead of the common one
		}
		kind := at.Type
		if at.Default != "" {
			kind += ", default " + at.Default
		}
		b.add("- %s (%s): %s", at.Name, kind, at.Doc)
	}
	for row := range capability.All(capability.Attribute) {
		if strings.HasPrefix(row.Name, c.Name+".") {
			b.add("- %s", said(strings.TrimPrefix(row.Name, c.Name+"."), row))
		}
	}
	return b.end("attributes", "they are not shown"), nil
}

// capabilitiesNamed describes one capability of a kind with those below it, or lists all
// of them if name is empty.
func capabilitiesNamed(kind capability.Kind, about, name string) (string, error) {
	var b pages
	var names []string
	for row := range capability.All(kind) {
		names = append(names, row.Name)
		if name == "" || row.Name == name || strings.HasPrefix(row.Name, name+".") {
			b.add("%s", said(row.Name, row))
		}
	}
	if b.Len() == 0 {
		if row := capability.Find(kind, name); row != nil { // one row for all that begin so
			return said(name, row) + "\n", nil
		}
		return "", refuse("%.80q is not among the %s%s; there are: %s", name, about, meant(name, names), strings.Join(names, ", "))
	}
	return b.end("entries", "name one to see it"), nil
}

// said describes a capability in one line.
func said(name string, row *capability.Row) string {
	if last := name[len(name)-1]; last == ':' || last == '.' {
		name += "…"
	}
	if row.State == capability.Told {
		return fmt.Sprintf("%s: has no effect, or only in part: %s", name, row.Rule)
	}
	return name + ": " + row.Rule
}

// meant proposes the name that was probably meant.
func meant(name string, names []string) string {
	if near := site.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// listed writes a list, "none" for an empty one.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
