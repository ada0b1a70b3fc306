package check

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Code is one kind of finding.
type Code struct {
	// Name is stable: rules, baselines and scripts name it.
	Name string
	// Level is the level of such findings unless a rule changes it. Some codes have
	// findings of several levels; then it is the usual one.
	Level mdx.Severity
	// About describes the finding, in Markdown.
	About string
}

// Codes lists all kinds of findings, sorted by name.
func Codes() []Code {
	const e, w, n = mdx.Error, mdx.Warning, mdx.Notice
	all := []Code{
		// The configuration.
		{rulesCode, e, "`bindery.yaml` is not YAML, or names an unknown key, code or level."},
		{"config-unusable", e, "No bundle can be made of the site: `docs.json` is missing or not JSON, or there are no pages. An export fails with `invalid_site`."},
		{"config-unknown", w, "`docs.json` has a key that Bindery does not know."},
		{"config-twice", w, "An object in `docs.json` has the same key twice. The last one counts."},
		{"config-type", w, "A value in `docs.json` has an unexpected type."},
		{"config-value", w, "A value in `docs.json` is not one that its key allows."},
		{"config-name", w, "The site has no name."},
		{"config-color", w, "A colour in `docs.json` is not one such as `#0055aa`."},
		{"config-link", w, "A link in `docs.json` lacks its address or its title."},
		{"config-redirect", w, "A redirect lacks its source or its destination."},
		{"config-variable", w, "A variable has a name that can't be written in a page."},
		{"config-ref", e, "A `$ref` in `docs.json` leads to no file, or back to itself."},
		{"config-ref-address", e, "A `$ref` in `docs.json` is an address. It is not fetched: put the file into the site."},
		{"config-unsupported", n, "A field of `docs.json` has no effect in a bundle. The message says why."},
		{"contextual-unsupported", n, "An option of the page's menu needs something that a bundle does not have."},
		{"feature-unset", n, "The deployment has a feature, but nobody named a service for it: pages don't show it."},
		{"integration", w, "A service of `integrations` does not load because of its settings."},
		{"integration-off", n, "A service of `integrations` does not load because the project does not allow it."},
		{"integration-unsupported", n, "A service of `integrations` does not load because bundles do not support it."},
		{"search-service", n, "The project names a search service: its pages have no search field."},
		{"group-unused", w, "Nothing in the site is for a group that is let in."},
		{"path-empty", w, "No page lies below a path that the export was limited to."},
		{"list-cut", n, "There are more findings than the list holds."},
		// Files and pages.
		{"file-refused", e, "A file can't be published because of its name, kind or size. Publishing reports the same."},
		{"name-reserved", e, "A name is reserved for Bindery's own files."},
		{"page-shadowed", e, "Two sources want one address. One of them is in the bundle."},
		{"file-shadowed", w, "A file wants the address of a page. The page is in the bundle."},
		{"front-matter", e, "The head of a page is not YAML."},
		{"front-matter-mode", w, "The head of a page names a layout that does not exist."},
		{"page-failed", e, "The page could not be rendered. It says so to readers."},
		{"page-too-large", e, "The page has more parts than a page may have. The rest is left out."},
		{"page-restricted", n, "A page is for [groups of readers](/authoring/groups) that are not let in. It is left out."},
		{"file-restricted", n, "A file is for groups of readers that are not let in. It is left out."},
		{"api-restricted", n, "A part of a specification is for groups of readers that are not let in. It is left out."},
		// The navigation.
		{"nav-missing", e, "The navigation names a page that does not exist."},
		{"nav-empty", w, "The navigation names no page: all pages are listed."},
		{"nav-entry", w, "An entry of the navigation is neither a page, a group nor a link."},
		{"nav-label", w, "A group or another part of the navigation has no label."},
		{"nav-endpoint", n, "The navigation names an operation that no specification has."},
		{"page-unlisted", n, "A page is not in the navigation, and its head does not have `hidden: true`."},
		{"title-duplicate", n, "The navigation shows two pages of one group under the same name."},
		// Links and redirects.
		{"link-missing", w, "A link leads to a page or file that does not exist."},
		{"fragment-missing", w, "A link leads to a place that its page does not have, through redirects too."},
		{"link-unsafe", w, "A link has a scheme that could run code. It is left out."},
		{"link-restricted", w, "A link leads to something that is for other readers. Its text stays."},
		{"redirect-missing", w, "A redirect leads nowhere."},
		{"redirect-loop", w, "Redirects lead in a circle."},
		{"redirect-chain", n, "A redirect leads to another redirect: it could lead straight to the last address."},
		{"redirect-cut", n, "Patterns of redirects stand for more addresses than a bundle has pages for."},
		{"redirect-restricted", w, "A redirect leads to something that is for other readers. It is left out."},
		// Pictures and other files that pages load.
		{"file-missing", w, "A picture or another file does not exist."},
		{"file-outside", w, "`styles` or `scripts` name a file on another host that is not [fetched](/export/remote). Pages do without it."},
		{"remote-missing", w, "A file from a host that the project allows could not be [fetched](/export/remote). Readers load it from there."},
		{"asset-outside", n, "A page loads a picture from another host, and the bundle is for readers without a network."},
		{"embed-outside", n, "A page embeds something from another host, and the bundle is for readers without a network."},
		{"drawing-outside", w, "An SVG uses a drawing of another file, which browsers refuse from a folder. It is left out."},
		{"alt-missing", n, "A picture has no alternative text. `alt=\"\"` on an `<img>` marks it as decoration."},
		{"icon-unknown", w, "No icon library has this name."},
		{"diagram-not-drawn", w, "A diagram of Mermaid is not drawn at export. Its own runtime draws it, or its source is shown."},
		// Syntax, components and styles.
		{"mdx-syntax", e, "The page's source breaks a rule of MDX. The message says what was expected."},
		{"component-unknown", w, "The page uses an element that is neither built in nor imported. Its children are shown."},
		{"attribute-unknown", n, "A built-in component has no attribute of this name: it has no effect."},
		{"attributes-cut", w, "An element has more than 500 attributes. The first 500 count."},
		{"element-dropped", w, "An element that pages can't hold is left out."},
		{"id-duplicate", w, "An id occurs twice on a page. The first element keeps it."},
		{"table-cells", w, "A row of a table has more cells than its head. A bar inside a cell needs a backslash before it, also in code."},
		{"code-language", w, "A block of code names a language that Bindery does not know. The code is shown in one colour."},
		{"math-unknown", w, "A formula can't be read. It is shown as it was written."},
		{"style-dropped", w, "A declaration of a style is left out: it is not safe on a page, or there are too many."},
		{"class-unknown", n, "No style sheet has a rule for some class names on pages."},
		{"classes-failed", w, "The class names on pages could not be made into styles."},
		{"snippet-missing", e, "An imported snippet does not exist."},
		{"snippet-cycle", e, "A snippet includes itself."},
		{"import-missing", w, "A snippet does not export a name that a page imports."},
		{"script-failed", w, "A component or expression in JavaScript could not be shown. The message says why and where; its content is shown where there is some."},
		{"script-needed", w, "An expression or component needs JavaScript, and the page has more of them than are tried. Its content is shown where there is some."},
		{"script-dropped", w, "A script is left out: a page loads files of the site alone."},
		// Specifications.
		{"api-missing", e, "A specification that a page or the navigation names does not exist."},
		{"api-operation", e, "An operation that a page or the navigation names is in no specification."},
		{"api-remote", w, "A specification is on another host, which [is not asked](/export/remote) or did not send it."},
		{"api-unreadable", e, "A specification can't be read."},
		{"api-version", e, "A specification has a version that is not supported."},
		{"api-ref", e, "A reference in a specification leads nowhere. The rest is shown."},
		{"api-security", w, "An operation names a security scheme that its specification does not have."},
		{"api-cut", n, "A page would have more fields than one shows: deeper ones are left out."},
	}
	slices.SortFunc(all, func(a, b Code) int { return strings.Compare(a.Name, b.Name) })
	return all
}
