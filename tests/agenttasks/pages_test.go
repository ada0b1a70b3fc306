package agenttasks

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// moved are the redirects of a site after old leads to now.
func moved(before files, old, now string) map[string]string {
	all := maps.Clone(before.redirects())
	all[old] = now
	return all
}

// replaced is a navigation with entries in the place of one, which may be none.
func replaced(entries []string, old string, now ...string) []string {
	i := slices.Index(entries, old)
	if i < 0 {
		return entries
	}
	return slices.Concat(entries[:i], now, entries[i+1:])
}

// pageTasks add, move, split, merge and remove pages.
func pageTasks() []task {
	return []task{
		{
			name:   "add-page",
			site:   registry,
			prompt: "Add a page registry/deprecating, “Deprecating a Server”, after the page about versioning. It says: a publisher can mark a version of a server as deprecated, with `mcp-publisher status --status deprecated NAME VERSION`; clients still find it, with its status; `--status active` takes it back. Link to the page about versioning.",
			may:    "registry/deprecating.mdx docs.json",
			check: func(j *judge) {
				const p = "registry/deprecating.mdx"
				j.want(field(j.after[p], "title") == "Deprecating a Server", "the title is %q", field(j.after[p], "title"))
				j.want(field(j.after[p], "description") != "", "the page has no description")
				j.want(strings.Contains(code(j.after[p]), "mcp-publisher status --status deprecated"), "the command is not there as code")
				j.has(p, "--status active")
				j.want(regexp.MustCompile(`\]\((\./|/registry/)versioning[)#]`).MatchString(j.after[p]), "no link leads to the page about versioning")
				j.settings(replaced(j.before.navigation(), "registry/versioning", "registry/versioning", "registry/deprecating"), nil, 2)
			},
		},
		{
			name: "move-page",
			site: func(tb testing.TB) files {
				f := trigger(tb)
				f["tags.mdx"] += "\nA [hidden task](/hidden-tasks) has tags as well.\n"
				f["versioning.mdx"] += "\n<Card title=\"Hidden tasks\" href=\"/hidden-tasks\">\n  They have the version of their file.\n</Card>\n"
				return f
			},
			prompt: "Move the page /hidden-tasks to /tasks/hidden. Its old address must go on to work.",
			may:    "hidden-tasks.mdx tasks/hidden.mdx tags.mdx versioning.mdx docs.json",
			check: func(j *judge) {
				j.gone("hidden-tasks.mdx")
				j.want(j.after["tasks/hidden.mdx"] == j.before["hidden-tasks.mdx"], "the page is not at its new place, or has another text")
				j.settings(replaced(j.before.navigation(), "hidden-tasks", "tasks/hidden"), moved(j.before, "/hidden-tasks", "/tasks/hidden"), 4)
				for _, p := range []string{"tags.mdx", "versioning.mdx"} {
					j.want(j.after[p] == strings.ReplaceAll(j.before[p], "/hidden-tasks", "/tasks/hidden"), "%s: its link was not rewritten, or more was", p)
				}
			},
		},
		{
			name: "split-page",
			site: func(tb testing.TB) files {
				f := account(tb)
				f["platform/account/manage-members.mdx"] += "\nMembers can also be [taken from your directory](/platform/account/sso#scim-directory-sync).\n"
				return f
			},
			prompt: "The page platform/account/sso has two subjects. Split it: SCIM becomes a page of its own, platform/account/scim, right after it in the navigation, with all that is said of it now; what is left is about SAML SSO alone, in its title and description too. The note about Enterprise belongs to both. Links must lead to the right page.",
			may:    "platform/account/sso.mdx platform/account/scim.mdx platform/account/manage-members.mdx docs.json",
			check:  checkSplit,
		},
		{
			name: "merge-pages",
			site: func(tb testing.TB) files {
				f := trigger(tb)
				f["tags.mdx"] += "\nA run that [waits until a date](/wait-until) keeps its tags.\n"
				return f
			},
			prompt: "Merge the page /wait-until into /wait-for, as a section “Wait until a date” at its end that keeps its examples and what it says of `throwIfInThePast`. What both pages say, the page says once. The address /wait-until must lead to /wait-for.",
			may:    "wait.mdx wait-for.mdx wait-until.mdx tags.mdx docs.json",
			check:  checkMerge,
		},
		{
			name: "remove-deprecated",
			site: func(tb testing.TB) files {
				f := trigger(tb)
				f["tags.mdx"] += "\n## Tags of hidden tasks\n\nSee [hidden tasks](/hidden-tasks).\n"
				f.plant(tb, "versioning.mdx", "See [replaying](/replaying) for more information.", "See [replaying](/replaying) and [hidden tasks](/hidden-tasks) for more information.")
				return f
			},
			prompt: "Hidden tasks are no more. Remove their page and everything that the others say of them. The address /hidden-tasks leads to /versioning from now on.",
			may:    "hidden-tasks.mdx tags.mdx versioning.mdx docs.json",
			check: func(j *judge) {
				j.gone("hidden-tasks.mdx")
				good := trigger(j.tb)
				for _, p := range []string{"tags.mdx", "versioning.mdx"} {
					j.want(words(j.after[p]) == words(good[p]), "%s: says more or less than without hidden tasks", p)
				}
				j.settings(replaced(j.before.navigation(), "hidden-tasks"), moved(j.before, "/hidden-tasks", "/versioning"), 4)
			},
		},
	}
}

