package agenttasks

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// inFolder puts a site into a folder of its repository.
func inFolder(folder string, f files) files {
	out := files{}
	for p, text := range f {
		out[folder+"/"+p] = text
	}
	return out
}

// readsCode are the settings of a project with its site in docs, and code beside it.
func readsCode() admin.AgentSettings {
	s := admin.NewAgentSettings()
	s.Root = "docs"
	return s
}

// repositoryTasks say what code or other files say.
func repositoryTasks() []task {
	return slices.Concat(inFamily("code", codeTasks()), inFamily("sources", sourceTasks()))
}

const (
	tagsPage, tagsCode     = "docs/tags.mdx", "packages/sdk/src/tags.ts"
	statusPage, statusCode = "docs/registry/versioning.mdx", "cmd/publisher/status.go"
	mainCode               = "cmd/publisher/main.go"
	waitPage, waitCode     = "docs/wait.mdx", "packages/core/src/waits.ts"
)

// codeTasks bring pages up to date with code, or with what changed in it since a release.
// It then changes again.
func codeTasks() []task {
	const status, news = "## Status of a Version", "### Changed in 1.5"
	return []task{
		{
			name: "code-limits",
			set:  readsCode(),
			site: func(tb testing.TB) files {
				f := inFolder("docs", trigger(tb))
				f[tagsCode] = `import { currentRun, logger } from "./run";

/** The most tags of a run. */
export const MAX_TAGS_PER_RUN = 15;

/** The most characters of a tag. */
export const MAX_TAG_LENGTH = 256;

export const tags = {
  /** Adds one tag or several to the run that is executing. */
  add: (names: string | string[]) => addTags([names].flat()),
  /** Removes one tag or several from the run that is executing. It ignores those that the run does not have. */
  remove: (names: string | string[]) => currentRun().removeTags([names].flat()),
};

async function addTags(names: string[]) {
  const run = currentRun();
  if (run.tags.length + names.length > MAX_TAGS_PER_RUN) {
    logger.error("too many tags: the new ones are ignored", { most: MAX_TAGS_PER_RUN });
    return;
  }
  await run.addTags(names);
}
`
				f["packages/sdk/package.json"] = "{ \"name\": \"@trigger.dev/sdk\", \"version\": \"4.2.0\" }\n"
				return f
			},
			prompt: "The code of tags has changed: see packages/sdk/src/tags.ts in this repository. Bring our page about tags up to date: the limits that it names, and what the code can do that the page doesn't say.",
			may:    tagsPage,
			check: func(j *judge) {
				j.lacks(tagsPage, "10 tags", "more than 10", "between 1 and 128")
				j.says(tagsPage, j.after[tagsPage], `\bup to 15 tags\b`, `\b256 characters\b`, `tags\.remove\(`)
				for _, block := range fence.FindAllString(j.before[tagsPage], -1) {
					j.want(strings.Contains(j.after[tagsPage], block), "an example was changed: %.60q", block)
				}
			},
			then: []round{{
				people: func(d *desk) {
					d.merge()
					d.pushBase(func(f files) {
						f[tagsCode] = strings.NewReplacer("MAX_TAGS_PER_RUN = 15", "MAX_TAGS_PER_RUN = 20", "import { currentRun, logger } from", "import { TooManyTagsError, currentRun } from",
							"    logger.error(\"too many tags: the new ones are ignored\", { most: MAX_TAGS_PER_RUN });\n    return;\n", "    throw new TooManyTagsError(MAX_TAGS_PER_RUN); // no tag is added\n").Replace(f[tagsCode])
					})
				},
				prompt: "That is merged. packages/sdk/src/tags.ts has changed again on main since. Bring the page up to date once more.",
				may:    tagsPage,
				check: func(j *judge) {
					j.want(j.link != j.rounds[0].link, "the change is in the pull request that was merged")
					j.lacks(tagsPage, "10 tags", "15 tags", "more than 15", "log an error", "ignore the new tags")
					j.says(tagsPage, j.after[tagsPage], `\bup to 20 tags\b`, `\b256 characters\b`, `tags\.remove\(`, `TooManyTagsError`)
					for _, block := range fence.FindAllString(j.before[tagsPage], -1) {
						j.want(strings.Contains(j.after[tagsPage], block), "an example was changed: %.60q", block)
					}
				},
			}},
		},
		{
			name: "code-flags",
			set:  readsCode(),
			site: func(tb testing.TB) files {
				f := inFolder("docs", registry(tb))
				f[statusCode] = `package main

import (
	"context"
	"flag"
)

// setStatus is the command status: it sets the status of one published version.
func setStatus(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	status := flags.String("status", "active", "the new status: active, deprecated or deleted")
	message := flags.String("message", "", "a text for those who use the version")
	registry := flags.String("registry", "https://registry.modelcontextprotocol.io", "the address of the registry")
	retries := flags.Int("retries", 3, "how often to ask again if the registry is busy")
	timeout := flags.Duration("timeout", defaultTimeout, "how long to wait for the registry")
	force := flags.Bool("force", false, "delete a version without a question")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *status == "deleted" && !*force && !confirmed() {
		return errStopped
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	return put(ctx, *registry, *retries, flags.Arg(0), flags.Arg(1), *status, *message)
}
`
				f[mainCode] = "package main\n\nimport \"time\"\n\n// defaultTimeout is how long commands wait for the registry.\nconst defaultTimeout = 30 * time.Second\n\n" +
					"var commands = map[string]command{\"init\": initialise, \"login\": login, \"publish\": publish, \"status\": setStatus}\n"
				return f
			},
			first: round{people: func(d *desk) {
				d.tag("v1.4")
				d.pushBase(func(f files) {
					f[statusPage] += "\n" + status + "\n\n`mcp-publisher status NAME VERSION` sets the status of a published version: `active`, `deprecated` or `deleted`.\n\n" +
						"| Flag | Meaning | Default |\n| --- | --- | --- |\n| `--status` | The new status | `active` |\n| `--message` | A text for those who use the version | none |\n" +
						"| `--registry` | The address of the registry | `https://registry.modelcontextprotocol.io` |\n| `--retries` | How often to ask again if the registry is busy | `5` |\n" +
						"| `--timeout` | How long to wait for the registry | `10s` |\n| `--all-versions` | Sets the status of all versions of the server | `false` |\n\n" +
						news + "\n\n| Flag | Default in 1.4 | Default in 1.5 |\n| --- | --- | --- |\n| `--retries` | `3` | `5` |\n| `--all-versions` | – | `false` |\n"
					f[mainCode] = strings.NewReplacer("30 * time", "10 * time", "// defaultTimeout", "const defaultRegistry = \"https://registry.modelcontextprotocol.io\"\n\n// defaultTimeout").Replace(f[mainCode])
					f[statusCode] = strings.NewReplacer(`"https://registry.modelcontextprotocol.io"`, "defaultRegistry", `"retries", 3`, `"retries", 5`,
						`	force := flags.Bool("force", false, "delete a version without a question")`,
						"\tall := flags.Bool(\"all-versions\", false, \"set the status of all versions of the server\")\n\tdry := flags.Bool(\"dry-run\", false, \"show what would change, and change nothing\")",
						"\tif *status == \"deleted\" && !*force && !confirmed() {\n\t\treturn errStopped\n\t}\n", "", "*status, *message)", "*status, *message, *all, *dry)").Replace(f[statusCode])
				})
			}},
			prompt: "Document what changed in the code of `mcp-publisher status` since v1.4 (cmd/publisher in this repository), in the section “Status of a Version” of the page about versioning. " +
				"Its first table lists all flags of the current code. The table “Changed in 1.5” lists only flags that are new, are gone or have another default: the default in v1.4 and the current one, with a dash where there is no such flag. " +
				"A part is documented already. Leave what is right.",
			may: statusPage,
			check: func(j *judge) {
				now, was := section(j.after[statusPage], status), section(j.before[statusPage], status)
				j.flags(now, news, []string{"all-versions false", "dry-run false", "message –", "registry https://registry.modelcontextprotocol.io", "retries 5", "status active", "timeout 10s"},
					[]string{"all-versions – false", "dry-run – false", "force false –", "retries 3 5", "timeout 30s 10s"})
				for line := range strings.Lines(was) {
					j.want(strings.Contains(loose(now), loose(line)), "the section lacks what was right: %q", line)
				}
				j.want(outsideOf(j.after[statusPage], status) == outsideOf(j.before[statusPage], status), "%s: more differs than the section", statusPage)
			},
			then: []round{{
				people: func(d *desk) {
					d.pushBase(func(f files) {
						f[mainCode] = strings.Replace(f[mainCode], "10 * time", "15 * time", 1)
						f[statusCode] = strings.Replace(f[statusCode], `"retries", 5`, `"retries", 3`, 1)
					})
					d.tag("v1.5")
					d.pushBase(func(f files) {
						f[mainCode] = strings.Replace(f[mainCode], "15 * time", "20 * time", 1)
						f[statusCode] = strings.NewReplacer(`message := flags.String("message"`, `reason := flags.String("reason"`, "*message", "*reason").Replace(f[statusCode])
						f["docs/registry/faq.mdx"] = strings.Replace(f["docs/registry/faq.mdx"], "Currently, no.", "Not yet.", 1)
					})
					d.update()
				},
				prompt: "v1.5 is tagged now. The code has changed again before that tag, and after it for 1.6. I have merged all of it into the branch. Bring the section up to date: both tables describe v1.5, and nothing of 1.6.",
				may:    statusPage,
				check: func(j *judge) {
					now, was := section(j.after[statusPage], status), section(j.before[statusPage], status)
					j.flags(now, news, []string{"all-versions false", "dry-run false", "message –", "registry https://registry.modelcontextprotocol.io", "retries 3", "status active", "timeout 15s"},
						[]string{"all-versions – false", "dry-run – false", "force false –", "timeout 30s 15s"})
					j.want(words(outsideTables(now)) == words(outsideTables(was)), "the section has another text beside its tables")
					j.want(outsideOf(j.after[statusPage], status) == outsideOf(j.before[statusPage], status), "%s: more differs than the section", statusPage)
					j.unchanged("docs/registry/faq.mdx")
				},
			}},
		},
	}
}

