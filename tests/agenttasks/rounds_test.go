package agenttasks

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// roundTasks are the tasks of several rounds.
func roundTasks() []task {
	return slices.Concat(inFamily("ask back", askTasks()), inFamily("review", reviewTasks()), inFamily("rebase", rebaseTasks()), repositoryTasks(), largeTasks(), inFamily("translation", translationTasks()))
}

// section is the part of a page under a heading, without the heading, up to the next one
// that is not below it; "" if there is none.
func section(text, heading string) string {
	_, rest, ok := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !ok {
		return ""
	}
	level, _, _ := strings.Cut(heading, " ")
	open := false // in a code block
	at := 0
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			open = !open
		}
		if marks, _, _ := strings.Cut(line, " "); !open && marks != "" && strings.Trim(marks, "#") == "" && len(marks) <= len(level) {
			break
		}
		at += len(line)
	}
	return rest[:at]
}

// outsideOf is a page without the part under a heading.
func outsideOf(text, heading string) string {
	return words(strings.Replace(text, section(text, heading), "", 1))
}

// says wants that a text matches each of some patterns, in either case.
func (j *judge) says(what, text string, patterns ...string) {
	for _, p := range patterns {
		j.want(regexp.MustCompile("(?i)"+p).MatchString(text), "%s: does not say %q", what, p)
	}
}

// unchanged wants that files are as the last round found them.
func (j *judge) unchanged(paths ...string) {
	for _, p := range paths {
		j.want(j.after[p] == j.before[p], "%s: was right before this round, and differs", p)
	}
}

// askTasks can't be done as they are asked for: who guesses is wrong.
func askTasks() []task {
	const faq, roles, members = "registry/faq.mdx", "platform/account/roles-and-permissions.mdx", "platform/account/manage-members.mdx"
	nothing := func(j *judge) {
		j.want(len(j.changed()) == 0, "%v: was changed before the question is answered", j.changed())
	}
	filtering := func(text string) string { return section(text, "## Filtering runs by tags") }
	return []task{
		{
			name:   "ask-limit",
			site:   registry,
			prompt: "The limit for custom metadata was raised. Correct it in the FAQ.",
			first:  round{asks: true},
			check: func(j *judge) {
				nothing(j)
				j.says("the question", j.question, `limit|size|KB|bytes|metadata`)
			},
			then: []round{{
				prompt: "It is 16 KB now, 16384 bytes of JSON. The rest of the answer holds.",
				may:    faq,
				check: func(j *judge) {
					j.says(faq, j.after[faq], `\b16 ?KB\b`, `\b16,?384 bytes\b`)
					limit := without(`\b(4|16) ?KB\b|\b(4096|16,?384)\b`)
					j.same(faq, limit)
					j.lacks(faq, "4KB", "4 KB", "4096")
				},
			}},
		},
		{
			name: "ask-role",
			site: func(tb testing.TB) files {
				f := account(tb)
				f[members] += "\n\nAn Author can't invite members, and an Admin can't remove them.\n"
				return f
			},
			prompt: "One of our four roles is called “Editor” from now on. Rename it wherever our pages speak of it.",
			first:  round{asks: true},
			check: func(j *judge) {
				nothing(j)
				j.says("the question", j.question, `role|which`)
			},
			then: []round{{
				prompt: "The Author. Authors are Editors.",
				may:    "platform/account/*.mdx",
				check: func(j *judge) {
					for _, p := range j.before.pages("platform/account/*.mdx") {
						j.want(!regexp.MustCompile(`\bAuthors?\b`).MatchString(j.after[p]), "%s: still speaks of the Author", p)
					}
					j.same("platform/account/*.mdx", func(text string) string {
						return loose(strings.ReplaceAll(text, "Editor", "Author"))
					})
				},
			}},
		},
		{
			name: "ask-partly",
			site: func(tb testing.TB) files {
				f := trigger(tb)
				f["images/tags-filtering.png"] = picture
				return f
			},
			prompt: "Two things about /tags: a run has up to 20 tags now, correct that. And its section about filtering runs belongs on another page: move it there.",
			may:    "tags.mdx",
			first:  round{asks: true},
			check: func(j *judge) {
				j.want(filtering(j.after["tags.mdx"]) == filtering(j.before["tags.mdx"]), "the section was moved before it is said where to")
				j.same("tags.mdx", strings.NewReplacer("20 tags", "10 tags", "more than 20", "more than 10").Replace)
				j.says("the question", j.question, `where|which|page`)
			},
			then: []round{{
				prompt: "It goes to the end of /replaying, with its headings as they are. On /tags a sentence with a link to it stays in its place.",
				may:    "tags.mdx replaying.mdx",
				check: func(j *judge) {
					first := j.rounds[0].before
					j.want(words(j.after["replaying.mdx"]) == words(first["replaying.mdx"]+"\n\n## Filtering runs by tags\n"+filtering(first["tags.mdx"])), "replaying.mdx: does not end with the section, or more differs")
					j.lacks("tags.mdx", "up to 10 tags", "more than 10", "### Using `runs.list()`", "## In the dashboard", "tags-filtering.png")
					j.has("tags.mdx", "up to 20 tags per run", "more than 20")
					j.want(regexp.MustCompile(`\]\(/replaying(#filtering-runs-by-tags)?\)`).MatchString(j.after["tags.mdx"]), "no link leads to the section")
					rest := func(text string) string { // all above the section
						above, _, _ := strings.Cut(text, "It's easy to propagate tags if you want:")
						return strings.NewReplacer("20 tags", "10 tags", "more than 20", "more than 10").Replace(above)
					}
					j.want(rest(j.after["tags.mdx"]) == rest(first["tags.mdx"]), "tags.mdx: more differs than was asked for")
				},
			}},
		},
	}
}

