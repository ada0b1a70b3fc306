package agenttasks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// language tells that a text is in a language by words that no other one has as often.
type language struct {
	name  string
	words *regexp.Regexp
}

func languages() (english, german, french language) {
	of := func(name, list string) language {
		return language{name, regexp.MustCompile(`(?i)(?:^|[^\pL])(` + list + `)(?:[^\pL]|$)`)}
	}
	return of("English", `the|and|of|to|you|is|with|are|this|your|from|which|that|can`),
		of("German", `der|die|das|und|ein|eine|einer|einen|einem|ist|nicht|mit|zu|zum|zur|sie|kann|können|wenn|den|dem|des|im|auf|für|von|oder|bis|wird|werden|um|in|dann|ihre|ihrer|ohne`),
		of("French", `le|la|les|des|du|de|et|un|une|est|pas|avec|vous|pour|dans|sur|que|qui|en|au|aux|par|votre|vos|peut|être|ce|puis|à|sont|depuis|peuvent|d|l`)
}

// of is the share of a text's words that are those of the language, in percent.
func (l language) of(text string) int {
	all := strings.Fields(text)
	n := 0
	for _, w := range all {
		if l.words.MatchString(w) {
			n++
		}
	}
	return n * 100 / max(len(all), 1)
}

var (
	headingForm   = regexp.MustCompile(`(?m)^(#{1,6}) .*$`)
	componentForm = regexp.MustCompile(`</?[A-Z][A-Za-z]*`)
	linkForm      = regexp.MustCompile(`\]\(([^)]*)\)`)
	attributeForm = regexp.MustCompile(`(src|href|icon|query|type)="([^"]*)"`)
	importForm    = regexp.MustCompile(`(?m)^import .*$`)
	fieldForm     = regexp.MustCompile(`(?m)^([A-Za-z]+):`)
)

// sentenceEnd is between sentences.
var sentenceEnd = regexp.MustCompile(`[.:?!] `)

// bare is a tag without attributes.
var bare = regexp.MustCompile(`</?[A-Z][A-Za-z]*>`)

// blocks are the paragraphs, headings and lists of a page that are no code, each as a
// line of words without its bare tags.
func blocks(text string) []string {
	var all []string
	for block := range strings.SplitSeq(fence.ReplaceAllString(body(text), ""), "\n\n") {
		if block = words(bare.ReplaceAllString(block, "")); block != "" && !strings.HasPrefix(block, "import ") {
			all = append(all, block)
		}
	}
	return all
}

// translated wants that a page is one of the site in another language: its code, links,
// components and settings are those of the original, its text is not. Links to pages that
// are there in the language may lead to them.
func (j *judge) translated(from, to, folder string, l language) {
	was, is := j.after[from], j.after[to]
	if !j.want(is != "", "%s: is not there", to) {
		return
	}
	same := func(what string, of func(text string) []string) {
		a, b := of(was), of(is)
		j.want(slices.Equal(a, b), "%s: has other %s than the original: %q, not %q", to, what, b, a)
	}
	same("code", func(text string) []string { return fence.FindAllString(text, -1) })
	same("names in code", func(text string) []string {
		all := inline.FindAllString(fence.ReplaceAllString(text, ""), -1)
		slices.Sort(all)
		return all
	})
	same("levels of headings", func(text string) []string {
		var all []string
		for _, m := range headingForm.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			all = append(all, m[1])
		}
		return all
	})
	same("components", func(text string) []string { return componentForm.FindAllString(fence.ReplaceAllString(text, ""), -1) })
	same("links", func(text string) []string {
		var all []string
		for _, m := range linkForm.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			all = append(all, strings.TrimPrefix(m[1], "/"+folder))
		}
		slices.Sort(all)
		return all
	})
	same("attributes", func(text string) []string {
		var all []string
		for _, m := range attributeForm.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			all = append(all, m[1]+" "+strings.TrimPrefix(m[2], "/"+folder))
		}
		return all
	})
	same("imports", func(text string) []string { return importForm.FindAllString(fence.ReplaceAllString(text, ""), -1) })
	same("front matter", func(text string) []string {
		head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
		return fieldForm.FindAllString(head, -1)
	})
	for _, name := range []string{"title", "description"} {
		j.want(field(is, name) != "" && field(is, name) != field(was, name), "%s: its %s is that of the original", to, name)
	}
	english, _, _ := languages()
	text := strings.Join(blocks(is), "\n")
	plain := without("<[^>]*>|\\]\\([^)]*\\)|[`*_#]")(inline.ReplaceAllString(text, ""))
	j.want(l.of(plain) >= 20 && english.of(plain) <= 5, "%s: %d%% of its words are %s, %d%% English", to, l.of(plain), l.name, english.of(plain))
	for _, block := range blocks(was) {
		for _, sentence := range sentenceEnd.Split(without("<[^>]*>")(block), -1) {
			if len(strings.Fields(sentence)) >= 4 {
				j.want(!strings.Contains(text, sentence), "%s: is not translated: %.80q", to, sentence)
			}
		}
	}
}

// keeps wants that each block of a page that was right before is there word for word, but
// for so many.
func (j *judge) keeps(p string, but int) {
	now, gone := blocks(j.after[p]), 0
	for _, block := range blocks(j.before[p]) {
		if !slices.Contains(now, block) {
			gone++
		}
	}
	j.want(gone <= but, "%s: %d paragraphs differ that were right, not %d", p, gone, but)
}

