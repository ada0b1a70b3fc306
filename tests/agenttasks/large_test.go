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
	const conduct = "code-of-conduct"
	// leads is the page to which redirects lead an address. Where a page is, none counts.
	leads := func(f files, address string) string {
		for range 5 {
			if _, there := f[strings.TrimPrefix(address, "/")+".mdx"]; there {
				break
			}
			next := ""
			for from, to := range f.redirects() {
				if head, ok := strings.CutSuffix(from, ":slug*"); ok && strings.HasPrefix(address, head) {
					next = strings.Replace(to, ":slug*", strings.TrimPrefix(address, head), 1)
				}
			}
			if to, ok := f.redirects()[address]; ok {
				next = to
			}
			if next == "" {
				break
			}
			address = next
		}
		return address
	}
	entries := func(f files) string { // docs.json without its redirects
		head, _, _ := strings.Cut(f["docs.json"], `"redirects"`)
		return head
	}
	community := regexp.MustCompile(`\]\(/community/([a-z])`)
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
				for _, p := range j.before.pages(allPages) {
					want := strings.ReplaceAll(j.before[p], old, now)
					if text, ok := strings.CutSuffix(j.before[p], quoted); ok {
						want = strings.ReplaceAll(text, old, now) + quoted
					}
					if want != j.before[p] || j.after[p] != j.before[p] {
						j.want(j.after[p] == want, "%s: is not as it was with the new name", p)
					}
				}
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
			name: "long-move",
			long: true,
			site: func(tb testing.TB) files {
				f := texts(tb, "novu")
				f.plant(tb, "docs.json", `"community/roadmap",`, `"community/roadmap", "community/changelog", "community/feature-flags",`)
				for _, p := range f.pages("community/*.mdx community/*/*.mdx") { // their pictures are none of the corpus
					for _, m := range regexp.MustCompile(`/(images/[A-Za-z0-9_./-]+)`).FindAllStringSubmatch(f[p], -1) {
						f[m[1]] = picture
					}
				}
				return f
			},
			prompt: "The pages in the folder community move to the folder open-source, with the names that they have. All links between our pages lead to the new addresses, and the old addresses go on to work. The page /community itself stays.",
			check: func(j *judge) {
				for p, text := range j.before {
					rest, ok := strings.CutPrefix(p, "community/")
					if !ok {
						continue
					}
					j.gone(p)
					is, moved := j.after["open-source/"+rest]
					j.want(moved && community.ReplaceAllString(text, "](/open-source/$1") == is, "%s: is not in the new folder, or has another text", p)
					address := "/community/" + strings.TrimSuffix(rest, ".mdx")
					j.want(leads(j.after, address) == "/open-source/"+strings.TrimSuffix(rest, ".mdx"), "%s leads to %s", address, leads(j.after, address))
				}
				for _, p := range j.after.pages(allPages) {
					j.want(!community.MatchString(j.after[p]), "%s: links to an old address", p)
				}
				j.want(strings.ReplaceAll(entries(j.before), `"community/`, `"open-source/`) == entries(j.after), "the navigation has other entries, or another form")
				j.want(j.after["community.mdx"] == community.ReplaceAllString(j.before["community.mdx"], "](/open-source/$1"), "community.mdx: more differs than its links")
			},
			then: []round{{
				prompt: "Good, but for the code of conduct: other sites link to /community/code-of-conduct, so it stays at that address. It was never published at the new one.",
				check: func(j *judge) {
					first := j.rounds[0]
					j.gone("open-source/" + conduct + ".mdx")
					j.want(j.after["community/"+conduct+".mdx"] == first.before["community/"+conduct+".mdx"], "the page is not as it was")
					j.want(leads(j.after, "/community/"+conduct) == "/community/"+conduct, "its address leads to %s", leads(j.after, "/community/"+conduct))
					for _, p := range j.before.pages(allPages) {
						if p != "open-source/"+conduct+".mdx" {
							j.want(j.after[p] == strings.ReplaceAll(j.before[p], "](/open-source/"+conduct, "](/community/"+conduct), "%s: more differs than links to the page", p)
						}
					}
					for p := range j.after {
						if rest, ok := strings.CutPrefix(p, "open-source/"); ok {
							rest = strings.TrimSuffix(rest, ".mdx")
							j.want(leads(j.after, "/community/"+rest) == "/open-source/"+rest, "/community/%s leads to %s", rest, leads(j.after, "/community/"+rest))
						}
					}
					j.want(strings.Replace(entries(j.before), `"open-source/`+conduct, `"community/`+conduct, 1) == entries(j.after), "the navigation has other entries, or another form")
				},
			}},
		},
	}
}

const specification = "regions-openapi.yaml"

// regions is a site with a specification of more than a megabyte: the operations of a
// real one, once more for each of seven regions.
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
	for _, region := range []string{"eu", "us", "ap", "sa", "af", "me", "au"} {
		b.WriteString(strings.NewReplacer(`  "/api/`, `  "/`+region+`/api/`, "operationId: ", "operationId: "+region+"_").Replace(paths) + "\n")
	}
	f[specification] = b.String() + "components:\n" + tail
	if len(f[specification]) < 1<<20 {
		tb.Fatalf("%s has %d bytes: the corpus is another one", specification, len(f[specification]))
	}
	f["api/reschedule.mdx"] = "---\ntitle: Reschedule a run\nopenapi: regions-openapi POST /api/v1/runs/{runId}/reschedule\n---\n"
	f.plant(tb, "docs.json", `"api/create-event", `, `"api/create-event", "api/reschedule", `)
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

// descriptionOf is what the operation of a path says of itself.
func descriptionOf(text, path string) string {
	_, rest, _ := strings.Cut(operations(text, path), "      description: ")
	description, _, _ := strings.Cut(rest, "      requestBody:")
	return strings.Trim(words(strings.TrimLeft(description, ">|-")), `"'`)
}
