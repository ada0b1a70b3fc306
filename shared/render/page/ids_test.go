package page_test

import (
	"slices"
	"strings"
	"testing"
)

// Each rule by which the source language makes ids of texts is kept: the element
// has the id, beside ours, so that links written for it lead there.
func TestDocumentedIDs(t *testing.T) {
	for _, c := range []struct{ rule, source, want string }{
		{"words in lower case, joined by hyphens", "## Getting Started", "getting-started"},
		{"an apostrophe is a typographic one", "## What's new", "whats-new what’s-new"},
		{"so is a typographic one", "## What’s new", "whats-new what’s-new"},
		{"an ampersand is kept", "## Fees & billing", "fees-billing fees--billing fees-&-billing"},
		{"a slash is kept", "## Read/write access", "read-write-access readwrite-access read/write-access"},
		{"code counts as its text", "## `tasks/get` now", "tasks-get-now tasksget-now tasks/get-now"},
		{"a full stop is a hyphen, and signs beyond ASCII are kept", "## `session.in` — clients → task", "session-in-clients-task sessionin--clients--task session-in-—-clients-→-task"},
		{"so are a colon and a comma", "## Option 2: servers, remote", "option-2-servers-remote option-2:-servers,-remote"},
		{"so are a question mark, a plus and an at sign", "## Why @me + you?", "why-me-you why-me--you why-@me-+-you?"},
		{"so are signs of markup", "## `a<b>` or \"c\" | #d % $e ^f", "a-b-or-c-d-e-f ab-or-c--d--e-f a<b>-or-“c”-|-#d-%-$e-^f"},
		{"quotes and three full stops are typographic", "## `if...else` is \"it\"", "if-else-is-it ifelse-is-it if…else-is-“it”"},
		{"signs that an address carries as they are, are left out", "## Go (fast)! ~1 or 2*3", "go-fast-1-or-2-3 go-fast-1-or-23"},
		{"a badge's text counts", "## Limits <Badge>New</Badge>", "limits-new limits"},
		{"a heading as an element", `<Heading level={3}>What's new</Heading>`, "whats-new what’s-new"},
		{"letters that are written as two are one", "## Gro\u0308ße", "größe"},
		{"so they are in an author's own id", "## Size {#gro\u0308ße}\n\n<Accordion title=\"A\" id=\"u\u0308\">Text</Accordion>", "größe ü"},
		{"an author's own id is the only one", "## What's new {#news}", "news"},
		{"a parameter", `<ParamField body="userId">Text</ParamField>`, "param-userid param-user-id"},
		{"a parameter in snake case", `<ParamField query="task_identifier">Text</ParamField>`, "param-task-identifier param-task_identifier"},
		{"a field of an answer is a parameter as well", `<ResponseField name="taskIdentifier">Text</ResponseField>`, "response-taskidentifier response-task-identifier param-taskidentifier param-task-identifier"},
		{"an accordion", `<Accordion title="What's in it?">Text</Accordion>`, "whats-in-it what’s-in-it?"},
		{"a tab", `<Tabs><Tab title="npm & yarn">Text</Tab></Tabs>`, "npm-yarn npm-&-yarn"},
		{"a step", `<Steps><Step title="Read/write">Text</Step></Steps>`, "read-write read/write"},
		{"a component with its author's id", `<Accordion title="What's in it?" id="own">Text</Accordion>`, "own"},
		{"the first panel and the first examples", "<Panel>One</Panel>\n\n<Panel>Two</Panel>\n\n<RequestExample>x</RequestExample>\n\n<ResponseExample>x</ResponseExample>\n\n<RequestExample>y</RequestExample>", "panel request-example response-example"},
		{"a panel with its author's id, and a heading's", "## Request example\n\n<Panel id=\"own\">One</Panel>\n\n<Panel>Two</Panel>\n\n<RequestExample>x</RequestExample>", "request-example own panel"},
		{"an id that another element has is left to it", "## A/B\n\n## A B {#a/b}", "a-b ab a/b"},
	} {
		r := renderSource(t, c.source+"\n")
		want, got := strings.Fields(c.want), slices.Clone(r.IDs)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s has %q, want %q", c.rule, c.source, got, want)
		}
		for _, id := range want {
			if n := strings.Count(string(r.HTML), ` id="`+strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(id)+`"`); n != 1 {
				t.Errorf("%s: the id %s stands %d times in\n%s", c.rule, id, n, r.HTML)
			}
		}
	}
}