// translationTasks translate a page, and then what has changed in it.
func translationTasks() []task {
	_, german, french := languages()
	const english, deutsch = "wait-for.mdx", "de/wait-for.mdx"
	const billing, factures = "platform/account/billing.mdx", "fr/platform/account/billing.mdx"
	// listed wants that the configuration is as before, with one entry more after another.
	listed := func(j *judge, after, entry string) {
		j.want(j.after["docs.json"] == strings.Replace(j.before["docs.json"], `"`+after+`"`, `"`+after+`", "`+entry+`"`, 1), "the navigation is not as before with %s after %s", entry, after)
	}
	return []task{
		{
			name: "translate-german",
			site: func(tb testing.TB) files {
				f := trigger(tb)
				f["de/wait.mdx"] = "---\ntitle: \"Warten: Überblick\"\nsidebarTitle: \"Überblick\"\ndescription: \"Eine Aufgabe kann eine Zeit lang warten, oder bis etwas geschieht.\"\n---\n\nMit Wartezeiten schreiben Sie umfangreiche Aufgaben als asynchronen Code, ohne dass Sie weitere Aufgaben planen oder nach Änderungen fragen müssen.\n"
				f["docs.json"] = twoLanguages("de", "Warten", "de/wait", `"wait", "wait-for", "wait-until", "wait-for-token", "hidden-tasks", "tags", "versioning", "replaying", "api/create-event", "api/create-batch"`)
				return f
			},
			prompt: "Translate the page /wait-for into German, as de/wait-for, with an entry after de/wait in the navigation. Code stays as it is, with its comments; names of settings are not translated.",
			may:    deutsch + " docs.json",
			check: func(j *judge) {
				j.translated(english, deutsch, "de", german)
				listed(j, "de/wait", "de/wait-for")
			},
			then: []round{{
				people: func(d *desk) {
					d.push(func(f files) {
						f[english] = strings.NewReplacer("    await wait.for({ years: 1 });\n", "    await wait.for({ quarters: 2 });\n\n    await wait.for({ years: 1 });\n",
							"## Wait idempotency\n", "## Longest wait\n\nA wait of more than one year fails at once. Use [wait until](/wait-until) for a date that is further away.\n\n## Wait idempotency\n").Replace(f[english])
					})
				},
				prompt: "I have changed the English page on the branch. Bring the German one up to date. What is right in it stays word for word.",
				may:    deutsch,
				check: func(j *judge) {
					j.translated(english, deutsch, "de", german)
					j.keeps(deutsch, 0)
				},
			}},
		},
		{
			name: "translate-french",
			site: func(tb testing.TB) files {
				f := account(tb)
				for _, p := range []string{"purchase-business-tier", "manage-invoices"} {
					f["images/account/billing/"+p+".gif"] = "GIF89a\x00"
				}
				f["fr/platform/account/sso.mdx"] = "---\ntitle: 'Connexion unique'\ndescription: 'Se connecter à Novu par le fournisseur de votre organisation.'\n---\n\nLa connexion unique est réservée aux clients de l'offre Enterprise.\n"
				f["docs.json"] = twoLanguages("fr", "Compte", "fr/platform/account/sso", `"platform/account/manage-members", "platform/account/roles-and-permissions", "platform/account/authentication", "platform/account/sso", "platform/account/billing"`)
				return f
			},
			prompt: "Translate platform/account/billing into French, as fr/platform/account/billing, after fr/platform/account/sso in the navigation. Labels of the dashboard in bold stay English; titles of accordions and alternative texts are translated.",
			may:    factures + " docs.json",
			check: func(j *judge) {
				j.translated(billing, factures, "fr", french)
				listed(j, "fr/platform/account/sso", "fr/platform/account/billing")
				j.has(factures, "**Billing Plans**", "**Manage Subscription**")
				j.lacks(factures, "How to purchase", "How to access", "alt=\"Upgrade", "alt=\"Access")
			},
			then: []round{{
				people: func(d *desk) {
					d.push(func(f files) {
						f[billing] = strings.NewReplacer("  <Accordion title=\"How to purchase a paid plan?\">\n", "  <Accordion title=\"Who may see invoices?\">\n    Only the owners of the organization can see invoices, and those of the last seven years.\n\n  </Accordion>\n\n  <Accordion title=\"How to purchase a paid plan?\">\n").Replace(f[billing])
						f[billing] = strings.Replace(f[billing], "Click on the avatar icon in the top right corner of the dashboard, then click on **Billing Plans** on the side menu to access the billing settings. ", "", 1)
					})
				},
				prompt: "The English page has changed on the branch: one accordion is new, and one is shorter. Bring the French page up to date; what is right in it stays word for word.",
				may:    factures,
				check: func(j *judge) {
					j.translated(billing, factures, "fr", french)
					j.keeps(factures, 1) // the accordion that is shorter
					j.want(strings.Count(j.after[factures], "**Billing Plans**") == 1, "%s: has what the English page no longer says", factures)
					j.says(factures, j.after[factures], `\b(sept|7)\b`, `propriétaire`)
				},
			}},
		},
	}
}

// twoLanguages is a configuration with these pages in English and one in another language.
func twoLanguages(code, group, page, english string) string {
	return fmt.Sprintf(`{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "mint",
  "name": "Docs",
  "colors": { "primary": "#15803d" },
  "navigation": {
    "languages": [
      { "language": "en", "groups": [{ "group": "Pages", "pages": [%s] }] },
      { "language": %q, "groups": [{ "group": %q, "pages": [%q] }] }
    ]
  }
}
`, english, code, group, page)
}
