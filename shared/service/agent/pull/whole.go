package pull

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// whole has the changes of a whole pull request, from its merge base to its head: those
// of all rounds and of everybody who has pushed to its branch.
type whole struct {
	root string // folder of the site in the repository
	// before and after are the texts of the two commits, by path.
	before, after map[string][]byte
	files         []file // sorted by path
	site          tool.Comparison
	review        admin.AgentReview
}

// file is a file that a pull request changes.
type file struct {
	path string
	// change is one of admin.AgentPageChanges, also for files that are no pages. from is
	// the path of a moved one before.
	change, from   string
	added, removed int // lines; 0 for a file that is not text
}

// whole compares the commit at which the pull request begins with its new head, which is
// the parent of the round's commit with the round's changes. seen is Review's record of
// these.
func (s *Steps) whole(ctx context.Context, r *agent.Round, start *forge.Tree, g ground, root string, seen *agent.Reviewed) (*whole, error) {
	base, changes := g.base, g.changes
	before := base
	if start.Commit != g.tree.Commit {
		var err error
		if before, _, err = read(ctx, start, r.In.Project.Agent.Root); err != nil {
			return nil, err
		}
	}
	w := &whole{root: root, before: before.Texts, after: maps.Clone(base.Texts)}
	written := map[string]bool{}
	for _, c := range changes {
		if written[c.Path] = true; c.Delete {
			delete(w.after, c.Path)
		} else {
			w.after[c.Path] = c.Content
		}
	}
	paths := map[string]bool{}
	for f := range start.Files() {
		paths[f.Path] = true
	}
	for f := range g.tree.Files() {
		paths[f.Path] = true
	}
	for _, c := range changes {
		paths[c.Path] = true
	}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		was, had := start.File(p)
		is, has := g.tree.File(p)
		if written[p] {
			_, has = w.after[p]
		}
		if had == has && (!had || !written[p] && was.ID == is.ID || bytes.Equal(w.before[p], w.after[p]) && written[p]) {
			continue
		}
		f := file{path: p, change: admin.AgentPageChanged}
		if !had {
			f.change = admin.AgentPageAdded
		} else if !has {
			f.change = admin.AgentPageDeleted
		}
		_, f.added, f.removed = tool.Diff(p, w.before[p], w.after[p])
		w.files = append(w.files, f)
	}
	var all []tool.Change
	for _, f := range w.files {
		_, was := w.before[f.path]
		if text, is := w.after[f.path]; is {
			all = append(all, tool.Change{Path: f.path, Content: text})
		} else if was {
			all = append(all, tool.Change{Path: f.path, Delete: true})
		}
	}
	found := tool.Look(before, root, all)
	found.NewHosts, found.Executable = withHosts(found.NewHosts, seen.Hosts), withCode(found.Executable, seen.Code)
	unseen := slices.Concat(seen.Failed, seen.Left)
	others, err := tool.Others(before, root, all)
	if err != nil {
		return nil, err
	}
	// These lists are never cut: a missing line could be the one that matters.
	if first := slices.Concat(found.NewHosts, found.Executable, others, unseen); len(strings.Join(first, "\n")) > maxFirst {
		return nil, admin.Errorf(admin.CodeChanges, "the changes have %d new hosts, %d pieces of code, %d other files and %d pages that can't be rendered, which is more than a pull request can list",
			len(found.NewHosts), len(found.Executable), len(others), len(unseen))
	}
	known := before
	if at, err := siteRoot(before, r.In.Project.Agent.Root); err != nil || at != root {
		known = base // the site was elsewhere, or there was none
	}
	from, err := tool.NewTree(known, root)
	if err != nil {
		return nil, err
	}
	to, err := tool.NewTree(base, root)
	if err != nil {
		return nil, err
	}
	if err := to.Apply(changes); err != nil {
		return nil, admin.Errorf(admin.CodeChanges, "the changes can't be made: %v", err)
	}
	// A configuration that can't be read is a finding; the check says so.
	if w.site, err = tool.Compare(ctx, from, to); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		w.site = tool.Comparison{}
	}
	w.move(w.site.Leads)
	findings, err := findingsOf(ctx, r.In.Project.Domain, from, to)
	w.review = admin.AgentReview{NewHosts: plain(found.NewHosts), Executable: plain(found.Executable), Others: plain(others), Findings: plain(findings[:min(len(findings), maxFindings)]), Unseen: plain(unseen)}
	return w, err
}

// Limits of a review: lines of findings, and bytes of the lists to look at first.
const (
	maxFindings = 50
	maxFirst    = 24 << 10
)

// plain makes lines of texts.
func plain(texts []string) []string {
	var lines []string
	for _, t := range texts {
		lines = append(lines, plainLine(t, 300))
	}
	return lines
}

// findingsOf returns the errors and warnings of a check of a site that the site before
// doesn't have.
func findingsOf(ctx context.Context, domain string, before, now *tool.Tree) ([]string, error) {
	c, err := agent.NewChecker(domain, before.FS(), nil)
	if err == nil {
		err = c.Before(ctx, before.FS())
	}
	if err != nil {
		return nil, err
	}
	found, err := c.Check(ctx, now.FS(), false)
	var lines []string
	for _, f := range found {
		if f.Level == tool.LevelError || f.Level == tool.LevelWarning {
			lines = append(lines, fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Level, f.Message))
		}
	}
	return lines, err
}

// has reports whether the head has a text file.
func (w *whole) has(name string) bool {
	_, ok := w.after[name]
	return ok
}

// stat is the size of all changes.
func (w *whole) stat() admin.AgentChanges {
	stat := admin.AgentChanges{Files: len(w.files)}
	for _, f := range w.files {
		stat.Added += f.added
		stat.Removed += f.removed
	}
	return stat
}

// pages are the first pages among the files.
func (w *whole) pages() []admin.AgentPage {
	var pages []admin.AgentPage
	for _, f := range w.files {
		if isPage(f.path) && len(pages) < admin.MaxAgentPages {
			pages = append(pages, admin.AgentPage{Path: f.path, Change: f.change, From: f.from})
		}
	}
	return pages
}

// isPage reports whether a file is a page by its name.
func isPage(name string) bool {
	return strings.HasSuffix(name, ".mdx") || strings.HasSuffix(name, ".md")
}

// source returns the file of a page by its address on the site, "" if there is none.
func (w *whole) source(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address = strings.Trim(address, "/")
	for _, end := range []string{".mdx", ".md", "/index.mdx", "/index.md", ""} {
		name := strings.TrimPrefix(address+end, "/")
		if w.root != "" {
			name = w.root + "/" + name
		}
		if _, ok := w.after[name]; ok {
			return name
		}
	}
	return ""
}

// roundLine describes a completed round of a pull request.
type roundLine struct {
	n              int
	title, summary string
	sources        []admin.AgentSource
}

// rounds are those of the pull request that were completed before, and this one.
func rounds(r *agent.Round, before []admin.AgentEnd, branch string) []roundLine {
	var all []roundLine
	for _, e := range before {
		if e.Title != "" && e.Branch == branch {
			all = append(all, roundLine{e.Round, e.Title, e.Summary, e.Sources})
		}
	}
	// The first message of the round: it stays the same where others come.
	prompt := r.In.Messages[min(r.In.Job.Seen, len(r.In.Messages)-1)].Prompt
	title := cmp.Or(strings.TrimSpace(r.Finish.Title), "docs: "+prompt)
	return append(all, roundLine{r.Ref.Round, title, r.Finish.Summary, sources(r)})
}
