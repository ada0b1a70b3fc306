package tool

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// kinds tells which files are parts of a site. It judges by the site as it was
// before the job: an agent can't make a file a part of it by naming it first.
type kinds struct {
	was *Tree
	// named are the files that the configuration names, and those that the
	// specifications refer to.
	named func() map[string]bool
}

func newKinds(t *Tree) *kinds {
	was := *t
	was.changed, was.paths, was.config = map[string][]byte{}, nil, nil
	k := &kinds{was: &was}
	k.named = sync.OnceValue(k.names)
	return k
}

// Others returns those changes of a repository that are no parts of the site in the
// folder root: pages, snippets, pictures, styles, specifications, and files that its
// configuration names. Each line is "path: reason", sorted.
func Others(base Base, root string, changes []Change) ([]string, error) {
	t, err := NewTree(base, root)
	if err != nil {
		return nil, err
	}
	k := newKinds(t)
	var all []string
	for _, c := range changes {
		p, err := below(c.Path, root)
		if err != nil {
			return nil, err
		}
		content := c.Content
		if c.Delete {
			content = nil
		}
		if reason := k.other(p, content); reason != "" {
			all = append(all, c.Path+": "+reason)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Reasons for which a file is no part of a site.
const (
	runsInCI   = "runs in CI, or where the site is built"
	mayRun     = "may configure what runs in CI"
	isScript   = "a script, which runs in CI or where the site is read"
	instructs  = "instructs agents"
	isDocument = "a document of its own, which may run scripts"
	isUnknown  = "is no page, snippet, picture or specification"
)

var (
	// automation are the names, up to their first dot, of files that builds,
	// deployments and tests run.
	automation = wordSet(`amplify ansible app appveyor aspect atlantis azure-pipelines babel bitbucket-pipelines bower build buildspec bunfig cdk chart circle
		cloudbuild cloudformation codecov codemagic commitlint compose composer config _config conda-lock constraints craco cypress deno dependabot docker-compose
		earthly electron-builder environment esbuild eslint expo firebase fly gatsby-config gatsby-node gruntfile gulpfile helmfile index.test jest jsr karma
		kustomization lefthook lerna manifest mergify metro middleware mkdocs next nodemon now nuxt nx package parcel playbook playwright pm2 pnpm-workspace pom postcss
		pre-commit-config prettier process procfile project protractor pubspec pulumi railway remix render renovate requirements rollup rush samconfig serverless
		settings setup sonar-project skaffold stack stylelint svelte sw swagger-codegen tailwind task taskfile template terraform tox travis tsconfig tslint turbo
		values vercel vite vitest webpack wercker workspace wrangler _worker`)
	// automationFolders are folders in which scripts run in CI or on a server.
	automationFolders = wordSet(`api bin build ci cypress deploy e2e functions hooks netlify pages-functions plugins script scripts server spec test tests __tests__ tools workers`)
	// snippetFolders are folders for parts of pages.
	snippetFolders = wordSet(`snippets _snippets components`)
	// documents are names in capitals that say nothing to an agent.
	documents = wordSet(`authors changelog code_of_conduct contributing contributors faq glossary history index install license maintainers notice readme
		roadmap security support todo upgrading`)
	// agentNames are names, up to their first dot, of instructions for agents.
	agentNames = wordSet(`agent agents claude copilot-instructions gemini skill`)
	// rootTexts are texts at the root of a site.
	rootTexts = wordSet(`llms.txt llms-full.txt robots.txt`)
)

// wordSet returns the set of the words in a list.
func wordSet(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, w := range strings.Fields(list) {
			all[w] = true
		}
		return all
	})
}

// other returns why a file is no part of the site, "" if it is one. content is its
// new text, nil if it is deleted.
func (k *kinds) other(p string, content []byte) string {
	name := path.Base(p)
	lower := strings.ToLower(name)
	stem, _, _ := strings.Cut(lower, ".")
	ext := path.Ext(lower)
	switch ext {
	case ".mdx", ".svg", ".css":
		return ""
	case ".md":
		title := strings.TrimSuffix(name, path.Ext(name))
		loud := len(title) > 1 && title == strings.ToUpper(title) && title != strings.ToLower(title)
		switch {
		case k.named()[strings.TrimSuffix(p, path.Ext(p))]:
			return ""
		case agentNames()[stem] && strings.Count(lower, ".") > 1, loud && !documents()[lower[:len(title)]]:
			return instructs
		}
		return ""
	case ".txt":
		if rootTexts()[p] {
			return ""
		}
	}
	runs := automation()[stem] || strings.Contains(stem, "requirements")
	if edit.IsScript(p) || ext == ".ts" {
		folders := strings.Split(strings.ToLower(path.Dir(p)), "/")
		in := func(set map[string]bool) bool {
			return slices.ContainsFunc(folders, func(f string) bool { return set[f] })
		}
		switch {
		case runs || in(automationFolders()) || strings.Count(name, ".") > 1:
			return runsInCI
		case in(snippetFolders()) || k.named()[p]:
			return ""
		}
		return isScript
	}
	switch {
	case p == "docs.json" || p == "mint.json", k.named()[p]:
		return ""
	case runs:
		return runsInCI
	case ext == ".json" || ext == ".yaml" || ext == ".yml":
		if old, err := k.was.read(p); err == nil && specificationMark().Match(old) || content != nil && isSpecification(content) {
			return ""
		}
		return mayRun
	case ext == ".xml" || ext == ".txt":
		return mayRun
	case ext == ".html":
		return isDocument
	}
	return isUnknown
}

// specificationMark finds the member that makes a file of the site a specification.
var specificationMark = lazy.Regexp(`(?m)^[ \t{]*["']?(?:openapi|swagger|asyncapi)["']?[ \t]*:`)

// specificationMembers are the members of a specification of OpenAPI, Swagger or
// AsyncAPI, beside extensions.
var specificationMembers = wordSet(`openapi swagger asyncapi info servers paths webhooks components security tags externalDocs jsonSchemaDialect $self host
	basePath schemes consumes produces definitions parameters responses securityDefinitions channels operations id defaultContentType topics stream`)

// isSpecification reports whether a new file is a specification and nothing else
// besides: one that also has jobs or stages would run.
func isSpecification(src []byte) bool {
	if i := bytes.LastIndex(src, []byte("\n---")); i >= 0 && beginning().Find(src[:i+1]) == nil {
		return false // of several documents in a file, the others may be anything
	}
	is := false
	for _, m := range reference.Members(src) {
		if !specificationMembers()[m] && !strings.HasPrefix(m, "x-") {
			return false
		}
		is = is || m == "openapi" || m == "swagger" || m == "asyncapi"
	}
	return is
}

// beginning matches YAML before the first mark of a document.
var beginning = lazy.Regexp(`\A(?:[ \t]*(?:#.*|%.*)?\r?\n)*\z`)

// refersTo finds references to other files in a specification.
var refersTo = lazy.Regexp(`["']?\$ref["']?[ \t]*:[ \t]*["']?([^"'#\s,}]+)`)

// names returns the files that the site's configuration names, the addresses of its
// navigation, and what its specifications refer to.
func (k *kinds) names() map[string]bool {
	all := map[string]bool{}
	var open []string
	add := func(p string) {
		if p = strings.TrimPrefix(path.Clean("/"+p), "/"); !all[p] {
			all[p] = true
			open = append(open, p)
		}
	}
	for file, d := range k.was.configDocuments() {
		add(file)
		walkTexts(d.root, nil, func(v *json.Value, keys []string) {
			part, _, _ := strings.Cut(v.Text, " ")
			if part = pathPart(part); part != "" && !strings.Contains(part, "://") {
				add(part)
			}
		})
	}
	for _, p := range k.was.files() {
		if ext := path.Ext(p); ext == ".json" || ext == ".yaml" || ext == ".yml" {
			if src, err := k.was.read(p); err == nil && specificationMark().Match(src) {
				add(p)
			}
		}
	}
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		ext := path.Ext(p)
		if ext != ".json" && ext != ".yaml" && ext != ".yml" || !k.was.exists(p) {
			continue
		}
		src, err := k.was.read(p)
		if err != nil {
			continue
		}
		for _, m := range refersTo().FindAllSubmatch(src, -1) {
			if to := string(m[1]); !strings.Contains(to, "://") {
				add(path.Join(path.Dir(p), to))
			}
		}
	}
	return all
}

// mayWrite returns an error for a file that is no part of the site, unless the
// project allows others.
func (s *Set) mayWrite(p string, content []byte) error {
	if s.others {
		return nil
	}
	if reason := s.kinds.other(p, content); reason != "" {
		return fmt.Errorf("%s: agents write pages, snippets, pictures, styles, specifications, and files that docs.json names; this file %s", p, sentence(reason))
	}
	return nil
}

// sentence makes a reason the end of a sentence.
func sentence(reason string) string {
	if strings.HasPrefix(reason, "a ") {
		return "is " + reason
	}
	return reason
}
