package component_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/tests/outside"
)

// ignored are attributes that occur in real sites and that a component has no
// use for, with the reason.
var ignored = map[string]string{
	"ResponseField.defaultOpen": "belongs to the Expandable within; a field is always open",
	"Tabs.queryString":          "another tool's: a tab is linked to by its id",
}

// Every component of real sites is built in, and each of their attributes is
// understood or has a reason not to be.
func TestInventory(t *testing.T) {
	data, err := os.ReadFile(outside.Folder(t, "corpora", "inventory.json"))
	if err != nil {
		t.Fatal(err)
	}
	var inventory struct {
		Components map[string]struct {
			Attrs map[string]struct {
				Uses int `json:"uses"`
			} `json:"attrs"`
		} `json:"builtin_components"`
	}
	if err := json.Unmarshal(data, &inventory); err != nil {
		t.Fatal(err)
	}
	if len(inventory.Components) < 41 {
		t.Errorf("the inventory has %d components", len(inventory.Components))
	}
	registry := component.Builtin()
	used := map[string]bool{}
	for name, seen := range inventory.Components {
		c := registry.Lookup(name)
		if c == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		for attr, a := range seen.Attrs {
			known := slices.ContainsFunc(append(component.CommonAttrs(), c.Attrs...), func(s component.AttrSpec) bool { return s.Name == attr })
			reason := ignored[name+"."+attr]
			used[name+"."+attr] = true
			switch {
			case !known && reason == "":
				t.Errorf("%s.%s, used %d times, is not understood", name, attr, a.Uses)
			case known && reason != "":
				t.Errorf("%s.%s is understood, and listed as ignored", name, attr)
			}
		}
	}
	for name := range ignored {
		if !used[name] {
			t.Errorf("%s is listed as ignored and occurs nowhere", name)
		}
	}
}

// Boxes and labels take the attributes that all components understand.
func TestCommonAttributes(t *testing.T) {
	for _, name := range []string{"Card", "Note", "Steps", "Frame", "Tabs", "Accordion", "ParamField", "Tree", "Update", "Prompt", "Panel", "CodeGroup"} {
		source := "<" + name + ` id="Own.Id" className="mine" style={{ color: "red" }}>Text</` + name + ">\n"
		r := render(t, fstest.MapFS{"page.mdx": {Data: []byte(source)}})
		for _, want := range []string{` id="Own.Id"`, " mine ", " bdy-st-"} {
			if !strings.Contains(string(r.HTML), want) || len(r.Styles) != 1 {
				t.Errorf("%s has no %s:\n%s", name, want, r.HTML)
			}
		}
	}
}
