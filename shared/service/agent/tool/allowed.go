package tool

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// allowedExtensions are those of files that an agent may write: the text of a site.
var allowedExtensions = map[string]bool{
	".mdx": true, ".md": true, ".json": true, ".yaml": true, ".yml": true, ".css": true, ".txt": true, ".csv": true,
	".svg": true, ".xml": true, ".html": true, ".js": true, ".jsx": true, ".mjs": true, ".ts": true, ".tsx": true,
}

// forbiddenNames are names, in lower case, of files that instruct other programs or
// agents although their extension is allowed.
var forbiddenNames = map[string]bool{
	// Agents: a change to their instructions outlives the job.
	"agents.md": true, "agent.md": true, "claude.md": true, "gemini.md": true, "copilot-instructions.md": true, "skill.md": true,
	// Checks: an agent could switch them off.
	"bindery.yaml": true, "bindery.yml": true,
	// Builds and deployments.
	"azure-pipelines.yml": true, "azure-pipelines.yaml": true, "bitbucket-pipelines.yml": true, "appveyor.yml": true,
	"cloudbuild.yaml": true, "cloudbuild.yml": true, "cloudbuild.json": true, "buildspec.yml": true, "buildspec.yaml": true,
	"circle.yml": true, "wercker.yml": true, "codecov.yml": true, "codemagic.yaml": true, "render.yaml": true, "app.yaml": true,
	"docker-compose.yml": true, "docker-compose.yaml": true, "compose.yml": true, "compose.yaml": true, "mkdocs.yml": true,
	"vercel.json": true, "netlify.json": true, "firebase.json": true, "now.json": true, "cdk.json": true, "action.yml": true, "action.yaml": true,
	"renovate.json": true, "lerna.json": true, "nx.json": true, "turbo.json": true, "deno.json": true, "jsr.json": true, "bower.json": true,
	"pre-commit-config.yaml": true, "lefthook.yml": true, "taskfile.yml": true, "gruntfile.js": true, "gulpfile.js": true,
	// Packages and lock files.
	"package.json": true, "package-lock.json": true, "npm-shrinkwrap.json": true, "pnpm-lock.yaml": true, "pnpm-workspace.yaml": true,
	"composer.json": true, "requirements.txt": true, "constraints.txt": true, "cmakelists.txt": true, "pubspec.yaml": true,
	"packages.lock.json": true, "project.assets.json": true, "conda-lock.yml": true, "environment.yml": true,
}

var (
	// shortGit is what Windows calls .git in its short form.
	shortGit = lazy.Regexp(`(?i)^git~[0-9]+$`)
	// configScript is a configuration that a JavaScript tool runs.
	configScript = lazy.Regexp(`(?i)(\.config|\.conf|\.setup|rc)\.[cm]?[jt]s$|^tsconfig.*\.json$|[.-]lock\.(json|ya?ml)$`)
)

// Allowed returns an error unless an agent may write a file at a path of the
// repository; root is the folder of the site, "" for the repository's root. It judges
// by the path alone: the tree knows whether there is a file already, and of which
// kind. The error is safe to show.
func Allowed(p, root string) error {
	rel, err := below(p, root)
	if err != nil {
		return err
	}
	if reason := filename.Fault(rel, filename.Compressed); reason != "" {
		return fmt.Errorf("%+q: %s", p, reason)
	}
	if site.Reserved(rel) && rel != site.RulesFile {
		return fmt.Errorf("%s: this name is kept for the bundle's own files", p)
	}
	for element := range strings.SplitSeq(rel, "/") {
		switch {
		case element[0] == '.':
			return fmt.Errorf("%s: agents may not write files whose names begin with a dot", p)
		case shortGit().MatchString(element):
			return fmt.Errorf("%s: the name is reserved for Git", p)
		case strings.IndexFunc(element, hidden) >= 0:
			return fmt.Errorf("%+q: the name has invisible characters", p)
		case strings.EqualFold(element, "node_modules"):
			return fmt.Errorf("%s: agents may not write files of packages", p)
		}
	}
	name := strings.ToLower(path.Base(rel))
	switch {
	case !allowedExtensions[path.Ext(name)]:
		return fmt.Errorf("%s: agents may write only text files of a site (.mdx, .md, .json, .yaml, .css, .svg, …)", p)
	case forbiddenNames[name] || configScript().MatchString(name) || strings.HasPrefix(name, "codeowners"):
		return fmt.Errorf("%s: agents may not write this file, which instructs programs or agents", p)
	}
	return nil
}

// hidden reports whether a character is invisible: some file systems ignore such
// characters, so that the name would become another one.
func hidden(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Co, r)
}

// below converts a path of the repository to one of the folder root.
func below(p, root string) (string, error) {
	if root == "" {
		return p, nil
	}
	rel, ok := strings.CutPrefix(p, root+"/")
	if !ok {
		return "", fmt.Errorf("%q: is outside the site's folder %s", p, root)
	}
	return rel, nil
}