var (
	flagRow = regexp.MustCompile(`^\s*\|[^\w|]*-([a-z][a-z-]*)`)
	seconds = regexp.MustCompile(`^(\d+) ?s(ec(onds?)?)?$`)
)

// outsideTables is a text without the rows of its tables.
func outsideTables(text string) string { return without(`(?m)^[ \t]*\|.*$`)(text) }

// flagRows are the rows of a text's tables that begin with a flag, sorted, as its name and
// what the last n cells say: "timeout 30s 10s". An empty cell is a dash.
func flagRows(text string, n int) []string {
	var all []string
	for line := range strings.Lines(text) {
		m := flagRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(line, `\|`, "/")), "|")
		cells := strings.Split(line, "|")
		said := m[1]
		for _, cell := range cells[max(0, len(cells)-n):] {
			cell = seconds.ReplaceAllString(strings.Trim(cell, " `\"*"), "${1}s")
			if strings.Trim(cell, "–—-") == "" || cell == "none" {
				cell = "–"
			}
			said += " " + cell
		}
		all = append(all, said)
	}
	slices.Sort(all)
	return all
}

// flags wants that the tables of a section have these rows and no others: the one of all
// flags with their defaults, and under a heading the one of changes with two defaults.
func (j *judge) flags(text, heading string, all, changes []string) {
	has, changed := flagRows(strings.Replace(text, section(text, heading), "", 1), 1), flagRows(section(text, heading), 2)
	for _, want := range all {
		j.want(slices.Contains(has, want), "the table of flags lacks %q: %q", want, has)
	}
	for _, want := range changes {
		j.want(slices.Contains(changed, want), "the table of changes lacks %q: %q", want, changed)
	}
	j.want(len(has) == len(all) && len(changed) == len(changes), "the tables have %d and %d rows, not %d and %d", len(has), len(changed), len(all), len(changes))
}