// reviewTasks are reviewed after the first round. What was accepted stays.
func reviewTasks() []task {
	const members, faq, about, quickstart = "platform/account/manage-members.mdx", "registry/faq.mdx", "registry/about.mdx", "registry/quickstart.mdx"
	const leave = "## Leave an organization"
	box := func(text, name string) string {
		m := regexp.MustCompile(`(?s)<` + name + `>(.*?)</` + name + `>`).FindStringSubmatch(section(text, leave))
		if m == nil {
			return ""
		}
		return words(m[1])
	}
	description := without(`(?m)^description:.*\n`)
	return []task{
		{
			name: "review-section",
			site: account,
			prompt: "Add a section “Leave an organization” at the end of the page about team members: a member goes to **Settings** > **Team**, opens the menu (⋯) next to their own name and clicks **Leave organization**. " +
				"In a note: the last owner of an organization can't leave it.",
			may: members,
			check: func(j *judge) {
				text := section(j.after[members], leave)
				j.want(words(strings.Replace(j.after[members], leave+"\n"+text, "", 1)) == words(j.before[members]), "%s: more was added than the section, or it has another heading", members)
				for _, s := range []string{"**Settings**", "**Team**", "**Leave organization**"} {
					j.want(strings.Contains(text, s), "the section lacks %s", s)
				}
				j.says("the note", box(j.after[members], "Note"), `\blast owner\b`)
			},
			then: []round{{
				prompt: "Reviewed. Write the steps as a numbered list, one click each, and make the note a Warning. The heading and the words of the note are fine: leave them.",
				may:    members,
				check: func(j *judge) {
					was, text := j.rounds[0].after[members], section(j.after[members], leave)
					j.want(outsideOf(j.after[members], leave) == outsideOf(was, leave), "%s: more differs than the section", members)
					j.want(len(regexp.MustCompile(`(?m)^[0-9]+\. `).FindAllString(text, -1)) >= 2, "the steps are no numbered list")
					for _, s := range []string{"**Settings**", "**Team**", "**Leave organization**"} {
						j.want(strings.Contains(text, s), "the section lacks %s", s)
					}
					j.want(box(j.after[members], "Warning") == box(was, "Note") && !strings.Contains(text, "<Note>"), "the note is no Warning, or has other words: %q", box(j.after[members], "Warning"))
				},
			}},
		},
		{
			name:   "review-descriptions",
			site:   registry,
			prompt: "Give the pages registry/about, registry/quickstart and registry/faq a description in their front matter: one sentence of 50 to 160 characters. Nothing else changes.",
			may:    strings.Join([]string{about, quickstart, faq}, " "),
			check: func(j *judge) {
				for _, p := range []string{about, quickstart, faq} {
					d := field(j.after[p], "description")
					j.want(len(d) >= 50 && len(d) <= 160, "%s: the description has %d characters", p, len(d))
				}
				j.same("registry/*.mdx", description)
			},
			then: []round{{
				prompt: "Good, but for the one of the FAQ: at most 80 characters, please, and with the word “answers”. The other two are accepted.",
				may:    faq,
				check: func(j *judge) {
					d := field(j.after[faq], "description")
					j.want(len(d) >= 20 && len(d) <= 80, "%s: the description has %d characters", faq, len(d))
					j.says("the description", d, `\banswers\b`)
					j.unchanged(about, quickstart)
					j.same("registry/*.mdx", description)
				},
			}},
		},
		{
			name:   "review-closed",
			site:   trigger,
			prompt: "On the page /wait, turn the table of functions into cards (CardGroup with Card): a card for each row, with the function as its title, its link as href and what it does as its text.",
			may:    "wait.mdx",
			check: func(j *judge) {
				text := j.after["wait.mdx"]
				j.want(!strings.Contains(text, "| :--") && strings.Count(text, "<Card ") == 4, "there are not four cards in the place of the table")
			},
			then: []round{{
				people: (*desk).closes,
				prompt: "We have closed that pull request: the table stays a table. Only its first column gets another name: “Call”.",
				may:    "wait.mdx",
				check: func(j *judge) {
					j.want(j.link != j.rounds[0].link, "the change is in the pull request that was closed")
					j.lacks("wait.mdx", "<Card")
					j.want(regexp.MustCompile(`(?m)^\|\s*Call\s*\|`).MatchString(j.after["wait.mdx"]), "the first column is not called “Call”")
					j.want(loose(strings.Replace(j.after["wait.mdx"], "Call", "Function", 1)) == loose(j.rounds[0].before["wait.mdx"]), "wait.mdx: more differs than the name of the column")
				},
			}},
		},
	}
}

