package export

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// What is around a page, what components and pages of an API bring, and what
// scripts say are in one language: that of the section that the page shows
// beside it, also for a page outside the navigation.
func TestAPageSpeaksOneLanguage(t *testing.T) {
	const page = "<Note>x</Note>\n\n<ParamField body=\"x\" required />\n\n## Head\n\n| a |\n|---|\n| b[^1] |\n\n[^1]: d\n"
	files := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Site", "colors": {"primary": "#0055aa"}, "navigation": {"languages": [
			{"language": "nl", "groups": [{"group": "A", "pages": ["nl/a"]}, {"group": "B", "openapi": {"source": "nl/api.json", "directory": "nl/api"}}]},
			{"language": "he", "groups": [{"group": "A", "pages": ["he/a"]}, {"group": "B", "openapi": {"source": "he/api.json", "directory": "he/api"}}]}]}}`)},
		"lost.mdx": {Data: []byte(page)},
	}
	for _, lang := range []string{"nl", "he"} {
		files[lang+"/a.mdx"], files[lang+"/lost.mdx"] = &fstest.MapFile{Data: []byte(page)}, &fstest.MapFile{Data: []byte(page)}
		files[lang+"/api.json"] = &fstest.MapFile{Data: []byte(`{"openapi": "3.0.0", "info": {"title": "A", "version": "1"}, "servers": [{"url": "https://a.example"}],
			"paths": {"/b": {"get": {"operationId": "b", "parameters": [{"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}],
				"responses": {"200": {"description": "c"}}}}}}`)}
	}
	w := newWorld(t)
	w.publish(t, files)
	bundle := unpacked(t, w.exported(t, nil))
	guides := func(lang string) []string { return []string{lang + "/a.html", lang + "/lost.html"} }
	api := func(lang string) (out []string) {
		for name := range bundle {
			if strings.HasPrefix(name, lang+"/api/") && strings.HasSuffix(name, ".html") && strings.Contains(bundle[name], `class="bdy-playground"`) {
				out = append(out, name)
			}
		}
		return out
	}
	for _, c := range []struct {
		pages []string
		want  []string
	}{
		{append(guides("nl"), "lost.html"), []string{`lang="nl"`, "Naar de inhoud", "Zoeken", `aria-label="Opmerking"`, ">verplicht<", `aria-label="Link naar dit onderdeel"`, `aria-label="Tabel"`, ">Voetnoten<"}},
		{guides("he"), []string{`lang="he" dir="rtl"`, "דילוג לתוכן", "חיפוש", `aria-label="הערה"`, ">חובה<", `aria-label="קישור לחלק זה"`, `aria-label="טבלה"`, ">הערות שוליים<"}},
		{api("nl"), []string{"Naar de inhoud", "Queryparameters", "Antwoorden", ">verplicht<", "Uitproberen"}},
		{api("he"), []string{"דילוג לתוכן", "פרמטרים בשאילתה", "תשובות", ">חובה<", "לנסות"}},
	} {
		if len(c.pages) == 0 {
			t.Errorf("there is no page with %s", c.want)
		}
		for _, name := range c.pages {
			for _, want := range c.want {
				if !strings.Contains(bundle[name], want) {
					t.Errorf("%s has no %s", name, want)
				}
			}
			if english := regexp.MustCompile(`aria-label="(Note|Table|Search|Link to this section|On this page|Navigation)"|>required<|Skip to content|Query parameters|Try it`).FindString(bundle[name]); english != "" {
				t.Errorf("%s has %s", name, english)
			}
		}
	}
	for _, script := range []struct {
		name string
		want []string
	}{
		{"bindery/search/box.", []string{"Gevonden pagina’s: %d", "דפים שנמצאו: %d", "Pages found: %d"}},
		{"bindery/", []string{"Alles tonen", "הצגת הכול", "Show all"}},
	} {
		found := false
		for name, data := range bundle {
			found = found || strings.HasPrefix(name, script.name) && strings.HasSuffix(name, ".js") && !strings.Contains(data, "Afficher") &&
				strings.Contains(data, script.want[0]) && strings.Contains(data, script.want[1]) && strings.Contains(data, script.want[2])
		}
		if !found {
			t.Errorf("no script %s… says %q in the languages of the site alone", script.name, script.want)
		}
	}
}
