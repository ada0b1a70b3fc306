package forge

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRepository(t *testing.T) {
	for _, c := range []struct {
		address string
		kind    Kind
		api     string
		// what comes of it: URL, REST interface, project, Git's address
		url, rest, project, git string
		kindIs                  Kind
	}{
		{address: "https://github.com/acme/docs", url: "https://github.com/acme/docs", rest: "https://api.github.com", project: "acme/docs", git: "https://github.com/acme/docs.git", kindIs: GitHub},
		{address: "https://GitHub.com:443/acme/docs.git", url: "https://github.com/acme/docs", rest: "https://api.github.com", project: "acme/docs", git: "https://github.com/acme/docs.git", kindIs: GitHub},
		{address: "https://gitlab.com/a/b/c", url: "https://gitlab.com/a/b/c", rest: "https://gitlab.com/api/v4", project: "a/b/c", git: "https://gitlab.com/a/b/c.git", kindIs: GitLab},
		{address: "https://codeberg.org/a/b/", url: "https://codeberg.org/a/b", rest: "https://codeberg.org/api/v1", project: "a/b", git: "https://codeberg.org/a/b.git", kindIs: Forgejo},
		{address: "https://ghe.example.com/a/b", kind: GitHub, url: "https://ghe.example.com/a/b", rest: "https://ghe.example.com/api/v3", project: "a/b", git: "https://ghe.example.com/a/b.git", kindIs: GitHub},
		{address: "https://host.example.com/git/a/b", kind: Gitea, api: "https://host.example.com/git/api/v1/", url: "https://host.example.com/git/a/b", rest: "https://host.example.com/git/api/v1", project: "a/b", git: "https://host.example.com/git/a/b.git", kindIs: Gitea},
		{address: "http://127.0.0.1:3000/a/b", kind: Gitea, url: "http://127.0.0.1:3000/a/b", rest: "http://127.0.0.1:3000/api/v1", project: "a/b", git: "http://127.0.0.1:3000/a/b.git", kindIs: Gitea},
		{address: "https://git.example.com/srv/docs.git", kind: Git, url: "https://git.example.com/srv/docs.git", project: "srv/docs.git", git: "https://git.example.com/srv/docs.git", kindIs: Git},
		{address: "https://host.example.com/a/b", kind: ""},
		{address: "https://host.example.com/a/b", kind: "svn"},
		{address: "https://host.example.com/git/a/b", kind: Gitea},
		{address: "https://github.com/acme"},
		{address: "https://github.com/acme/docs/tree/main"},
		{address: "https://gitlab.com/acme"},
		{address: "https://github.com/"},
		{address: "https://git.example.com", kind: Git},
		{address: "https://git.example.com/x", kind: Git, api: "https://git.example.com/api"},
		{address: "git@github.com:acme/docs.git"},
		{address: "ssh://git@github.com/acme/docs"},
		{address: "ftp://github.com/acme/docs"},
		{address: "file:///etc/passwd", kind: Git},
		{address: "https://me:t0ken@github.com/acme/docs"},
		{address: "https://github.com/acme/docs?token=t0ken"},
		{address: "https://github.com/acme/docs#x"},
		{address: "https://github.com/acme/../docs"},
		{address: "https://github.com/acme//docs"},
		{address: "https://github.com/acme/docs%2f..%2fx"},
		{address: "https://github.com/acme/do cs"},
		{address: "https://github.com/acme/" + strings.Repeat("x", maxAddress)},
		{address: "https://ghe.example.com/a/b", kind: GitHub, api: "https://u:t0ken@ghe.example.com/api/v3"},
		{address: "", kind: GitHub},
	} {
		r, err := ParseRepository(c.address, c.kind, c.api)
		if c.url == "" {
			if e, ok := errors.AsType[*Error](err); !ok || e.Code() != CodeInvalid {
				t.Errorf("%q is %+v, %v", c.address, r, err)
			} else if strings.Contains(e.SafeMessage()+e.Error(), "t0ken") {
				t.Errorf("%q: %v", c.address, err)
			}
			continue
		}
		if err != nil || r.URL != c.url || r.Kind != c.kindIs || r.api() != c.rest || r.project() != c.project || r.remote().String() != c.git {
			t.Errorf("%q is %+v, rest %s, project %s, git %s, %v", c.address, r, r.api(), r.project(), r.remote(), err)
		}
		again, err := ParseRepository(r.URL, r.Kind, r.API)
		if err != nil || again != r {
			t.Errorf("%q read again is %+v, %v", c.address, again, err)
		}
	}
}

// The operator's lists decide which hosts are asked.
func TestAllowed(t *testing.T) {
	f, err := New(Options{AllowHosts: []string{"github.com", "*.example.com"}, AllowPrivate: []string{"git.corp:8443", "10.1.2.3"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r  Repository
		ok bool
	}{
		{Repository{GitHub, "https://github.com/a/b", ""}, true},
		{Repository{GitLab, "https://git.example.com/a/b", ""}, true},
		{Repository{GitLab, "https://gitlab.com/a/b", ""}, false},
		{Repository{GitLab, "https://git.example.com/a/b", "https://evil.test/api/v4"}, false},
		{Repository{GitLab, "https://git.example.com/a/b", "https://api.example.com/api/v4"}, true},
		{Repository{Gitea, "https://git.corp:8443/a/b", ""}, true},
		{Repository{Gitea, "https://git.corp/a/b", ""}, false},
		{Repository{Gitea, "https://10.1.2.3/a/b", ""}, true},
		{Repository{Gitea, "http://10.1.2.3/a/b", ""}, false},
		{Repository{Gitea, "https://10.1.2.4/a/b", ""}, false},
		{Repository{GitHub, "http://github.com/a/b", ""}, false},
		{Repository{GitHub, "https://u:p@github.com/a/b", ""}, false},
		{Repository{}, false},
	} {
		if err := f.Allowed(c.r); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	if _, err := New(Options{AllowPrivate: []string{"https://x"}}); err == nil {
		t.Error("an address is taken for a host")
	}
}