// rebaseTasks go on where people have written meanwhile. What they wrote stays.
func rebaseTasks() []task {
	const faq, about, glossary = "registry/faq.mdx", "registry/about.mdx", "registry/glossary.mdx"
	const asked, shorter, hours = "### Can I delete/unpublish my server?", "### Can I delete my server?", "It works within 72 hours after the version was published."
	const idempotency, renamed = "## Wait idempotency", "## Idempotency of waits"
	const theirs = "Give any wait function an idempotency key to skip waits that an earlier attempt has made already."
	forgotten := func(j *judge, p, heading string) {
		was, text := section(j.before[p], heading), section(j.after[p], heading)
		j.says(p+" in "+heading, fence.ReplaceAllString(text, ""), `\b30 days\b`, `idempotencyKeyTTL`)
		j.want(slices.Equal(fence.FindAllString(was, -1), fence.FindAllString(text, -1)), "%s: code was changed", p)
		j.want(outsideOf(j.after[p], heading) == outsideOf(j.before[p], heading), "%s: more differs than the section", p)
	}
	return []task{
		{
			name:   "rebase-branch",
			site:   registry,
			prompt: "The answer to “Can I delete/unpublish my server?” in the FAQ is no longer true: a publisher deletes a version with `mcp-publisher delete NAME VERSION`. Correct the answer, and leave the question.",
			may:    faq,
			check: func(j *judge) {
				j.says("the answer", section(j.after[faq], asked), "`mcp-publisher delete NAME VERSION`")
				j.lacks(faq, "Currently, no.")
				j.want(outsideOf(j.after[faq], asked) == outsideOf(j.before[faq], asked), "%s: more differs than the answer", faq)
			},
			then: []round{{
				people: func(d *desk) {
					d.push(func(f files) {
						line := regexp.MustCompile("(?m)^.*`mcp-publisher delete NAME VERSION`.*$")
						f[faq] = line.ReplaceAllStringFunc(strings.Replace(f[faq], asked, shorter, 1), func(l string) string { return l + " " + hours })
						f[about] = strings.Replace(f[about], "## Trust and Security", "## Trust", 1)
					})
				},
				prompt: "Say in that answer as well that the name of a deleted version can't be used again. I have pushed to the branch meanwhile: what I wrote stays.",
				may:    faq,
				check: func(j *judge) {
					text := section(j.after[faq], shorter)
					j.want(strings.Contains(text, hours), "what a person wrote into the answer is gone")
					j.says("the answer", text, "`mcp-publisher delete NAME VERSION`", `\b(name|version)\b[^.]*(can't|can’t|cannot|never|\bno\b|not)[^.]*\b(again|reused|taken|available)`)
					j.want(outsideOf(j.after[faq], shorter) == outsideOf(j.before[faq], shorter), "%s: more differs than the answer", faq)
					j.unchanged(about)
				},
			}},
		},
		{
			name:   "rebase-base",
			site:   trigger,
			prompt: "The idempotency key of a wait is forgotten after 30 days, unless `idempotencyKeyTTL` says otherwise. Say so in the sections about that of /wait-for and /wait-until, after what they say now.",
			may:    "wait-for.mdx wait-until.mdx",
			check: func(j *judge) {
				for _, p := range []string{"wait-for.mdx", "wait-until.mdx"} {
					forgotten(j, p, idempotency)
					j.has(p, "You can pass an idempotency key to any wait function")
				}
			},
			then: []round{{
				people: func(d *desk) {
					d.pushBase(func(f files) {
						f["wait-for.mdx"] = strings.NewReplacer(idempotency, renamed,
							"You can pass an idempotency key to any wait function, allowing you to skip waits if the same idempotency key is used again.", theirs).Replace(f["wait-for.mdx"])
					})
					d.update()
				},
				prompt: "I have merged main into the branch. The section of /wait-for was rewritten there, and I took main's text, so that your sentence is gone. Put it into what is there now. Main's words stay.",
				may:    "wait-for.mdx",
				check: func(j *judge) {
					forgotten(j, "wait-for.mdx", renamed)
					j.has("wait-for.mdx", theirs)
					j.unchanged("wait-until.mdx")
				},
			}},
		},
		{
			name:   "rebase-navigation",
			site:   registry,
			prompt: "Add a page registry/glossary, “Glossary”, right after the FAQ. It explains namespace, aggregator and subregistry, with a sentence each, as our pages use the words.",
			may:    "registry/glossary.mdx docs.json",
			check: func(j *judge) {
				j.want(field(j.after[glossary], "title") == "Glossary" && field(j.after[glossary], "description") != "", "the page has not the title “Glossary”, or no description")
				j.says(glossary, body(j.after[glossary]), `\bnamespace`, `\baggregator`, `\bsubregistry`)
				j.settings(replaced(j.before.navigation(), "registry/faq", "registry/faq", "registry/glossary"), nil, 2)
			},
			then: []round{{
				people: func(d *desk) {
					d.pushBase(func(f files) {
						f["registry/status.mdx"] = "---\ntitle: Status\ndescription: Where to see whether the registry is up.\n---\n\nThe registry has a page with its status of the last 90 days.\n"
						f["docs.json"] = strings.Replace(f["docs.json"], `"registry/faq", `, `"registry/faq", "registry/status", `, 1)
					})
					d.update()
				},
				prompt: "I have merged main into the branch and took main's docs.json, because somebody had added a page in the same place. Put the glossary back, after that new page, and end it with a link to the page.",
				may:    "registry/glossary.mdx docs.json",
				check: func(j *judge) {
					j.settings(replaced(j.before.navigation(), "registry/status", "registry/status", "registry/glossary"), nil, 2)
					j.want(strings.HasPrefix(words(j.after[glossary]), words(j.rounds[0].after[glossary])), "%s: its text of before was changed", glossary)
					j.want(regexp.MustCompile(`\]\((\./|/registry/)status\)`).MatchString(j.after[glossary]), "the glossary does not lead to the page")
					j.unchanged("registry/status.mdx")
				},
			}},
		},
	}
}
