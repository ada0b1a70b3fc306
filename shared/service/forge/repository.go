package forge

import (
	"fmt"
	"net/url"
	"strings"
)

// Kind is a kind of forge.
type Kind string

// Kinds of forges. Forgejo speaks Gitea's dialect. Git is a server with the Git
// protocol alone: branches can be pushed to it, but it has no pull requests.
const (
	GitHub  Kind = "github"
	GitLab  Kind = "gitlab"
	Gitea   Kind = "gitea"
	Forgejo Kind = "forgejo"
	Git     Kind = "git"
)

// Kinds returns every kind of forge.
func Kinds() []Kind { return []Kind{GitHub, GitLab, Gitea, Forgejo, Git} }

// apiPaths are the paths of the REST interfaces on their servers; "/api/v3" is that of
// GitHub Enterprise Server, while github.com has a separate host.
var apiPaths = map[Kind]string{GitHub: "/api/v3", GitLab: "/api/v4", Gitea: "/api/v1", Forgejo: "/api/v1"}

// known are the kinds of well-known hosts.
var known = map[string]Kind{"github.com": GitHub, "gitlab.com": GitLab, "codeberg.org": Forgejo, "gitea.com": Gitea}

// Repository is one repository of a forge. It holds no credential. Make it with
// ParseRepository; the zero value is not a repository.
type Repository struct {
	Kind Kind `json:"kind"`
	// URL is the address as people write it, https://host/owner/name, without ".git"
	// unless the server is a plain one.
	URL string `json:"url"`
	// API is the root of the REST interface without a trailing slash; "" means that
	// it is derived from kind and host.
	API string `json:"api,omitempty"`
}

// ParseRepository reads the address of a repository as people write it. The kind
// may be "" for hosts that are known (github.com, gitlab.com, codeberg.org,
// gitea.com); api is the root of the REST interface unless that is in its usual
// place. Errors have the code repository_invalid and say what is wrong. Whether the
// host is allowed is not checked; see Forge.Allowed.
func ParseRepository(address string, kind Kind, api string) (Repository, error) {
	u, err := parseBase("repository", address)
	if err != nil {
		return Repository{}, err
	}
	if kind == "" {
		kind = known[u.Hostname()]
	}
	if _, ok := apiPaths[kind]; !ok && kind != Git {
		if kind == "" {
			return Repository{}, invalid("it is not known which kind of forge %s is: set it to github, gitlab, gitea, forgejo or git", u.Host)
		}
		return Repository{}, invalid("unknown kind of forge %q: use github, gitlab, gitea, forgejo or git", string(kind))
	}
	if kind != Git {
		u.Path = strings.TrimSuffix(u.Path, ".git")
	}
	r := Repository{Kind: kind, URL: u.String()}
	if api != "" {
		if kind == Git {
			return Repository{}, invalid("a plain Git server has no REST interface")
		}
		a, err := parseBase("REST interface", api)
		if err != nil {
			return Repository{}, err
		}
		r.API = a.String()
	}
	parts := strings.Split(r.project(), "/")
	switch {
	case kind == Git && parts[0] == "":
		return Repository{}, invalid("the address names no repository on %s", u.Host)
	case kind == GitLab && len(parts) < 2, kind != GitLab && kind != Git && len(parts) != 2:
		return Repository{}, invalid("the address of a repository has the form https://%s/owner/name", u.Host)
	}
	return r, nil
}

// maxAddress is the most bytes of a repository's address.
const maxAddress = 1024

// parseBase reads an address of a server: http or https, a host, a path of plain
// names; no credentials, query or fragment. Trailing slashes are removed.
func parseBase(what, address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case len(address) > maxAddress:
		return nil, invalid("the address of the %s is too long", what)
	case err != nil || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, invalid("the address of the %s must begin with https://", what)
	case u.User != nil:
		return nil, invalid("the address of the %s must not contain a user, password or token", what)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, invalid("the address of the %s must not have a query or fragment", what)
	case u.Hostname() == "":
		return nil, invalid("the address of the %s names no host", what)
	}
	u.Host = strings.ToLower(u.Host)
	if u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	} else {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	for _, name := range strings.Split(strings.TrimPrefix(u.Path, "/"), "/") {
		if name == "." || name == ".." || name == "" && u.Path != "" || strings.ContainsFunc(name, notPlain) {
			return nil, invalid("the path of the %s may contain only letters, digits and -._~", what)
		}
	}
	return u, nil
}

func notPlain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
}

// parsed returns the parsed address of r, which ParseRepository has validated.
func (r Repository) parsed() *url.URL {
	u, err := url.Parse(r.URL)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// Host is the name of the repository's host, with its port if it has one.
func (r Repository) Host() string { return r.parsed().Host }

// api is the root of the REST interface.
func (r Repository) api() string {
	if r.API != "" || r.Kind == Git {
		return r.API
	}
	u := r.parsed()
	if u.Host == "github.com" && r.Kind == GitHub {
		return "https://api.github.com"
	}
	return u.Scheme + "://" + u.Host + apiPaths[r.Kind]
}

// project is the repository's path on its forge: owner/name, for GitLab perhaps
// group/subgroup/name. If a forge is not at the root of its host, the address of its
// REST interface shows where it is.
func (r Repository) project() string {
	path := r.parsed().Path
	if a, err := url.Parse(r.API); err == nil && r.API != "" && a.Host == r.Host() {
		if root, ok := strings.CutSuffix(a.Path, apiPaths[r.Kind]); ok {
			if rest, ok := strings.CutPrefix(path, root+"/"); ok {
				path = rest
			}
		}
	}
	return strings.TrimPrefix(path, "/")
}

// filePaths come before the commit in the addresses of files, below a repository's.
var filePaths = map[Kind]string{GitHub: "/blob/", GitLab: "/-/blob/", Gitea: "/src/commit/", Forgejo: "/src/commit/"}

// FileURL returns the address of the page that shows a file of a commit, "" on a plain
// Git server, which has none.
func (r Repository) FileURL(commit, path string) string {
	at := filePaths[r.Kind]
	if at == "" {
		return ""
	}
	return r.URL + at + commit + "/" + (&url.URL{Path: path}).EscapedPath()
}

// owner is the owner's name, of project's form owner/name.
func (r Repository) owner() string {
	owner, _, _ := strings.Cut(r.project(), "/")
	return owner
}

// name is the last name of project.
func (r Repository) name() string {
	p := r.project()
	return p[strings.LastIndexByte(p, '/')+1:]
}

// remote is the address that Git is asked at.
func (r Repository) remote() *url.URL {
	u := r.parsed()
	if r.Kind != Git {
		u.Path += ".git"
	}
	return u
}

func invalid(format string, args ...any) *Error {
	return &Error{code: CodeInvalid, message: fmt.Sprintf(format, args...)}
}