func checkSplit(j *judge) {
	const sso, scim = "platform/account/sso.mdx", "platform/account/scim.mdx"
	_, about, _ := strings.Cut(j.before[sso], "## SCIM (directory sync)\n")
	for paragraph := range strings.SplitSeq(about, "\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			j.has(scim, paragraph)
			j.lacks(sso, paragraph)
		}
	}
	saml, _, _ := strings.Cut(body(j.before[sso]), "## SCIM (directory sync)\n")
	for paragraph := range strings.SplitSeq(saml, "\n") {
		if paragraph = strings.TrimSpace(paragraph); !strings.HasPrefix(paragraph, "## SAML") {
			j.has(sso, paragraph)
		}
	}
	j.has(scim, "only available to Enterprise customers")
	j.want(strings.Contains(field(j.after[scim], "title"), "SCIM") && field(j.after[scim], "description") != "", "the new page has no title or no description")
	j.want(!strings.Contains(field(j.after[sso], "title")+field(j.after[sso], "description"), "SCIM"), "the head of the old page still names SCIM")
	j.want(field(j.after[sso], "icon") == field(j.before[sso], "icon"), "the old page lost its icon")
	link := without(`/platform/account/(sso#scim-directory-sync|scim(#[a-z0-9-]+)?)`)
	const members = "platform/account/manage-members.mdx"
	j.has(members, "(/platform/account/scim")
	j.same(members, link)
	j.settings(replaced(j.before.navigation(), "platform/account/sso", "platform/account/sso", "platform/account/scim"), nil, 2)
}

func checkMerge(j *judge) {
	const p = "wait-for.mdx"
	j.gone("wait-until.mdx")
	text := j.after[p]
	for _, block := range append(fence.FindAllString(j.before["wait-until.mdx"], -1), fence.FindAllString(j.before[p], -1)...) {
		j.want(strings.Contains(words(text), words(block)), "an example is gone: %.60q", block)
	}
	j.has(p, "## Wait until a date", "throwIfInThePast", "You can optionally throw an error if the date is already in the past", "You can of course use try/catch")
	for _, once := range []string{"import PausedExecutionFree", "<PausedExecutionFree />", "You can pass an idempotency key to any wait function", "This allows you to write linear code"} {
		j.want(strings.Count(text, once) == 1, "%q is there %d times", once, strings.Count(text, once))
	}
	j.want(strings.Index(text, "## Wait until a date") > strings.Index(text, "wait.for({ years: 1 })"), "the new section is not after the old ones")
	j.want(field(text, "title") == field(j.before[p], "title"), "the title is another one")
	j.want(regexp.MustCompile(`\[wait\.until\(\)\]\(/wait-for(#[a-z0-9-]+)?\)`).MatchString(j.after["wait.mdx"]), "the overview does not lead to the page")
	link := without(`/wait-(until|for)(#[a-z0-9-]+)?`)
	j.same("tags.mdx", link)
	j.want(loose(link(j.before["wait.mdx"])) == loose(link(j.after["wait.mdx"])), "wait.mdx: more differs than the link")
	j.lacks("tags.mdx", "(/wait-until")
	j.settings(replaced(j.before.navigation(), "wait-until"), moved(j.before, "/wait-until", "/wait-for"), 4)
}

