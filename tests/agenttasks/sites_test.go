package agenttasks

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// files are a repository by path.
type files map[string]string

// corpus reads files of a real site. A path that ends in a slash is all pages of
// that folder.
func corpus(tb testing.TB, site string, paths ...string) files {
	tb.Helper()
	root, out := outside.Folder(tb, "corpora", site), files{}
	for _, p := range paths {
		if folder, ok := strings.CutSuffix(p, "/"); ok {
			found, err := filepath.Glob(filepath.Join(root, folder, "*.mdx"))
			if err != nil || len(found) == 0 {
				tb.Fatalf("%s has no pages in %s: %v", site, folder, err)
			}
			for _, f := range found {
				out[folder+"/"+filepath.Base(f)] = readText(tb, f)
			}
			continue
		}
		out[p] = readText(tb, filepath.Join(root, p))
	}
	return out
}

func readText(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// plant changes a file of a site, in which old must be as often as it says.
func (f files) plant(tb testing.TB, path, old, now string) {
	tb.Helper()
	if strings.Count(f[path], old) != 1 {
		tb.Fatalf("%s has not one %q: the corpus is another one", path, old)
	}
	f[path] = strings.Replace(f[path], old, now, 1)
}

// registry is the part of a protocol's site about its registry: 11 pages.
func registry(tb testing.TB) files {
	f := corpus(tb, "mcp", "registry/")
	f.plant(tb, "registry/about.mdx", "![The MCP Registry ecosystem](./ecosystem-diagram.excalidraw.svg)", "")
	f.plant(tb, "registry/remote-servers.mdx", "[deprecated](/specification/draft/deprecated)", "deprecated")
	f["docs.json"] = `{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "mint",
  "name": "MCP",
  "colors": { "primary": "#0a6e5c" },
  "navigation": {
    "groups": [
      { "group": "Start", "pages": ["registry/about", "registry/quickstart"] },
      {
        "group": "Publish",
        "pages": [
          "registry/authentication",
          "registry/package-types",
          "registry/remote-servers",
          "registry/versioning",
          "registry/github-actions"
        ]
      },
      {
        "group": "Use",
        "pages": ["registry/registry-aggregators", "registry/faq", "registry/moderation-policy", "registry/terms-of-service"]
      }
    ]
  }
}
`
	return f
}

// trigger is the part of a background service's site about waiting, with some
// pages beside it and a specification. Links to its other pages lead nowhere.
func trigger(tb testing.TB) files {
	f := corpus(tb, "trigger", "wait.mdx", "wait-for.mdx", "wait-until.mdx", "wait-for-token.mdx", "tags.mdx", "versioning.mdx",
		"hidden-tasks.mdx", "replaying.mdx", "snippets/paused-execution-free.mdx", "openapi.yml")
	for _, p := range []string{"create-batch POST /api/v3/batches", "create-event POST /api/v1/events"} {
		name, operation, _ := strings.Cut(p, " ")
		f["api/"+name+".mdx"] = "---\ntitle: " + strings.ReplaceAll(name, "-", " ") + "\nopenapi: openapi " + operation + "\n---\n"
	}
	f["docs.json"] = `{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "maple",
  "name": "Trigger.dev",
  "colors": { "primary": "#15803d" },
  "navigation": {
    "groups": [
      { "group": "Wait", "pages": ["wait", "wait-for", "wait-until", "wait-for-token"] },
      { "group": "Tasks", "pages": ["hidden-tasks", "tags", "versioning", "replaying"] },
      { "group": "API", "pages": ["api/create-event", "api/create-batch"] }
    ]
  },
  "redirects": [
    { "source": "/v3/wait", "destination": "/wait" }
  ]
}
`
	return f
}

// picture is the beginning of a PNG file.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"

// account is the part of a notification service's site about accounts: 5 pages.
func account(tb testing.TB) files {
	f := corpus(tb, "novu", "platform/account/")
	for _, p := range []string{"managing-members-overview", "managing-members-invites", "add-a-verified-domain", "revoke-invitation"} {
		f["images/account/"+p+".png"] = picture
	}
	f["docs.json"] = `{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "mint",
  "name": "Novu",
  "colors": { "primary": "#be123c" },
  "navigation": {
    "groups": [
      {
        "group": "Account",
        "pages": [
          "platform/account/manage-members",
          "platform/account/roles-and-permissions",
          "platform/account/authentication",
          "platform/account/sso",
          "platform/account/billing"
        ]
      }
    ]
  }
}
`
	return f
}

// ownDocs is our own site, as it is now. Tasks on it may rest on nothing that
// somebody may write anew.
func ownDocs(tb testing.TB) files {
	tb.Helper()
	dir, f := filepath.Join(outside.Checkout(tb), "infra", "docs"), files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".go") {
			return err
		}
		f[p] = readText(tb, filepath.Join(dir, filepath.FromSlash(p)))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}
