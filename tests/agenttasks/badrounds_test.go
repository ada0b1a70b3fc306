package agenttasks

import (
	"slices"
	"strings"
)

// guess is a job that does not ask.
func guess(path, old, now string) func(o *outcome) {
	return func(o *outcome) {
		put(path, old, now)(o)
		o.question, o.draft, o.link, o.title = "", false, "https://forge.example.com/pulls/1", "Correct it"
	}
}

// markOf marks an operation of a specification as deprecated.
func markOf(o *outcome, operation string) {
	o.after[specification] = strings.Replace(o.after[specification], operation, operation+"      deprecated: true\n", 1)
}

// recited are sources of which one thing is otherwise.
func recited(all []source, change func(s *source)) []source {
	all = slices.Clone(all)
	for i := range all {
		change(&all[i])
	}
	return all
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
	"long-rename":         {{"renames in the output of a program", put("cli-whoami-commands.mdx", "Trigger.dev Cloud (", "Trigger Cloud (")}, {"overlooks a snippet", undo("snippets/paused-execution-free.mdx")}},
	"long-contact":        {{"overlooks links", put("platform/developer/limits.mdx", "mailto:help@novu.co", "mailto:support@novu.co")}, {"changes the address of sales", put("platform/additional-resources/security.mdx", "sales@novu.co", "help@novu.co")}},
	"spec-describe":       {{"replaces what it said", put(specification, "Only valid when the run is in the DELAYED state. A run", "A run")}},
	"spec-deprecate":      {{"marks those of another region", func(o *outcome) { markOf(o, "af_list_queues_v1\n      summary: List all queues\n") }}},
	"translate-german":    {{"translates the code", put("de/wait-for.mdx", "// Specify the idempotency key", "// Den Schlüssel")}, {"forgets the navigation", undo("docs.json")}},
	"translate-french":    {{"leaves a sentence", put("fr/platform/account/billing.mdx", "Les offres payantes s'achètent dans les paramètres de facturation du tableau de bord de Novu.", "Paid plans can be purchased from billing settings in the Novu dashboard.")}},
	"code-limits":         {{"overlooks a limit", put(tagsPage, "256 characters", "128 characters")}},
	"code-flags": {
		{"reads the head alone: an old default", put(statusPage, "| `30s` | `10s` |", "| – | `10s` |")},
		{"reads the head alone: a flag that is gone", put(statusPage, "| `--force` | `false` | – |\n", "")},
		{"takes what moved for a change", put(statusPage, "| `--force`", "| `--registry` | – | `https://registry.modelcontextprotocol.io` |\n| `--force`")},
		{"leaves the table of flags", put(statusPage, "| `--dry-run` | Shows what would change, and changes nothing | `false` |\n", "")},
		{"writes the section anew", put(statusPage, "Sets the status of all versions of the server", "For all versions")},
	},
	"cite-code": {
		{"names the file without its lines", func(o *outcome) { o.sources = recited(o.sources, func(s *source) { s.line = 0 }) }},
		{"names other lines", func(o *outcome) { o.sources = recited(o.sources, func(s *source) { s.line-- }) }},
	},
	"cite-pages": {
		{"is wrong about private servers", put("registry/faq.mdx", "No, the registry does not support", "Yes, the registry supports")},
		{"names no source", func(o *outcome) { o.sources = nil }},
	},
	"cite-attachment": {
		{"names the request as the source", func(o *outcome) {
			o.sources = recited(o.sources, func(s *source) { *s = source{statement: s.statement, message: 1} })
		}},
		{"says what nobody asked for", put("platform/account/manage-members.mdx", "7 days.", "7 days. Guests are not supported.")},
	},
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
		{"rewords the glossary", func(o *outcome) {
			text := o.after["registry/glossary.mdx"]
			o.after["registry/glossary.mdx"] = strings.Replace(text, "**Aggregator**: a consumer", "**Aggregator**: a reader", 1)
		}},
	},
	"code-limits": {
		{"overlooks a place", put(tagsPage, "only have up to 20 tags", "only have up to 15 tags")},
		{"forgets the first round", put(tagsPage, "tags.remove(", "tags.drop(")},
		{"says what the code did before", put(tagsPage, "it throws a `TooManyTagsError` and adds none", "we log an error")},
		{"changes the code", put(tagsCode, "MAX_TAGS_PER_RUN = 20", "MAX_TAGS_PER_RUN = 15")},
		{"goes on in the merged pull request", func(o *outcome) { o.link = "https://forge.example.com/pulls/1" }},
	},
	"code-flags": {
		{"reads the head, which is past the release", put(statusPage, "`15s`", "`20s`")},
		{"names a flag of the next release", put(statusPage, "| `--message` |", "| `--reason` |")},
		{"compares with the first round", put(statusPage, "| `30s` | `15s` |", "| `10s` | `15s` |")},
		{"leaves a change that was taken back", put(statusPage, "| `--all-versions` | – |", "| `--retries` | `3` | `3` |\n| `--all-versions` | – |")},
		{"forgets the table of flags", put(statusPage, "if the registry is busy | `3` |", "if the registry is busy | `5` |")},
		{"takes the person's change back", put("docs/registry/faq.mdx", "Not yet.", "Currently, no.")},
	},
	"cite-code": {
		{"names the lines of before", func(o *outcome) { o.sources = recited(o.sources, func(s *source) { s.line = min(s.line, 5) }) }},
		{"leaves the figure", put(waitPage, "1,000", "500")},
		{"forgets a limit of the first round", put(waitPage, "- The address of a token is valid for 48 hours.\n", "")},
		{"names nothing new", func(o *outcome) { o.sources = o.sources[:3] }},
	},
	"cite-pages": {
		{"rewords an accepted answer", put("registry/faq.mdx", "strings that look like a range of versions are prohibited", "ranges are prohibited")},
		{"replaces an answer", put("registry/faq.mdx", "No, the registry does not support private servers. Host", "Host")},
		{"names the wrong page", func(o *outcome) {
			o.sources = recited(o.sources, func(s *source) { s.path = strings.ReplaceAll(s.path, "registry-aggregators", "remote-servers") })
		}},
	},
	"cite-attachment": {
		{"names the decision of before", func(o *outcome) {
			o.sources = recited(o.sources, func(s *source) { s.path = "attachment:1/decisions.md" })
		}},
		{"forgets the other decision", put("platform/account/manage-members.mdx", ", after 1 hour", "")},
		{"says both", put("platform/account/manage-members.mdx", "14 days", "14 days, and not 7 days")},
		{"says more of April", put("platform/account/manage-members.mdx", "14 days.", "14 days. Guests are supported on request.")},
	},
	"long-rename": {
		{"takes another page back, too", put("limits.mdx", "Trigger Cloud", "Trigger.dev Cloud")},
		{"leaves one of three", put("migration-n8n.mdx", "Trigger.dev Cloud", "Trigger Cloud")},
		{"takes all back", func(o *outcome) {
			for p, text := range o.after {
				o.after[p] = strings.ReplaceAll(text, "Trigger Cloud", "Trigger.dev Cloud")
			}
		}},
	},
	"long-contact": {
		{"leaves the code of conduct", put("community/code-of-conduct.mdx", "support@novu.co", "help@novu.co")},
		{"overlooks a page", undo("platform/integrations/chat/slack.mdx")},
		{"takes another page back, too", put("platform/developer/limits.mdx", "help@novu.co", "support@novu.co")},
	},
	"spec-describe": {
		{"says the status of both", func(o *outcome) {
			o.after[specification] = strings.ReplaceAll(strings.ReplaceAll(o.after[specification], " The answer is 422 then.", ""), "can't be rescheduled.", "can't be rescheduled. The answer is 422 then.")
		}},
		{"forgets the first round", put(specification, "A run that has begun can't be rescheduled. The answer is 422 then.", "The answer is 422.")},
		{"breaks the file", put(specification, "can't be rescheduled. The answer is 422 then.", "can't be rescheduled: the answer is 422 then.")},
		{"uses other words", func(o *outcome) {
			i := strings.LastIndex(o.after[specification], "A run that has begun can't")
			o.after[specification] = o.after[specification][:i] + "A run that was started can't" + o.after[specification][i+len("A run that has begun can't"):]
		}},
	},
	"spec-deprecate": {
		{"takes all marks back", put(specification, "      deprecated: true\n", "")},
		{"leaves the mark", func(o *outcome) { markOf(o, "sa_pause_queue_v1\n      summary: Pause or resume a queue\n") }},
		{"replaces the description", func(o *outcome) {
			from, to := strings.Index(o.after[specification], "The REST API lets you"), strings.Index(o.after[specification], "The region sa closes")
			o.after[specification] = o.after[specification][:from] + o.after[specification][to:]
		}},
	},
	"translate-german": {
		{"overlooks the example", put("de/wait-for.mdx", "    await wait.for({ quarters: 2 });\n\n", "")},
		{"rewords what was right", put("de/wait-for.mdx", "So schreiben Sie Code", "Sie schreiben so Code")},
		{"writes over the person's page", put("wait-for.mdx", "    await wait.for({ quarters: 2 });\n\n", "")},
		{"leaves the section in English", put("de/wait-for.mdx", "Eine Wartezeit von mehr als einem Jahr schlägt sofort fehl. Für ein Datum, das weiter in der Zukunft ist, gibt es [wait until](/wait-until).", "A wait of more than one year fails at once. Use [wait until](/wait-until) for a date that is further away.")},
	},
	"translate-french": {
		{"overlooks what is gone", func(o *outcome) {
			put("fr/platform/account/billing.mdx", "tableau de bord de Novu. De là, cliquez", "tableau de bord de Novu. Cliquez sur l'avatar, puis sur **Billing Plans**. De là, cliquez")(o)
		}},
		{"overlooks the new accordion", func(o *outcome) {
			text := o.after["fr/platform/account/billing.mdx"]
			from, to := strings.Index(text, "  <Accordion title=\"Qui"), strings.Index(text, "  <Accordion title=\"Comment acheter")
			o.after["fr/platform/account/billing.mdx"] = text[:from] + text[to:]
		}},
		{"rewords what was right", put("fr/platform/account/billing.mdx", "De là, vous pouvez choisir l'offre", "Vous pouvez y choisir une offre")},
		{"translates a label", put("fr/platform/account/billing.mdx", "**Billing Plans**", "**Offres**")},
	},
}
