package component

import (
	"slices"

	"github.com/bindery-docs/bindery/shared/render/words"
)

func expandableComponents() []*Component {
	return []*Component{{
		Name: "Expandable", Doc: "The properties of a field, which open below it.", Block: true,
		Attrs: slices.Concat(
			[]AttrSpec{
				{"title", "text", "properties", "What is always visible."},
				{"description", "text", "", "Text below the title."},
				{"defaultOpen", "boolean", "false", "Whether it begins open."},
				{"lazy", "boolean", "false", "Accepted: the content is in the page, so that it can be searched and printed."},
			},
			iconAttrs("An icon before the title.")),
		// The titles of expandables are alike ("properties"): an id would name
		// nothing. A link to what is inside opens them.
		HTML:     func(w *Writer, e *Element) { disclosureHTML(w, e, "expandable bdy-expandable", words.Properties) },
		Markdown: disclosureMarkdown,
	}}
}