// cites wants that one of some sources is a line of a file that says something; files
// that are attached are in attached.
func (j *judge) cites(all []source, p, pattern string, attached ...admin.Attachment) {
	text := j.after[p]
	for _, a := range attached {
		if strings.HasSuffix(p, "/"+a.Name) {
			text = string(a.Data)
		}
	}
	lines := strings.Split(text, "\n")
	ok := slices.ContainsFunc(all, func(s source) bool {
		return s.path == p && s.line > 0 && s.line <= len(lines) && regexp.MustCompile(pattern).MatchString(lines[s.line-1])
	})
	j.want(ok, "no source is a line of %s that says %q: %+v", p, pattern, all)
}

// sourceTasks name where statements come from.
func sourceTasks() []task {
	const faq, about, versioning, moderation, aggregators = "registry/faq.mdx", "registry/about.mdx", "registry/versioning.mdx", "registry/moderation-policy.mdx", "registry/registry-aggregators.mdx"
	const private, ranges, removed, often = "### Can I publish a private server?", "### May my version be a range such as ^1.2.3?", "### What becomes of the metadata of a removed server?", "### How often may an aggregator read the registry?"
	const members = "platform/account/manage-members.mdx"
	march := admin.Attachment{Name: "decisions.md", Data: []byte("# Decisions of March\n\n- Pictures of the dashboard are taken in the light theme.\n- An invitation is valid for 7 days.\n- Who was revoked can be invited again after 1 hour.\n- Guests are not supported.\n")}
	april := admin.Attachment{Name: "decisions-april.md", Data: []byte("# Decisions of April\n\n- Guests are supported on request.\n- There are two tabs less.\n- An invitation is valid for 14 days.\n")}
	return []task{
		{
			name: "cite-code",
			set:  readsCode(),
			site: func(tb testing.TB) files {
				f := inFolder("docs", trigger(tb))
				f[waitCode] = `/** The longest wait, in days. */
export const MAX_WAIT_DAYS = 365;

/** How many waits of a run may be open at the same time. */
export const MAX_OPEN_WAITS = 500;

/** How long the address of a token is valid, in hours. */
export const TOKEN_URL_HOURS = 48;
`
				return f
			},
			prompt: "Add a section “Limits” at the end of /wait: the longest wait, how many waits of a run may be open at once, and how long the address of a token is valid. packages/core/src/waits.ts in this repository says so; name its lines as sources.",
			may:    waitPage,
			check: func(j *judge) {
				text := section(j.after[waitPage], "## Limits")
				j.says("the section", text, `\b365 days\b|\b(one|1|a) year\b`, `\b500\b`, `\b48 hours\b|\b(two|2) days\b`)
				j.want(words(strings.Replace(j.after[waitPage], "## Limits\n"+text, "", 1)) == words(j.before[waitPage]), "%s: more was added than the section", waitPage)
				for _, name := range []string{"MAX_WAIT_DAYS = 365", "MAX_OPEN_WAITS = 500", "TOKEN_URL_HOURS = 48"} {
					j.cites(j.added(), waitCode, name)
				}
			},
			then: []round{{
				people: func(d *desk) {
					d.pushBase(func(f files) {
						f[waitCode] = "// Limits of waits. The server has the same.\n\n/** The shortest wait that is stored, in seconds. */\nexport const MIN_STORED_WAIT = 5;\n\n" +
							strings.Replace(f[waitCode], "MAX_OPEN_WAITS = 500", "MAX_OPEN_WAITS = 1_000", 1)
					})
					d.update()
				},
				prompt: "waits.ts has changed on main, which I merged into the branch. Bring the section up to date, the shortest wait that is stored included, and name the lines of what you write.",
				may:    waitPage,
				check: func(j *judge) {
					text := section(j.after[waitPage], "## Limits")
					j.says("the section", text, `\b365 days\b|\b(one|1|a) year\b`, `\b1[,. _]?000\b|thousand`, `\b48 hours\b|\b(two|2) days\b`, `\b(5|five) seconds\b`)
					j.want(!strings.Contains(text, "500"), "the section has the figure of before")
					j.want(outsideOf(j.after[waitPage], "## Limits") == outsideOf(j.before[waitPage], "## Limits"), "%s: more differs than the section", waitPage)
					j.cites(j.added(), waitCode, "MAX_OPEN_WAITS = 1_000")
					j.cites(j.added(), waitCode, "MIN_STORED_WAIT = 5")
				},
			}},
		},
		{
			name: "cite-pages",
			site: registry,
			prompt: "Add three questions at the end of the part “General” of the FAQ, each answered in a sentence or two by what our other pages say: “Can I publish a private server?”, “May my version be a range such as ^1.2.3?”, “What becomes of the metadata of a removed server?” " +
				"Name the line that says so as the source of each answer.",
			may: faq,
			check: func(j *judge) {
				j.says(private, section(j.after[faq], private), `\b(no|not|only|doesn't|does not)\b`)
				j.says(ranges, section(j.after[faq], ranges), `\b(no|not|prohibit|refuse|reject)`)
				j.says(removed, section(j.after[faq], removed), `\b(accessible|remain|stay|available|kept|keep)`)
				rest := j.after[faq]
				for _, h := range []string{private, ranges, removed} {
					rest = strings.Replace(rest, h+"\n"+section(rest, h), "", 1)
				}
				j.want(words(rest) == words(j.before[faq]), "%s: more was added than three answers", faq)
				j.cites(j.added(), about, `private servers|private network`)
				j.cites(j.added(), versioning, `prohibits|Prohibited`)
				j.cites(j.added(), moderation, `remains accessible`)
			},
			then: []round{{
				prompt: "Good. One more question after these, in the same way: “How often may an aggregator read the registry?”. And the answer about private servers should end with what to do instead. The other answers are accepted.",
				may:    faq,
				check: func(j *judge) {
					j.says(often, section(j.after[faq], often), `\bhour`)
					j.cites(j.added(), aggregators, `once per hour`)
					was := j.rounds[0].after[faq]
					j.want(section(j.after[faq], ranges) == section(was, ranges), "an answer that was accepted differs")
					j.want(words(section(j.after[faq], removed)) == words(section(was, removed)), "an answer that was accepted differs")
					answer := words(section(j.after[faq], private))
					j.says(private, answer, `\b(host|run|operate)`, `\b(own|private) `)
					j.want(strings.HasPrefix(answer, strings.TrimRight(words(section(was, private)), ".")), "the answer about private servers does not begin as before")
					rest := strings.Replace(j.after[faq], often+"\n"+section(j.after[faq], often), "", 1)
					j.want(outsideOf(rest, private) == outsideOf(was, private), "%s: more differs than was asked for", faq)
				},
			}},
		},
		{
			name:   "cite-attachment",
			site:   account,
			prompt: "Say on the page about team members how long an invitation is valid, and when somebody who was revoked can be invited again. The attached decisions say so: name their lines as sources.",
			first:  round{attached: []admin.Attachment{march}},
			may:    members,
			check: func(j *judge) {
				j.says(members, j.after[members], `\b(7|seven) days\b`, `\b(1|one|an) hour\b`)
				j.want(strings.Count(j.after[members], "\n#") == strings.Count(j.before[members], "\n#") || len(j.after[members]) > len(j.before[members]), "%s: lost a part", members)
				j.cites(j.added(), "attachment:1/decisions.md", `7 days`, march)
				j.cites(j.added(), "attachment:1/decisions.md", `1 hour`, march)
				j.lacks(members, "Guest", "guest")
			},
			then: []round{{
				prompt:   "The decisions of April are attached. Bring what you wrote up to date where they change it, with the source. Nothing else of them goes onto the page.",
				attached: []admin.Attachment{april},
				may:      members,
				check: func(j *judge) {
					j.says(members, j.after[members], `\b(14|fourteen) days\b|\btwo weeks\b`)
					valid := without(`(?i)\b(7|seven|14|fourteen) days\b|\btwo weeks\b`)
					j.want(words(valid(j.after[members])) == words(valid(j.before[members])), "%s: more differs than how long an invitation is valid", members)
					j.want(!regexp.MustCompile(`(?i)\b(7|seven) days\b`).MatchString(j.after[members]), "%s: has the days of before", members)
					j.cites(j.added(), "attachment:2/decisions-april.md", `14 days`, april)
				},
			}},
		},
	}
}
