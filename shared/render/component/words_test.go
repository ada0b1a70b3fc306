package component_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Components speak the page's language, in HTML and in the Markdown copy;
// English where they know no words of it.
func TestWords(t *testing.T) {
	fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"languages": [
		{"language": "en", "pages": ["en/a"]}, {"language": "fr", "pages": ["fr/a"]},
		{"language": "pt-BR", "pages": ["pt/a"]}, {"language": "zh-Hans", "pages": ["zh/a"]}, {"language": "sw", "pages": ["sw/a"]}]}}`)}}
	for _, lang := range []string{"en", "fr", "pt", "zh", "sw"} {
		fsys[lang+"/a.mdx"] = &fstest.MapFile{Data: []byte("<Warning>x</Warning>\n\n<ParamField body=\"x\" required />\n\n<RequestExample>\n```sh\nx\n```\n</RequestExample>\n\n<Icon icon=\"check\" />\n\n## Head\n\n| a |\n|---|\n| b[^1] |\n\n- [x] c\n\n[^1]: d\n")}
	}
	var paths []string
	for name := range fsys {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	s, _, err := site.Load(t.Context(), fsys, paths, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	r := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}})
	want := map[string][]string{
		"en/a.mdx": {`aria-label="Warning"`, ">required<", ">Request<", `aria-label="Yes"`, `aria-label="Code: sh"`, `aria-label="Table"`, `aria-label="Link to this section"`, `aria-label="Done"`, `aria-label="Back to the text"`, ">Footnotes<"},
		"fr/a.mdx": {`aria-label="Avertissement"`, ">obligatoire<", ">Requête<", `aria-label="Oui"`, `aria-label="Code: sh"`, `aria-label="Tableau"`, `aria-label="Lien vers cette section"`, `aria-label="Fait"`, `aria-label="Retour au texte"`, ">Notes<"},
		"pt/a.mdx": {`aria-label="Aviso"`, ">obrigatório<", ">Requisição<", `aria-label="Sim"`},
		"zh/a.mdx": {`aria-label="警告"`, ">必填<", ">请求<", `aria-label="是"`, `aria-label="代码: sh"`, `aria-label="表格"`},
		"sw/a.mdx": {`aria-label="Warning"`, ">required<", ">Request<", `aria-label="Yes"`},
	}
	for i, p := range s.Pages {
		result, err := r.Render(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want[p.Source] {
			if !strings.Contains(string(result.HTML), w) {
				t.Errorf("%s has no %s:\n%s", p.Source, w, result.HTML)
			}
		}
		if label := strings.Trim(want[p.Source][0][len(`aria-label=`):], `"`); !strings.Contains(string(result.Markdown), "**"+label+"**") {
			t.Errorf("the copy of %s has no %s:\n%s", p.Source, label, result.Markdown)
		}
		delete(want, p.Source)
	}
	if len(want) > 0 {
		t.Errorf("not rendered: %v", want)
	}
}
