package site

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shop = `
openapi: 3.1.0
tags: [{name: orders, x-displayName: All orders}]
paths:
  /orders:
    get: {tags: [orders], summary: List orders}
    post: {tags: [orders], operationId: createOrder}
  /orders/{id}:
    get: {tags: [orders], summary: List orders}
    delete: {summary: Remove, deprecated: true}
  /hidden: {get: {tags: [orders], summary: Hidden, x-hidden: true}}
  /out: {get: {tags: [orders], summary: Out, x-excluded: true}}
  /named: {get: {x-page: {href: /named/here, metadata: {title: "A name", sidebarTitle: Short}}}}
webhooks: {paid: {post: {summary: It was paid}}}
components: {schemas: {Order: {title: An order}}}
`

// The navigation makes pages of operations where it names a specification and
// no pages, and of entries that name one; a page that its author wrote about an
// operation stands in the place of one that would be made.
func TestPagesOfOperations(t *testing.T) {
	for _, c := range []struct {
		name, navigation string
		files            []string
		want             string
		codes            []string
	}{
		{"all of a specification", `{"tabs": [{"tab": "T", "openapi": "shop.yaml"}]}`, nil, `tab "T" openapi=shop.yaml
  group "All orders"
    api-reference/all-orders/list-orders
    api-reference/all-orders/create-order
    api-reference/all-orders/list-orders-2
  api-reference/remove
  named/here
  api-reference/it-was-paid
`, nil},
		{"in a folder", `{"groups": [{"group": "G", "openapi": {"source": "/shop.yaml", "directory": "/api/v1/"}}]}`, nil, `group "G" openapi=/shop.yaml
  group "All orders"
    api/v1/all-orders/list-orders
    api/v1/all-orders/create-order
    api/v1/all-orders/list-orders-2
  api/v1/remove
  named/here
  api/v1/it-was-paid
`, nil},
		{"some", `{"tabs": [{"tab": "T", "openapi": "shop.yaml", "groups": [{"group": "G", "pages": ["a", "DELETE /orders/{order}", "shop.yaml POST /orders", "WEBHOOK paid"]}]}]}`,
			nil, `tab "T" openapi=shop.yaml
  group "G"
    a
    api-reference/remove
    api-reference/all-orders/create-order
    api-reference/it-was-paid
`, nil},
		{"the author's own page", `{"groups": [{"group": "G", "openapi": "shop.yaml"}, {"group": "H", "pages": ["GET /orders"]}]}`,
			[]string{"own.mdx", "---\ntitle: Mine\nopenapi: get /orders\n---\n"}, `group "G" openapi=shop.yaml
  group "All orders"
    own
    api-reference/all-orders/create-order
    api-reference/all-orders/list-orders
  api-reference/remove
  named/here
  api-reference/it-was-paid
group "H"
  own
`, nil},
		{"an address that is taken", `{"groups": [{"group": "G", "openapi": "shop.yaml"}]}`,
			[]string{"named/here.mdx", "", "api-reference/remove.mdx", ""}, `group "G" openapi=shop.yaml
  group "All orders"
    api-reference/all-orders/list-orders
    api-reference/all-orders/create-order
    api-reference/all-orders/list-orders-2
  api-reference/remove-2
  named/here
  api-reference/it-was-paid
`, []string{"api-extension"}},
		{"in two languages", `{"languages": [
			{"language": "en", "groups": [{"group": "G", "openapi": "shop.yaml"}, {"group": "H", "openapi": {"source": "shop.yaml", "directory": "h"}, "pages": ["GET /orders"]}]},
			{"language": "de", "openapi": {"source": "shop.yaml", "directory": "de/api"}, "pages": ["DELETE /orders/{x}", "GET /named", "DELETE /orders/{y}"]},
			{"language": "fr", "groups": [{"group": "F", "openapi": "shop.yaml", "pages": ["DELETE /orders/{x}"]}]}]}`,
			nil, `language "en"
  group "G" openapi=shop.yaml
    group "All orders"
      api-reference/all-orders/list-orders
      api-reference/all-orders/create-order
      api-reference/all-orders/list-orders-2
    api-reference/remove
    named/here
    api-reference/it-was-paid
  group "H" openapi=shop.yaml
    api-reference/all-orders/list-orders
language "de" openapi=shop.yaml
  de/api/remove
  named/here
  de/api/remove
language "fr"
  group "F" openapi=shop.yaml
    api-reference/remove
`, nil},
		{"what there is not", `{"groups": [{"group": "G", "openapi": "none.yaml"}, {"group": "H", "openapi": "https://specs.example/a.json"}, {"group": "I", "pages": ["a", "GET /nowhere"]}]}`,
			nil, "group \"G\" openapi=none.yaml\ngroup \"H\" openapi=https://specs.example/a.json\ngroup \"I\"\n  a\n", []string{"api-missing", "api-remote", "nav-endpoint"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLoad(t, files(append([]string{"docs.json", `{"name": "x", "navigation": ` + c.navigation + `}`, "shop.yaml", shop, "a.mdx", ""}, c.files...)...), Options{}, c.codes...)
			if d := cmp.Diff(c.want, outline(s, s.Nav)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for i := range s.Pages {
				p := &s.Pages[i]
				if i > 0 && s.Pages[i-1].Source >= p.Source {
					t.Errorf("%s stands behind %s", p.Source, s.Pages[i-1].Source)
				}
				if p.From != "" && (p.Reference == nil || p.Title == "" || p.File() != "shop.yaml") {
					t.Errorf("a made page: %+v", p)
				}
			}
		})
	}
}

// An operation says with an extension where its page is and what its front
// matter would hold; what a page of a specification can't be is reported.
func TestPagesSayWhatTheyAre(t *testing.T) {
	const spec = `
openapi: 3.1.0
tags: [{name: user-management, x-group: Users}]
paths:
  /alone: {get: {summary: Alone, x-mint: {href: "/moved//there/?a#b"}}}
  /twice: {get: {summary: Twice, x-mint: {href: moved/there}}}
  /abroad: {get: {summary: Abroad, x-mint: {href: "https://docs.example/x"}}}
  /kept: {get: {summary: Kept, x-mint: {href: /bindery/x}}}
  /tagged: {get: {summary: Tagged, tags: [user-management]}}
  /own: {get: {summary: Own, tags: [user-management], x-group: Mine}}
  /head: {get: {summary: Head, x-mint: {metadata: {title: "A title", sidebarTitle: Short, description: Words, "og:title": Shared, playground: none, tag: NEW,
    keywords: [one, two], noindex: true, icon: star, openapi: GET /other, url: "https://elsewhere.example", related: [/a]}}}}
  /hidden: {get: {summary: Hidden, x-mint: {metadata: {hidden: true}}}}
  /wrong: {get: {summary: Wrong, x-mint: {metadata: {mode: loud}}}}
`
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"groups": [{"group": "G", "openapi": "spec.yaml"}]}}`, "spec.yaml", spec), Options{},
		"page-shadowed", "name-reserved", "front-matter-unsupported", "front-matter-mode", "api-extension")
	want := `group "G" openapi=spec.yaml
  moved/there
  api-reference/abroad
  group "Users"
    api-reference/user-management/tagged
  group "Mine"
    api-reference/mine/own
  api-reference/a-title
  api-reference/wrong
