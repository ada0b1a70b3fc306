package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/component"
)

// Reference tells what the renderer's tables have, each name once, and proposes what
// was meant.
func TestReference(t *testing.T) {
	s := newSet(t, memory{"docs.json": "{}"}, "", Limits{})
	for _, c := range []struct {
		input   string
		want    []string
		refused bool
	}{
		{input: `{"topic": "components", "name": "Card"}`, want: []string{"Card: ", "It is a block", "- title (", "- href (address): ", "- className (string): "}},
		{input: `{"topic": "components", "name": "<Step>"}`, want: []string{"Step: ", "- title ("}},
		{input: `{"topic": "components", "name": "Columns"}`, want: []string{"Columns: ", "- cols (number, default 2)"}},
		{input: `{"topic": "components", "name": "Cards"}`, want: []string{`there is no component "Cards"; did you mean "Card"?`, "CardGroup"}, refused: true},
		{input: `{"topic": "components", "name": "Hint"}`, want: []string{`there is no component "Hint"`, "Note"}, refused: true},
		{input: `{"topic": "front-matter"}`, want: []string{"title: is the title;", "og:…: are elements in the head"}},
		{input: `{"topic": "front-matter", "name": "og:image"}`, want: []string{"og:image: are elements in the head"}},
		{input: `{"topic": "front-matter", "name": "related"}`, want: []string{"related: has no effect, or only in part: no related pages are listed"}},
		{input: `{"topic": "front-matter", "name": "sidebartitle"}`, want: []string{`did you mean "sidebarTitle"?`}, refused: true},
		{input: `{"topic": "settings", "name": "appearance"}`, want: []string{"appearance.default: ", "appearance.strict: "}},
		{input: `{"topic": "navigation", "name": "expanded"}`, want: []string{"expanded: opens a group"}},
		{input: `{"topic": "styles"}`, want: []string{"expected one of components, front-matter"}, refused: true},
	} {
		r := s.Call(t.Context(), "reference", json.RawMessage(c.input))
		for _, want := range c.want {
			if r.IsError != c.refused || !strings.Contains(r.Text, want) {
				t.Errorf("%s does not say %q:\n%s", c.input, want, r.Text)
			}
		}
	}
	lines := func(input string) map[string]int {
		names := map[string]int{}
		for line := range strings.Lines(call(t, s, "reference", input).Text) {
			name, _, _ := strings.Cut(line, ": ")
			names[name]++
		}
		return names
	}
	all := lines(`{"topic": "components"}`)
	for _, c := range component.Builtin().All() {
		if all[c.Name] != 1 {
			t.Errorf("%s is there %d times", c.Name, all[c.Name])
		}
	}
	for _, topic := range topics[1:] {
		all, n := lines(`{"topic": "`+topic.name+`"}`), 0
		for row := range capability.All(topic.kind) {
			n++
			if all[row.Name]+all[row.Name+"…"] != 1 {
				t.Errorf("%s is there %d times in %s", row.Name, all[row.Name], topic.name)
			}
		}
		if n == 0 || n != len(all) {
			t.Errorf("%s has %d rows, and %d are shown", topic.name, n, len(all))
		}
	}
}
