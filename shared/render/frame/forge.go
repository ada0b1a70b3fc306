package frame

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// forge makes links to the place where a site's sources are worked on. A nil
// forge makes none.
type forge struct {
	kind   string // "github", "gitlab", "bitbucket" or "gitea"
	base   string // the repository's address, without a slash at its end
	branch string // escaped; empty for the default one
	dir    string // escaped, with a slash at its end; empty for the root
	edits  bool
	issues bool
}

// newForge knows a repository by its address. It is nil where the site asks for
// no links, or where the forge is of no kind whose addresses are known. of is
// the project's repository, for sites that name none.
func newForge(r site.Repository, of string) *forge {
	if !r.Edit && !r.Issues {
		return nil
	}
	base := cmp.Or(r.URL, strings.TrimSuffix(strings.TrimRight(of, "/"), ".git"))
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || strings.Trim(u.Path, "/") == "" {
		return nil
	}
	u.RawQuery, u.Fragment = "", ""
	f := &forge{base: u.String(), branch: escapedPath(r.Branch), edits: r.Edit, issues: r.Issues}
	if r.Directory != "" {
		f.dir = escapedPath(r.Directory) + "/"
	}
	host := strings.ToLower(u.Hostname())
	for _, k := range [...]struct{ part, kind string }{
		{"github", "github"}, {"gitlab", "gitlab"}, {"bitbucket", "bitbucket"},
		{"codeberg", "gitea"}, {"gitea", "gitea"}, {"forgejo", "gitea"},
	} {
		if strings.Contains(host, k.part) {
			f.kind = k.kind
			return f
		}
	}
	return nil
}

// edit leads to a page's source in the editor. Without a branch it leads to the
// source as it stands on the default one; Gitea has no address for that.
func (f *forge) edit(p *site.Page) string {
	if f == nil || !f.edits || reference.Remote(p.File()) {
		return ""
	}
	file := f.dir + escapedPath(p.File())
	switch {
	case f.kind == "github" && f.branch != "":
		return f.base + "/edit/" + f.branch + "/" + file
	case f.kind == "github":
		return f.base + "/blob/HEAD/" + file
	case f.kind == "gitlab" && f.branch != "":
		return f.base + "/-/edit/" + f.branch + "/" + file
	case f.kind == "gitlab":
		return f.base + "/-/blob/HEAD/" + file
	case f.kind == "bitbucket" && f.branch != "":
		return f.base + "/src/" + f.branch + "/" + file + "?mode=edit"
	case f.kind == "bitbucket":
		return f.base + "/src/HEAD/" + file
	case f.branch != "":
		return f.base + "/_edit/" + f.branch + "/" + file
	}
	return ""
}

// issue leads to a new issue about a page, which is published at address.
func (f *forge) issue(p *site.Page, address string) string {
	if f == nil || !f.issues {
		return ""
	}
	title, body := "Documentation: "+p.Title, "Page: "+address+"\nSource: "+p.File()+"\n\n"
	switch f.kind {
	case "gitlab":
		return f.base + "/-/issues/new?issue%5Btitle%5D=" + url.QueryEscape(title) + "&issue%5Bdescription%5D=" + url.QueryEscape(body)
	case "bitbucket":
		return f.base + "/issues/new?title=" + url.QueryEscape(title)
	}
	return f.base + "/issues/new?title=" + url.QueryEscape(title) + "&body=" + url.QueryEscape(body)
}