`
	if d := cmp.Diff(want, outline(s, s.Nav)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	i := slices.IndexFunc(s.Pages, func(p Page) bool { return p.Address == "api-reference/a-title" })
	p := s.Pages[i]
	p.Size, p.Reference = 0, nil
	if d := cmp.Diff(Page{
		Source: "api-reference/a-title.mdx", Address: "api-reference/a-title", Output: "api-reference/a-title.html", From: "spec.yaml", OpenAPI: "GET /head", InNav: true,
		Title: "A title", SidebarTitle: "Short", Playground: "none", Tag: "NEW", Keywords: []string{"one", "two"}, NoIndex: true,
		Icon: Icon{Name: "star"}, Meta: []Meta{{Name: "og:title", Content: "Shared"}},
	}, p); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// An operation without letters in its title has the address of its call.
func TestAddressesOfOperations(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"openapi": "spec.yaml"}}`, "spec.yaml", `openapi: 3.0.0
info: {title: T, version: "1"}
paths:
  /users/{id}:
    get: {summary: "!!!", responses: {}}
    put: {summary: "???", tags: ["--"], responses: {}}
  /: {get: {summary: "+", responses: {}}}
  /size: {get: {summary: "Gro\u0308ße", responses: {}}}
`), Options{})
	var got []string
	for _, p := range s.Pages {
		got = append(got, p.Address)
	}
	slices.Sort(got)
	want := []string{"api-reference/get", "api-reference/get-users-id", "api-reference/größe", "api-reference/put-users-id"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What a page says of its operation is found in the closest specification; what
// is in none is reported.
func TestReferencesOfPages(t *testing.T) {
	other := strings.ReplaceAll(shop, "List orders", "Others")
	for _, c := range []struct{ name, head, want, title, code string }{
		{"the closest", "openapi: GET /orders", "other.yaml GET /orders", "Others", ""},
		{"by name", "openapi: shop GET /orders/{x}", "shop.yaml GET /orders/{id}", "List orders", ""},
		{"by path", "openapi: /shop.yaml GET /orders\ntitle: Mine", "shop.yaml GET /orders", "Mine", ""},
		{"a webhook", "openapi: webhook paid", "other.yaml webhook paid", "It was paid", ""},
		{"a schema", "openapi-schema: Order", "other.yaml Order", "An order", ""},
		{"a schema by path", "openapi-schema: shop.yaml Order", "shop.yaml Order", "An order", ""},
		{"in none", "openapi: GET /nope", "", "Page", "api-operation"},
		{"no operation", "openapi: orders", "", "Page", "api-operation"},
		{"a specification alone", "openapi: /shop.yaml", "", "Page", ""},
		{"a specification alone that there is not", "openapi: /none.yaml", "", "Page", "api-missing"},
		{"no specification", "openapi: nope.yaml GET /orders", "", "Page", "api-missing"},
		{"another host's", "openapi: https://specs.example/x.json GET /orders", "", "Page", "api-remote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var codes []string
			if c.code != "" {
				codes = []string{c.code}
			}
			s := mustLoad(t, files("docs.json", `{"name": "x", "api": {"openapi": "shop.yaml"}, "navigation": {"groups": [{"group": "G", "openapi": "other.yaml", "pages": ["page"]}]}}`,
				"shop.yaml", shop, "other.yaml", other, "page.mdx", "---\n"+c.head+"\n---\n"), Options{}, codes...)
			p, got := &s.Pages[0], ""
			if p.Reference != nil {
				got = p.Reference.File + " " + p.Reference.Key.String()
			}
			if got != c.want || p.Title != c.title {
				t.Errorf("shows %q as %q, want %q as %q", got, p.Title, c.want, c.title)
			}
		})
	}
}

