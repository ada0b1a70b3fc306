package pull

import (
	"slices"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
)

// The lists have each host and each piece of code, and those of which the sources have a
// line once.
func TestListsOfBothReviews(t *testing.T) {
	code := []agent.ReviewedItem{
		{ID: "1", What: "<iframe>", File: "a.mdx"}, {ID: "2", What: "<iframe>", File: "a.mdx"}, {ID: "3", What: "a script", File: "b.mdx"}, {ID: "4", What: "an export", File: "a.mdx"},
	}
	got := withCode([]string{"a.mdx:3: an export", "a.mdx:9: an expression", "a.mdx:12: <iframe>", "odd"}, code)
	want := []string{"a.mdx:3: an export", "a.mdx:9: an expression", "a.mdx:12: <iframe>", "odd", "a.mdx: <iframe>, as readers get it", "b.mdx: a script, as readers get it"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	hosts := withHosts([]string{"one.example (a.mdx:3)"}, []agent.ReviewedItem{{ID: "one.example", What: "one.example", File: "b.mdx"}, {ID: "two.example", What: "two.example", File: "b.mdx"}})
	if want := []string{"one.example (a.mdx:3)", "two.example (b.mdx, as readers get it)"}; !slices.Equal(hosts, want) {
		t.Errorf("got %q", hosts)
	}
}

// A strict project accepts what was seen whole and brings nothing new.
func TestAcceptedReviews(t *testing.T) {
	strict := admin.AgentSettings{RefuseNewHosts: true}
	for name, c := range map[string]struct {
		set    admin.AgentSettings
		seen   agent.Reviewed
		unseen bool
		code   string
	}{
		"nothing new":               {set: strict, seen: agent.Reviewed{Hosts: []agent.ReviewedItem{{ID: "h", What: "h", Earlier: true}}}},
		"a new host":                {set: strict, seen: agent.Reviewed{Hosts: []agent.ReviewedItem{{ID: "h", What: "h"}}}, code: admin.CodeChanges},
		"a page that failed":        {set: strict, seen: agent.Reviewed{Failed: []string{"a.mdx: too large"}}, code: admin.CodeChanges},
		"pages that were left":      {set: strict, seen: agent.Reviewed{Left: []string{"7 more pages"}}, code: admin.CodeChanges},
		"a merge that nobody saw":   {set: strict, unseen: true, code: admin.CodeBranchMoved},
		"all of that, without them": {seen: agent.Reviewed{Failed: []string{"x"}, Left: []string{"x"}, Hosts: []agent.ReviewedItem{{ID: "h", What: "h"}}}, unseen: true},
	} {
		r := &agent.Round{In: admin.AgentInput{Project: admin.Project{Agent: c.set}}}
		if err := accept(r, &c.seen, c.unseen); admin.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
