package agenttasks

import "strings"

// guess is a job that does not ask.
func guess(path, old, now string) func(o *outcome) {
	return func(o *outcome) {
		put(path, old, now)(o)
		o.question, o.draft, o.link, o.title = "", false, "https://forge.example.com/pulls/1", "Correct it"
	}
}

// badFirst has bad solutions of the first round, for tasks of several.
var badFirst = map[string][]spoiled{
	"ask-limit": {
		{"guesses", guess("registry/faq.mdx", "4KB size limit (4096", "8KB size limit (8192")},
		{"neither asks nor answers", func(o *outcome) { o.question = "" }},
	},
	"ask-role": {
		{"guesses", guess("platform/account/roles-and-permissions.mdx", "Author", "Editor")},
		{"guesses, and asks whether that is right", func(o *outcome) {
			put("platform/account/roles-and-permissions.mdx", "Author", "Editor")(o)
			o.link, o.draft = "https://forge.example.com/pulls/1", true
		}},
	},
	"ask-partly": {
		{"does a part and forgets to ask", func(o *outcome) { o.question, o.draft = "", false }},
		{"moves the section where it likes", func(o *outcome) {
			o.after["versioning.mdx"] += "\n## Filtering runs by tags\n" + section(o.after["tags.mdx"], "## Filtering runs by tags")
		}},
	},
	"review-section":      {{"forgets the note", put("platform/account/manage-members.mdx", "The last owner of an organization can't leave it.", "Ask an owner.")}},
	"review-descriptions": {{"leaves a page", undo("registry/quickstart.mdx")}},
	"review-closed":       {{"leaves the table", undo("wait.mdx")}},
	"rebase-branch":       {{"leaves the old answer", put("registry/faq.mdx", "Yes. Delete", "Currently, no. Delete")}},
	"rebase-base":         {{"leaves a page", undo("wait-until.mdx")}},
	"rebase-navigation":   {{"forgets the navigation", undo("docs.json")}},
}

// badLast has bad solutions of the last round of those tasks.
var badLast = map[string][]spoiled{
	"ask-limit": {
		{"corrects one of two figures", put("registry/faq.mdx", "16384", "4096")},
		{"corrects another limit, too", put("registry/about.mdx", "strict character limits", "character limits of 16 KB")},
	},
	"ask-role": {
		{"leaves the table", put("platform/account/roles-and-permissions.mdx", "**Editor** |", "**Author** |")},
		{"leaves the other page", undo("platform/account/manage-members.mdx")},
		{"renames another role", put("platform/account/manage-members.mdx", "an Admin", "an Editor")},
	},
	"ask-partly": {
		{"undoes the first round", put("tags.mdx", "up to 20 tags per run", "up to 10 tags per run")},
		{"copies the section", func(o *outcome) { o.after["tags.mdx"] = o.before["tags.mdx"] }},
		{"loses the picture", put("replaying.mdx", "![Filter by tags](/images/tags-filtering.png)", "")},
		{"leaves the draft", func(o *outcome) { o.draft = true }},
	},
	"review-section": {
		{"rewords the note", put("platform/account/manage-members.mdx", "The last owner of an organization can't leave it.", "The last owner can't leave.")},
		{"renames the heading", put("platform/account/manage-members.mdx", "## Leave an organization", "## Leave your organization")},
		{"forgets the Warning", put("platform/account/manage-members.mdx", "Warning>", "Note>")},
	},
	"review-descriptions": {
		{"rewrites what was accepted", put("registry/about.mdx", "What the MCP Registry is", "What this registry is")},
		{"undoes the first round", put("registry/quickstart.mdx", "description: Publish a server written in TypeScript, from its package to its entry in the registry.\n", "")},
		{"is still too long", put("registry/faq.mdx", "and reports of abuse.", "and reports of abuse, for those who publish and those who read.")},
	},
	"review-closed": {
		{"brings the cards back", func(o *outcome) {
			o.after["wait.mdx"] += "\n<CardGroup>\n  <Card title=\"wait.for()\" href=\"/wait-for\" />\n</CardGroup>\n"
		}},
		{"goes on in the closed pull request", func(o *outcome) { o.link = "https://forge.example.com/pulls/1" }},
		{"renames nothing", put("wait.mdx", "| Call  ", "| Name  ")},
	},
	"rebase-branch": {
		{"writes over the person's sentence", put("registry/faq.mdx", " It works within 72 hours after the version was published.", "")},
		{"restores the question", put("registry/faq.mdx", "### Can I delete my server?", "### Can I delete/unpublish my server?")},
		{"undoes the person's other page", put("registry/about.mdx", "## Trust", "## Trust and Security")},
		{"forgets the first round", put("registry/faq.mdx", "Yes. Delete a version with `mcp-publisher delete NAME VERSION`.", "Yes.")},
	},
	"rebase-base": {
		{"restores its own paragraph", put("wait-for.mdx", "Give any wait function an idempotency key to skip waits that an earlier attempt has made already.", "You can pass an idempotency key to any wait function, allowing you to skip waits if the same idempotency key is used again.")},
		{"restores the heading", put("wait-for.mdx", "## Idempotency of waits", "## Wait idempotency")},
		{"takes the other page back", put("wait-until.mdx", "30 days", "a month")},
	},
	"rebase-navigation": {
		{"takes the person's page out", put("docs.json", `"registry/status", `, "")},
		{"puts it before the new page", put("docs.json", `"registry/status", "registry/glossary"`, `"registry/glossary", "registry/status"`)},
		{"writes the glossary anew", func(o *outcome) {
			text := o.after["registry/glossary.mdx"]
			o.after["registry/glossary.mdx"] = strings.Replace(text, "**Aggregator**: a consumer", "**Aggregator**: a reader", 1)
		}},
	},
}