// Without a specification before it, an operation is looked for in those that the
// configuration names, the closest first, and then in all others of the site. A
// path may be relative to the page.
func TestSpecificationsThatPagesFind(t *testing.T) {
	one := func(path string) string {
		return "openapi: 3.0.0\npaths: {" + path + ": {get: {summary: \"At " + path + "\"}}}\n"
	}
	const swagger = "swagger: \"2.0\"\npaths: {/old: {get: {summary: Old}}}\n"
	const async = "asyncapi: 3.0.0\nchannels: {news: {address: news}}\n"
	for _, c := range []struct{ name, head, want, code string }{
		{"named by the configuration", "openapi: get /named", "named.yaml GET /named", ""},
		{"named by nobody", "openapi: get /users", "specs/two.json GET /users", ""},
		{"in another format", "openapi: get /old", "deep/er/old.yml GET /old", ""},
		{"a channel", "asyncapi: news", "specs/news.yaml news", ""},
		{"beside the page", "openapi: beside.yaml GET /beside", "guides/beside.yaml GET /beside", ""},
		{"beside the page, with a dot", "openapi: ./beside.yaml GET /beside", "guides/beside.yaml GET /beside", ""},
		{"above the page", "openapi: ../specs/two.json get /users", "specs/two.json GET /users", ""},
		{"the page's before the root's", "openapi: ./same.yaml GET /page", "guides/same.yaml GET /page", ""},
		{"the root's by its path", "openapi: /same.yaml GET /root", "same.yaml GET /root", ""},
		{"the root's without a slash", "openapi: same.yaml GET /root", "same.yaml GET /root", ""},
		{"in none", "openapi: get /nope", "", "api-operation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var codes []string
			if c.code != "" {
				codes = append(codes, c.code)
			}
			s, report, err := loadFS(t, files("docs.json", `{"name": "x", "api": {"openapi": "named.yaml"}, "navigation": {"pages": ["guides/page"]}}`,
				"guides/page.mdx", "---\n"+c.head+"\n---\n", "guides/beside.yaml", one("/beside"), "guides/same.yaml", one("/page"), "same.yaml", one("/root"),
				"named.yaml", one("/named"), "specs/two.json", `{"openapi": "3.0.0", "paths": {"/users": {"get": {}}}}`, "deep/er/old.yml", swagger, "specs/news.yaml", async,
				"data.json", `{"openapi": "no", "a": 1}`, "broken.json", `{"openapi": `, "list.yaml", "- swagger"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if p := &s.Pages[0]; p.Reference != nil {
				got = p.Reference.File + " " + p.Reference.Key.String()
			}
			if got != c.want {
				t.Errorf("shows %q, want %q", got, c.want)
			}
			var said []string
			for _, d := range report {
				if d.Code != "api-converted" {
					said = append(said, d.Code)
				}
			}
			if !slices.Equal(said, codes) {
				t.Errorf("reported is %v, want %v", report, codes)
			}
		})
	}
}
