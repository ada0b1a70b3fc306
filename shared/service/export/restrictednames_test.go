package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// namedSite names what it keeps for the group okapiTeam in every way that we know:
// each name begins with "okapi" and goes on with the way. No text of a public page
// has such a word, only addresses and configuration do.
func namedSite() fstest.MapFS {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	kept := func(title, body string) *fstest.MapFile {
		return text("---\ntitle: " + title + "\ngroups: [\"okapiTeam\"]\nicon: /images/okapi-page-icon.svg\nog:image: /images/okapi-meta.png\n---\n\n" + body + "\n")
	}
	return fstest.MapFS{
		"docs.json": text(`{"name":"Named","colors":{"primary":"#0055aa"},
			"navbar":{"links":[{"label":"okapiNavbar","href":"/okapi-head"}],"primary":{"type":"button","label":"okapiButton","href":"/okapi-dir/okapi-deep"}},
			"footer":{"links":[{"header":"More","items":[{"label":"okapiFooter","href":"/okapi-head"},{"label":"Home","href":"/"}]},
				{"header":"okapiFooterColumn","items":[{"label":"okapiFooterOnly","href":"/okapi-head"}]}]},
			"banner":{"content":"See [the news](/okapi-head) of today"},
			"redirects":[{"source":"/okapi-from","destination":"/okapi-head"},{"source":"/okapi-far","destination":"/okapi-from"},
				{"source":"/okapi-pattern/:slug*","destination":"/okapi-dir/:slug*"},{"source":"/wild/:slug","destination":"/okapi-dir/okapi-:slug"},
				{"source":"/okapi-head","destination":"/"},{"source":"/okapi-dir/:any","destination":"/public"},
				{"source":"/okapi-place#x","destination":"/okapi-head#okapi-fragment"},
				{"source":"/host","destination":"https://docs.example/okapi-head"},
				{"source":"/public-old","destination":"/public"},{"source":"/public-dir/:slug*","destination":"/shown/:slug*"}],
			"navigation":{"global":{"anchors":[{"anchor":"okapiAnchor","href":"/okapi-head"},{"anchor":"okapiGlobal","groups":["okapiTeam"],"href":"https://okapi.example/"}]},
			"versions":[{"version":"1.0","default":true,"languages":[{"language":"en","tabs":[
				{"tab":"Docs","pages":["index","public","shown/one","okapi-head","okapi-dir/okapi-deep",
					{"group":"okapiEmptied","icon":"/images/okapi-group-icon.svg","pages":["okapi-head"]},
					{"group":"okapiGroup","groups":["okapiTeam"],"icon":"okapi-no-icon","pages":["okapi-inherited","okapi-missing",{"title":"okapiLink","href":"/okapi-no-link"},{"title":""},
						{"group":"okapiInner","pages":["okapi-missing-too","GET /okapi-no-operation"]}]},
					{"title":"okapiEntry","href":"/okapi-head"}]},
				{"tab":"okapiTab","href":"/okapi-head"},
				{"tab":"okapiTabRoot","root":"okapi-head","pages":[]},
				{"tab":"okapiMenuTab","menu":[{"item":"okapiItem","pages":["okapi-head"]}]},
				{"tab":"API","openapi":"shared.json","pages":["GET /open"]},
				{"tab":"okapiApi","groups":["okapiTeam"],"pages":["GET /okapi-closed"],"openapi":"shared.json"},
				{"tab":"okapiSpec","groups":["okapiTeam"],"openapi":{"source":"okapi-spec.json","directory":"okapi-generated"}}]},
				{"language":"de","tabs":[{"tab":"okapiSprache","pages":["okapi-de"]}]}]},
				{"version":"okapi-9.0","pages":["okapi-next"]}]}}`),
		"index.mdx": text("---\ntitle: Start\nrelated: [\"/okapi-head\", \"/public\"]\n---\n\nimport Both from '/snippets/both.mdx';\n\n<Both />\n\n" +
			"[a](/okapi-head) [b](/okapi-head.md) [c](/okapi-head/) [d](/OKAPI-HEAD) [e](https://docs.example/okapi-head#okapi-fragment) [f](./okapi-head.mdx?okapi=1) [g](okapi-from) " +
			"[h](/okapi-pattern/okapi-deep) [i](//docs.example/okapi-far) [j](/okapi-dir/okapi-deep \"a title\") [k][ref] [l](/okapi%2Dhead) [m](/okapi%20spaced) [n](/wild/deep) [o](/okapi-place#x)\n\n" +
			"[ref]: /okapi-head\n\n<a href=\"/okapi-head\">p</a> <Card title=\"A card\" href=\"/okapi-head\">q</Card> <Card title=\"Pictured\" img=\"/images/absent.png\">r</Card>\n\n" +
			"<img src=\"/images/absent-too.png\" srcSet=\"/okapi-head.md 2x\" />\n\n[](/okapi-head)\n"),
		"public.mdx":               text("---\ntitle: Public\nurl: /okapi-head\n---\n\nA bilby that all may see. ![s](/images/a/twin.png) ![s](</images/shared one.png>)\n"),
		"shown/one.mdx":            text("---\ntitle: One\ncanonical: /okapi-head\n---\n\n<Columns><Card title=\"t\" href=\"../okapi-head\">text</Card></Columns>\n"),
		"okapi-head.mdx":           kept("okapiTitle", "import Own from '/snippets/okapi-snippet.mdx';\nimport Both from '/snippets/both.mdx';\nimport { Part } from '/snippets/okapi-part.jsx';\n\n<Own /> <Both /> <Part />\n\n![p](/images/okapi-picture.png) ![s](</images/okapi spaced.png>) ![s](</images/shared one.png>) ![t](/images/okapi-twins/twin.png) [x](/files/okapi-file.pdf) [x](/okapi-lost) <video src=\"images/okapi%2Dfilm.mp4\" /> <X okapiProp={okapiOops} />\n\n```mermaid\ngraph TD\nokapiNode-->b\n```"),
		"okapi-dir/okapi-deep.mdx": kept("okapiDeep", "![near](./okapi-near.png)"),
		"okapi-de.mdx":             kept("okapiDe", "de"),
		"okapi-next.mdx":           kept("okapiNext", "next"),
		"okapi spaced.mdx":         kept("okapiSpaced", "spaced"),
		"okapi-twice.mdx":          kept("okapiTwice", "one"),
		"okapi-twice.md":           kept("okapiTwice", "other"),
		"okapi-strange.mdx":        text("---\ntitle: okapiStrange\ngroups: [\"okapiTeam\"]\nokapiField: 1\nokapiTitel: x\nmode: okapiMode\n---\n\n[x](/okapi-lost)\n"),
		"okapi-changelog.mdx":      text("---\ntitle: okapiNews\ngroups: [\"okapiTeam\"]\nrss: true\n---\n\n<Update label=\"okapiUpdate\">\n  x\n</Update>\n"),
		"okapi-inherited.mdx":      text("---\ntitle: okapiInherited\n---\n\ntext\n"),
		"okapi-unlisted.mdx":       kept("okapiUnlisted", "unlisted"),
		"okapi-api.mdx":            text("---\ntitle: okapiApiPage\ngroups: [\"okapiTeam\"]\nopenapi: okapi-only.json GET /okapi-only\n---\n"),

		"snippets/both.mdx":           text("A potoroo that all may see. ![s](/images/both.png)\n"),
		"snippets/okapi-snippet.mdx":  text("import Inner from './okapi-inner.mdx';\n\nokapiSnippet ![x](/images/okapi-in-snippet.png) <Inner />\n"),
		"snippets/okapi-inner.mdx":    text("okapiInnerSnippet ![x](/images/okapi-in-inner.png)\n"),
		"snippets/okapi-part.jsx":     text("export const Part = () => <img src=\"/images/okapi-in-part.png\" />;\n"),
		"snippets/unused.mdx":         text("Unused.\n"),
		"images/both.png":             text("\x89PNG\r\n"),
		"images/shared one.png":       text("\x89PNG\r\n"),
		"images/unnamed.png":          text("\x89PNG\r\n"),
		"images/a/twin.png":           text("\x89PNG\r\n"),
		"images/okapi-twins/twin.png": text("\x89PNG\r\n"),
		"images/okapi-picture.png":    text("\x89PNG\r\n"),
		"images/okapi spaced.png":     text("\x89PNG\r\n"),
		"images/okapi-film.mp4":       text("film"),
		"images/okapi-meta.png":       text("\x89PNG\r\n"),
		"images/okapi-page-icon.svg":  text("<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"okapi-in-svg.png\"/></svg>\n"),
		"images/okapi-in-svg.png":     text("\x89PNG\r\n"),
		"images/okapi-group-icon.svg": text("<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"),
		"images/okapi-in-snippet.png": text("\x89PNG\r\n"),
		"images/okapi-in-inner.png":   text("\x89PNG\r\n"),
		"images/okapi-in-part.png":    text("\x89PNG\r\n"),
		"okapi-dir/okapi-near.png":    text("\x89PNG\r\n"),
		"files/okapi-file.pdf":        text("%PDF\n"),
		"shared.json": text(`{"openapi":"3.1.0","info":{"title":"Shared","version":"1"},"paths":{
			"/open":{"get":{"summary":"Open","responses":{"200":{"description":"ok"}}}},
			"/okapi-closed":{"get":{"summary":"okapiClosed","parameters":[{"name":"okapiParam","in":"okapiPlace"}],"responses":{"200":{"description":"ok"}}}}}}`),
		"okapi-spec.json": text(`{"openapi":"3.1.0","info":{"title":"okapiInfo","version":"1"},"paths":{"/okapi-split":{"get":{"summary":"okapiSplit","operationId":"okapiId","responses":{"200":{"$ref":"#/okapiNowhere"}}}}}}`),
		"okapi-only.json": text(`{"openapi":"3.1.0","info":{"title":"okapiOnlyInfo","version":"1"},"paths":{"/okapi-only":{"get":{"summary":"okapiOnly","responses":{"200":{"$ref":"#/okapiNowhere"}}}}}}`),
	}
}

