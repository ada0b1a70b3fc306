package agenttasks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// largeTasks are on whole sites, and in a specification of more than a megabyte.
func largeTasks() []task {
	return slices.Concat(inFamily("long site", longTasks()), inFamily("specification", specificationTasks()))
}

// texts are all texts of a real site, without its pictures.
func texts(tb testing.TB, site string) files {
	tb.Helper()
	root, out := outside.Folder(tb, "corpora", site), files{}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".mdx", ".md", ".json", ".yml", ".yaml"}, path.Ext(p)) {
			out[p] = readText(tb, filepath.Join(root, p))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// allPages is a pattern of all pages.
const allPages = "*.mdx */*.mdx */*/*.mdx */*/*/*.mdx */*/*/*/*.mdx"

// longTasks change pages of a whole site, and take a part back.
func longTasks() []task {
	const old, now = "Trigger.dev Cloud", "Trigger Cloud"
	const quoted = "\n## Which cloud is this?\n\nThe CLI says where it is logged in:\n\n```text\nTrigger.dev Cloud (cloud.trigger.dev)\n```\n"
	leaving := []string{"migration-defer.mdx", "migration-mergent.mdx", "migration-n8n.mdx"}
	const conduct, support, help, beta = "community/code-of-conduct.mdx", "support@novu.co", "help@novu.co", "beta@novu.co"
	inBeta := regexp.MustCompile(`(?m)^.*currently in (private|public) beta.*$`)
	// each wants that each page is as the round found it with a change.
	each := func(j *judge, change func(p, text string) string) {
		for _, p := range j.before.pages(allPages) {
			if want := change(p, j.before[p]); want != j.before[p] || j.after[p] != j.before[p] {
				j.want(j.after[p] == want, "%s: has not the change that was asked for, or another one", p)
			}
		}
	}
	return []task{
		{
			name: "long-rename",
			long: true,
			site: func(tb testing.TB) files {
				f := texts(tb, "trigger")
				f["cli-whoami-commands.mdx"] += quoted
				return f
			},
			prompt: "Our hosted product is called “Trigger Cloud” from now on, and no longer “Trigger.dev Cloud”. Rename it in the text of all pages and snippets. Code, output of programs and addresses stay.",
			may:    allPages,
			check: func(j *judge) {
				each(j, func(_, text string) string {
					if above, ok := strings.CutSuffix(text, quoted); ok {
						return strings.ReplaceAll(above, old, now) + quoted
					}
					return strings.ReplaceAll(text, old, now)
				})
			},
			then: []round{{
				prompt: "Reviewed. On the three pages about migrating to us (migration-defer, migration-mergent, migration-n8n) the product keeps its old name, which their readers know. All the rest is right.",
				may:    strings.Join(leaving, " "),
				check: func(j *judge) {
					for _, p := range leaving {
						j.want(j.after[p] == j.rounds[0].before[p], "%s: is not as it was before the first round", p)
					}
				},
			}},
		},
		{
			name:   "long-contact",
			long:   true,
			site:   func(tb testing.TB) files { return texts(tb, "novu") },
			prompt: "Our support has another mail address: help@novu.co in the place of support@novu.co. Bring all pages to it, links too. Sales has the address of before.",
			may:    allPages,
			check: func(j *judge) {
				each(j, func(_, text string) string { return strings.ReplaceAll(text, support, help) })
			},
			then: []round{{
				prompt: "Two things. The code of conduct was right before: take the change back there. And who asks for a feature that is in private or public beta writes to beta@novu.co.",
				may:    allPages,
				check: func(j *judge) {
					each(j, func(p, text string) string {
						if p == conduct {
							return j.rounds[0].before[p]
						}
						return inBeta.ReplaceAllStringFunc(text, func(line string) string { return strings.ReplaceAll(line, help, beta) })
					})
				},
			}},
		},
	}
}

const specification = "regions-openapi.yaml"

// regions is a site with a specification of more than a megabyte: the operations of a
// real one, once more for each of six regions.
func regions(tb testing.TB) files {
	f := trigger(tb)
	text := readText(tb, filepath.Join(outside.Folder(tb, "corpora", "trigger"), "v3-openapi.yaml"))
	head, rest, _ := strings.Cut(text, "\npaths:\n")
	paths, tail, ok := strings.Cut(rest, "\ncomponents:\n")
	if !ok {
		tb.Fatal("the specification has other parts: the corpus is another one")
	}
	var b strings.Builder
	b.WriteString(head + "\npaths:\n" + paths + "\n")
	for _, region := range []string{"eu", "us", "ap", "sa", "af", "me"} {
		b.WriteString(strings.NewReplacer(`  "/api/`, `  "/`+region+`/api/`, "operationId: ", "operationId: "+region+"_").Replace(paths) + "\n")
	}
	f[specification] = b.String() + "components:\n" + tail
	if len(f[specification]) < 1_000_000 {
		tb.Fatalf("%s has %d bytes: the corpus is another one", specification, len(f[specification]))
	}
	return f
}

// operations are the operations of a path in a specification.
func operations(text, path string) string {
	_, rest, ok := strings.Cut(text, "\n  \""+path+"\":\n")
	if !ok {
		return ""
	}
	if at := regexp.MustCompile(`(?m)^( {2}"/|components:)`).FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return rest
}

// specificationTasks change descriptions and marks in a specification that no model reads
// as a whole.
func specificationTasks() []task {
	const eu, us = "/eu/api/v1/runs/{runId}/reschedule", "/us/api/v1/runs/{runId}/reschedule"
	const kept = "Updates a delayed run with a new delay. Only valid when the run is in the DELAYED state."
	// described wants that operations differ in nothing but the description of the operation.
	described := func(j *judge, path string) string {
		was, is := operations(j.before[specification], path), operations(j.after[specification], path)
		cut := func(text string) (above, description, below string) {
			above, rest, _ := strings.Cut(text, "      description: ")
			description, below, _ = strings.Cut(rest, "      requestBody:")
			return above, words(description), below
		}
		aboveWas, _, belowWas := cut(was)
		aboveIs, description, belowIs := cut(is)
		j.want(aboveWas == aboveIs && belowWas == belowIs, "%s: more differs than the description of the operation", path)
		j.want(strings.Contains(description, kept), "%s: its text of before is gone", path)
		return description
	}
	// others is the specification without the operations of some paths.
	others := func(text string, paths ...string) string {
		for _, p := range paths {
			text = strings.Replace(text, operations(text, p), "", 1)
		}
		return text
	}
	const begun, status = `\b(begun|started|running|executing|begin|began)\b`, `\b422\b`
	queues := []string{"/sa/api/v1/queues", "/sa/api/v1/queues/{queueParam}", "/sa/api/v1/queues/{queueParam}/pause", "/sa/api/v1/queues/{queueParam}/concurrency/override", "/sa/api/v1/queues/{queueParam}/concurrency/reset"}
	mark := regexp.MustCompile(`(?m)^      deprecated: true\n`)
	// marked wants that operations of queues are deprecated, all but some, and no others.
	marked := func(j *judge, but ...string) {
		all := 0
		for _, p := range queues {
			text := operations(j.after[specification], p)
			n := len(mark.FindAllString(text, -1))
			want := len(regexp.MustCompile(`(?m)^    (get|put|post|patch|delete):$`).FindAllString(text, -1))
			if slices.Contains(but, p) {
				want = 0
			}
			all += n
			j.want(n == want, "%s: %d operations are marked, not %d", p, n, want)
		}
		others := len(mark.FindAllString(j.after[specification], -1)) - len(mark.FindAllString(j.rounds[0].before[specification], -1)) - all
		j.want(others == 0, "%d other operations are marked", others)
	}
	return []task{
		{
			name: "spec-describe",
			long: true,
			site: regions,
			prompt: "In regions-openapi.yaml, the operation that reschedules a run in the region eu (POST " + eu + ") must also say in its description that a run that has begun can't be rescheduled. " +
				"Keep what it says now, and change nothing else.",
			may: specification,
			check: func(j *judge) {
				j.says(eu, described(j, eu), begun)
				j.want(others(j.after[specification], eu) == others(j.before[specification], eu), "other operations were changed")
			},
			then: []round{{
				prompt: "Good. The region us needs the same sentence, word for word. And in eu, add to yours that the answer is 422 then; us answers as before.",
				may:    specification,
				check: func(j *judge) {
					first := words(strings.TrimSpace(strings.TrimSuffix(descriptionOf(j.rounds[0].after[specification], eu), ".")))
					j.says(eu, described(j, eu), begun, status)
					there := described(j, us)
					j.says(us, there, begun)
					j.want(strings.Contains(there, first), "%s: has another sentence than eu after the first round", us)
					j.want(!strings.Contains(there, "422"), "%s: says what is true of eu alone", us)
					j.want(others(j.after[specification], eu, us) == others(j.before[specification], eu, us), "other operations were changed")
				},
			}},
		},
		{
			name:   "spec-deprecate",
			long:   true,
			site:   regions,
			prompt: "The region sa closes. In regions-openapi.yaml, mark all operations on its queues (" + queues[0] + " and what is below it) with `deprecated: true`, right after their summary. Change nothing else.",
			may:    specification,
			check: func(j *judge) {
				marked(j)
				j.want(mark.ReplaceAllString(j.after[specification], "") == j.before[specification], "more differs than the marks")
			},
			then: []round{{
				prompt: "Reviewed: pausing a queue goes on to work, so take that mark back. And say at the end of the description in `info` that the region sa closes on 2026-12-31.",
				may:    specification,
				check: func(j *judge) {
					marked(j, queues[2])
					info := func(text string) (string, string) {
						head, rest, _ := strings.Cut(text, "\n  version: ")
						return head, rest
					}
					head, rest := info(j.after[specification])
					was, first := info(j.rounds[0].before[specification])
					j.says("info", head, `2026-12-31`, `\bsa\b`)
					j.want(mark.ReplaceAllString(rest, "") == first, "more differs than the marks and the description")
					j.want(strings.Contains(words(head), words(strings.Trim(was[strings.Index(was, "The REST API"):], "\" \n"))), "the description lost what it said")
				},
			}},
		},
	}
}

// descriptionOf is the description of the operation of a path.
func descriptionOf(text, path string) string {
	_, rest, _ := strings.Cut(operations(text, path), "      description: ")
	description, _, _ := strings.Cut(rest, "      requestBody:")
	return strings.Trim(words(strings.TrimLeft(description, ">|-")), `"'`)
}