// structureTasks change how a site or a page is built.
func structureTasks() []task {
	return []task{
		{
			name:   "navigation-groups",
			site:   registry,
			prompt: "Make a group “Policies” at the end of the navigation with the moderation policy and the terms of service, which leave their group. All else stays in its order.",
			may:    "docs.json",
			check: func(j *judge) {
				want := replaced(replaced(j.before.navigation(), "registry/moderation-policy"), "registry/terms-of-service")
				j.settings(append(want, "# Policies", "registry/moderation-policy", "registry/terms-of-service"), nil, 8)
			},
		},
		{
			name:   "table-to-cards",
			site:   trigger,
			prompt: "On the page /wait, turn the table of functions into cards (CardGroup with Card): a card for each row, with the function as its title, its link as href and what it does as its text.",
			may:    "wait.mdx",
			check: func(j *judge) {
				const p = "wait.mdx"
				text := j.after[p]
				j.want(!strings.Contains(text, "| :--"), "the table is still there")
				j.want(strings.Count(text, "<Card ") == 4 && regexp.MustCompile(`<(CardGroup|Columns)[ >]`).MatchString(text), "there are not four cards in a group")
				for name, href := range map[string]string{
					"wait.for()": "/wait-for", "wait.until()": "/wait-until", "wait.forToken()": "/wait-for-token",
					"inputStream.wait()": "/tasks/streams#wait--suspend-until-data-arrives",
				} {
					card := regexp.MustCompile(`<Card[^>]*title="` + regexp.QuoteMeta(name) + `"[^>]*>`).FindString(text)
					j.want(strings.Contains(card, `href="`+href+`"`), "no card %s leads to %s", name, href)
				}
				for _, s := range []string{"Waits for a specific period of time, e.g. 1 day.", "Waits until the provided `Date`.", "Pauses runs until a token is completed.", "Pauses runs until data arrives on an input stream."} {
					j.has(p, s)
				}
				before, _, _ := strings.Cut(j.before[p], "| Function")
				j.want(strings.HasPrefix(text, before), "what is above the table was changed")
			},
		},
		{
			name: "changelog",
			long: true,
			site: func(tb testing.TB) files {
				f := ownDocs(tb)
				f["changelog.mdx"] = "---\ntitle: Changelog\ndescription: What changed for those who write, export and operate.\nicon: history\nrss: true\n---\n\n" +
					"<Update label=\"February 2027\" description=\"Smaller bundles\" tags={[\"Operators\"]}>\n  ## For operators\n\n  - **Bundles are smaller.** Pictures that nobody links to are left out.\n</Update>\n\n" +
					"<Update label=\"January 2027\" description=\"More colours\" tags={[\"Authors\"]}>\n  ## For authors\n\n  - **Code has more colours.** Ten languages were added.\n</Update>\n"
				return f
			},
			prompt: "Add an entry for March 2027 to the changelog, in the form of the others: “Faster checks”, for authors: **A check takes half the time.** Pages that did not change are not looked at again.",
			may:    "changelog.mdx",
			check: func(j *judge) {
				const p = "changelog.mdx"
				head, rest, ok := strings.Cut(j.before[p], "<Update")
				entry, found := strings.CutPrefix(j.after[p], head)
				entry, kept := strings.CutSuffix(entry, "<Update"+rest)
				j.want(ok && found && kept, "the entry is not at the top, or what was there has changed")
				for _, s := range []string{`<Update label="March 2027"`, `description="Faster checks"`, `tags={["Authors"]}`, "## For authors", "**A check takes half the time.** Pages that did not change are not looked at again.", "</Update>"} {
					j.want(strings.Contains(entry, s), "the entry lacks %q", s)
				}
				j.want(strings.Count(entry, "<Update") == 1, "there is not one new entry")
			},
		},
	}
}