// unfolded returns a file's bytes and, after them, what is compressed in them, at any
// depth and at any place.
func unfolded(t *testing.T, data []byte, depth int) []byte {
	t.Helper()
	if depth == 0 {
		return data
	}
	all := bytes.Clone(data)
	magic := []byte{0x1f, 0x8b, 8}
	for at := bytes.Index(data, magic); at >= 0; {
		if r, err := gzip.NewReader(bytes.NewReader(data[at:])); err == nil {
			more, _ := io.ReadAll(io.LimitReader(r, 64<<20))
			all = append(append(all, '\n'), unfolded(t, more, depth-1)...)
		}
		next := bytes.Index(data[at+1:], magic)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return all
}

// TestRestrictedUnnamed looks for the paths, titles, groups, pictures and
// specifications of restricted pages in every byte of a bundle. The findings of the
// job have them.
func TestRestrictedUnnamed(t *testing.T) {
	outside.Long(t, "exports one site twice")
	w := newWorld(t)
	w.publish(t, namedSite())
	ctx := context.Background()
	job, err := w.admin.StartExport(ctx, w.caller, admin.StartExport{Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	if err := workflow(ctx, w.steps(nil), job.ID); err != nil {
		t.Fatal(err)
	}
	open := unpacked(t, w.bundle(t, job.ID))
	named := 0
	for _, name := range slices.Sorted(maps.Keys(open)) {
		text := strings.ToLower(name) + "\n" + strings.ToLower(string(unfolded(t, []byte(open[name]), 4)))
		for rest := text; ; {
			i := strings.Index(rest, "okapi")
			if i < 0 {
				break
			}
			named++
			t.Errorf("%s: …%q…", name, rest[max(0, i-60):min(len(rest), i+60)])
			rest = rest[i+5:]
		}
	}
	if named > 0 {
		t.Errorf("the bundle has %d names of what it leaves out", named)
	}
	for _, word := range []string{"bilby", "potoroo"} {
		if len(holds(open, word)) == 0 {
			t.Errorf("%s, which all may see, is nowhere", word)
		}
	}
	for _, name := range []string{"images/both.png", "images/shared one.png", "images/a/twin.png", "images/unnamed.png", "public-old.html"} {
		if _, ok := open[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}

	// The description counts the list in the bundle, which is a part of the job's.
	var info bundle.Info
	if err := json.Unmarshal([]byte(open[bundle.InfoPath]), &info); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(open[bundle.DiagnosticsPath], "\n"); info.Diagnostics.Errors+info.Diagnostics.Warnings+info.Diagnostics.Notices+info.Diagnostics.Infos != lines {
		t.Errorf("the description counts %+v findings, the list has %d", info.Diagnostics, lines)
	}
	if len(info.Redirects) == 0 || !strings.Contains(open[bundle.InfoPath], "/public-dir") {
		t.Errorf("the redirects are %+v", info.Redirects)
	}
	body, err := w.objects.Get(ctx, admin.FindingsKey(job.ID), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	all, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(open[bundle.DiagnosticsPath]) {
		if !bytes.Contains(all, []byte(line)) {
			t.Errorf("the job's findings lack %s", line)
		}
	}
	for _, text := range []string{
		`the page okapi-head.mdx is left out: it is for the group \"okapiTeam\"`, `"file":"images/okapi-picture.png"`, `okapi-missing`, `redirect-restricted`, `link-restricted`,
	} {
		if !bytes.Contains(all, []byte(text)) {
			t.Errorf("the job's findings lack %s", text)
		}
	}
	done, err := w.admin.FindExport(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if n := done.Bundle.Diagnostics; n.Errors+n.Warnings+n.Notices+n.Infos != bytes.Count(all, []byte("\n")) {
		t.Errorf("the job counts %+v findings of %d", n, bytes.Count(all, []byte("\n")))
	}

	// For its group, all of it is there.
	team := w.exportedFor(t, "okapiTeam")
	for _, word := range []string{"okapiTitle", "okapi-picture.png", "okapi-in-inner.png", "okapi spaced.png", "okapiGroup", "okapi-spec.json", "okapiClosed", "okapi-missing"} {
		if len(holds(team, word)) == 0 {
			t.Errorf("%s is not there for its group", word)
		}
	}
}
