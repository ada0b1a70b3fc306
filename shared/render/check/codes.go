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
	// Sometimes is set where a finding depends on more than the site, such as
	// what a project allows or whether JavaScript may run: where nobody finds it,
	// a comment that silences it is still of use.
	Sometimes bool
}

// Codes lists all kinds of findings, sorted by name.
func Codes() []Code {
	const e, w, n, i = mdx.Error, mdx.Warning, mdx.Notice, mdx.Info
	all := []Code{
		// The configuration.
		{rulesCode, e, "`bindery.yaml` is not YAML, or names an unknown key, code or level.", false},
		{"config-unusable", e, "No bundle can be made of the site: `docs.json` is missing or not JSON, or there are no pages. An export fails with `invalid_site`.", false},
		{"config-unknown", w, "`docs.json` has a key that Bindery does not know.", false},
		{"config-twice", w, "An object in `docs.json` has the same key twice. The last one counts.", false},
		{"config-type", w, "A value in `docs.json` has an unexpected type.", false},
		{"config-value", w, "A value in `docs.json` is not one that its key allows.", false},
		{"config-name", w, "The site has no name.", false},
		{"config-color", w, "A colour in `docs.json` is not one such as `#0055aa`.", false},
		{indentCode, n, "Lines of `docs.json` are not indented as they nest. `bindery check` finds that, and an export does not.", false},
		{"color-contrast", i, "Links in a colour of `docs.json` could not be read on the site's pages, or words on the colour of its pages. Readers get another, which the message names.", false},
		{"config-link", w, "A link in `docs.json` lacks its address or its title.", false},
		{"config-redirect", w, "A redirect lacks its source or its destination.", false},
		{"config-variable", w, "A variable has a name that can't be written in a page.", false},
		{"config-ref", e, "A `$ref` in `docs.json` leads to no file, or back to itself.", false},
		{"config-ref-address", e, "A `$ref` in `docs.json` is an address. It is not fetched: put the file into the site.", false},
		{"config-unsupported", i, "A field of `docs.json` has no effect in a bundle. The message says why.", false},
		{"contextual-unsupported", i, "An option of the page's menu needs something that a bundle does not have.", false},
		{"feature-unset", i, "The deployment has a feature, but nobody named a service for it: pages don't show it.", false},
		{"integration", w, "A service of `integrations` does not load because of its settings.", false},
		{"integration-off", i, "A service of `integrations` does not load because the project does not allow it.", false},
		{"integration-unsupported", i, "A service of `integrations` does not load because bundles do not support it.", false},
		{"search-service", i, "The project names a search service: its pages have no search field.", false},
		{"group-unused", w, "Nothing in the site is for a group that is let in.", false},
		{"path-empty", w, "No page lies below a path that the export was limited to.", false},
		{"list-cut", n, "There are more findings than the list holds.", false},
		// Files and pages.
		{"file-refused", w, "A file is left out because it can't be read: a symbolic link that leads nowhere or out of the folder, or something that is no file. Publishing reports the same.", false},
		{"file-broken", e, "A picture or another file is a pointer of Git LFS, empty, or a picture that is cut off. The message says how to mend it.", false},
		{"file-left-out", n, "Files of a kind that the format does not serve are left out. The message names the line of `bindery.yaml` that [publishes](/export/publish#what-is-published) them.", false},
		{"file-renamed", w, "A file has another [name in the bundle](/export/publish#names-of-files), because not every disk and archive can carry its own. Links lead to it.", false},
		{"name-reserved", e, "A name is reserved for Bindery's own files.", false},
		{"page-shadowed", e, "Two sources want one address. One of them is in the bundle.", false},
		{"file-shadowed", w, "A file wants the address of a page. The page is in the bundle.", false},
		{"front-matter", e, "The head of a page is not YAML.", false},
		{"front-matter-mode", w, "The head of a page has a value that its field does not allow, such as a layout that does not exist.", false},
		{"front-matter-unknown", n, "Heads of pages have fields that nobody knows. One that looks like another's name is a warning.", false},
		{"front-matter-unsupported", n, "A field of pages' heads has no effect in a bundle. The message says what to do instead.", false},
		{"page-failed", e, "The page could not be rendered. It says so to readers.", true},
		{"page-too-large", e, "The page has more parts or bytes than a page may have. The rest is left out.", false},
		{"references-cut", w, "References of Markdown (`[text][name]`) repeat more bytes of addresses than their source has, and more than 100 kB. The rest stays as it is written.", false},
		{"page-restricted", n, "A page is for [groups of readers](/authoring/groups) that are not let in. It is left out.", true},
		{"file-restricted", n, "A file is for groups of readers that are not let in. It is left out.", true},
		{"api-restricted", n, "A part of a specification is for groups of readers that are not let in. It is left out.", false},
		{ignoreCode, w, "A comment `bindery-ignore` has no reason, names an unknown code, or silences nothing.", false},
		// The navigation.
		{"nav-missing", e, "The navigation names a page that does not exist.", false},
		{"nav-empty", w, "The navigation names no page: all pages are listed.", false},
		{"nav-entry", w, "An entry of the navigation is neither a page, a group nor a link.", false},
		{"nav-label", w, "A group or another part of the navigation has no label.", false},
		{"nav-endpoint", n, "The navigation names an operation that no specification has.", false},
		{"page-unlisted", i, "A page is not in the navigation, and its head does not have `hidden: true`.", false},
		{"title-duplicate", n, "The navigation shows two pages of one group under the same name.", false},
		// Links and redirects.
		{"link-missing", w, "A link leads to a page or file that does not exist.", false},
		{"fragment-missing", w, "A link leads to a place that its page does not have, through redirects too.", false},
		{"link-space", w, "A text looks like a link, but its address has a space. Write `%20` for the space.", false},
		{"link-unsafe", w, "A link has a scheme that could run code. It is left out.", false},
		{"link-restricted", w, "A link leads to something that is for other readers. Its text stays.", true},
		{"external-missing", w, "A link leads to another site, which says that there is nothing (404 or 410), or does not exist. [Asked](/authoring/check#links-to-other-sites) with `--external` alone, like the next two.", true},
		{"external-moved", n, "A link leads to another site, where what it led to has moved for good. The message has the new address.", true},
		{"external-unsure", n, "A link leads to another site, which could not be reached, asks for a password or does not want to be asked.", true},
		{"redirect-missing", w, "A redirect leads nowhere.", false},
		{"redirect-loop", w, "Redirects lead in a circle.", false},
		{"redirect-name", n, "A redirect leads from an address at which no file can stand. Servers that read `bindery.json` answer there.", false},
		{"redirect-chain", n, "A redirect leads to another redirect: it could lead straight to the last address.", false},
		{"redirect-cut", n, "Patterns of redirects stand for more addresses than a bundle has pages for.", false},
		{"redirect-pattern", w, "A name or a star in a redirect has no effect: it is a part of an element, or the source has no such name.", false},
		{"redirect-unused", w, "A redirect has no effect: a page, a file or an earlier redirect has the same address.", false},
		{"redirect-restricted", w, "A redirect leads to something that is for other readers. It is left out.", false},
		// Pictures and other files that pages load.
		{"file-missing", w, "A picture or another file does not exist.", false},
		{"file-outside", w, "`styles` or `scripts` name a file on another host that is not [fetched](/export/remote). Pages do without it.", true},
		{"script-outside", w, "A script of the site loads something from a host that the project [does not allow](/export/remote).", true},
		{"style-outside", w, "A style sheet of the site loads something from a host that the project [does not allow](/export/remote).", true},
		{"remote-missing", w, "A file from a host that the project allows could not be [fetched](/export/remote). Readers load it from there.", true},
		{"asset-outside", n, "A page loads pictures from another host, of which the bundle has [no copy](/export/remote).", true},
		{"embed-outside", n, "A page embeds something from another host, and the bundle is for readers without a network.", true},
		{"drawing-outside", w, "An SVG uses a drawing of another file, which browsers refuse from a folder. It is left out.", false},
		{"alt-missing", n, "A picture has no alternative text. `alt=\"\"` on an `<img>` marks it as decoration.", false},
		{"icon-pro", i, "The icon may be one of Font Awesome Pro, whose drawings are not free: its place stays empty.", false},
		{"icon-unknown", w, "No icon library has this name.", false},
		{"diagram-not-drawn", w, "A diagram of Mermaid is not drawn at export. Its own runtime draws it, or its source is shown. For a kind of diagram that only Mermaid draws, the level is `info`.", false},
		{"diagram-setting", n, "A setting of a diagram of Mermaid has no effect: its drawing style, its own styles, or one that can't be read.", false},
		// Syntax, components and styles.
		{"mdx-syntax", e, "The page's source breaks a rule of MDX. The message says what was expected.", false},
		{"callout-foreign", w, "`:::note` or `> [!NOTE]` is text here. The message names the component to write.", false},
		{"script-module", w, "A script of the site is written for Node.js or as a module. Pages load all scripts of the site as classic ones, in which it fails.", false},
		{"component-unknown", w, "The page uses an element that is neither built in nor imported. Its children are shown.", false},
		{"attribute-unknown", n, "A built-in component has no attribute of this name: it has no effect.", false},
		{"attributes-cut", w, "An element has more than 500 attributes. The first 500 count.", false},
		{"element-dropped", w, "An element that pages can't hold is left out.", false},
		{"id-duplicate", w, "An id occurs twice on a page. The first element keeps it.", false},
		{"table-cells", w, "A row of a table has more cells than its head. A bar inside a cell needs a backslash before it, also in code.", false},
		{"code-option", n, "An option of a block of code has no effect.", false},
		{"code-language", w, "A block of code names a language that Bindery does not know. The code is shown in one colour.", false},
		{"math-unknown", w, "A formula can't be read. It is shown as it was written.", false},
		{"style-dropped", w, "A declaration of a style is left out: it is not safe on a page, or there are too many.", false},
		{"class-unknown", n, "No style sheet has a rule for some class names on pages.", true},
		{"classes-failed", w, "The class names on pages could not be made into styles.", true},
		{"snippet-missing", e, "An imported snippet does not exist.", false},
		{"snippet-cycle", e, "A snippet includes itself.", false},
		{"import-missing", w, "A snippet does not export a name that a page imports.", false},
		{"script-browser", n, "A component uses a name at once that only browsers have. It is first shown in the browser; until then its content is.", true},
		{"script-ended", e, "JavaScript of a page ended the process that runs it, by its time or its memory. What it shows is left out, and the bundle says `cut` and is never reused.", false},
		{"script-failed", w, "A component or expression in JavaScript could not be shown. The message says why and where. An expression is shown as it was written, and a component as its content.", true},
		{"script-needed", w, "An expression or component needs JavaScript, and the page has more of them than are tried. An expression is shown as it was written, and a component as its content.", true},
		{"script-dropped", w, "A script is left out: a page loads files of the site alone.", true},
		// Specifications.
		{"api-missing", e, "A specification that a page or the navigation names does not exist.", false},
		{"api-operation", e, "An operation that a page or the navigation names is in no specification.", false},
		{"api-remote", w, "A specification is on another host, which [is not asked](/export/remote) or did not send it.", true},
		{"api-unreadable", e, "A specification can't be read.", false},
		{"api-converted", n, "A specification of Swagger 2.0 is shown as OpenAPI 3.0 says the same.", false},
		{"api-version", e, "A specification has a version that is not supported.", false},
		{"api-ref", e, "A reference in a specification leads nowhere. The rest is shown.", false},
		{"api-security", w, "An operation names a security scheme that its specification does not have.", false},
		{"api-message", i, "A message of an AsyncAPI specification is in no channel: no page shows it.", false},
		{"api-extension", n, "An extension of a specification has no effect, or not the one that its author may expect.", false},
		{"api-cut", n, "A page would have more fields or text than one shows: the rest is left out.", false},
	}
	slices.SortFunc(all, func(a, b Code) int { return strings.Compare(a.Name, b.Name) })
	return all
}
