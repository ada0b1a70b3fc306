package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Limits of a history: commits, tags, and bytes of a subject.
const (
	maxCommits = 500
	maxTags    = 500
	maxSubject = 200
)

// history lists the commits and tags of a repository. If the forge does not list its
// commits, the history has none, which is an event for the log alone.
func (s *Steps) history(ctx context.Context, ref admin.AgentRef, t *forge.Tree) tool.History {
	limited, cancel := context.WithTimeout(ctx, maxHistoryTime)
	defer cancel()
	log, err := t.Log(limited, maxCommits)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "the history of a repository was not read", "job", ref.Job, "error", err)
	}
	return historyOf(log, t.Tags)
}

// historyOf converts a log and tags for a model: secrets are masked, and long subjects and
// lists are cut.
func historyOf(log []forge.LogEntry, tags []forge.Tag) (h tool.History) {
	places := map[string]int{}
	for i, c := range log {
		places[c.ID] = i
	}
	for _, c := range log {
		commit := tool.Commit{ID: c.ID, When: c.When, Subject: agent.Cut(tool.Redact(c.Subject), maxSubject)}
		for _, p := range c.Parents {
			if i, ok := places[p]; ok {
				commit.Parents = append(commit.Parents, i)
			}
		}
		h.Commits = append(h.Commits, commit)
	}
	for _, tag := range tags {
		h.Tags = append(h.Tags, tool.Tag{Name: tag.Name, Commit: tag.Commit})
	}
	place := func(t tool.Tag) int {
		if i, ok := places[t.Commit]; ok {
			return i
		}
		return len(log)
	}
	slices.SortStableFunc(h.Tags, func(a, b tool.Tag) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), byNumber(b.Name, a.Name))
	})
	h.Tags = h.Tags[:min(len(h.Tags), maxTags)]
	return h
}

// maxHistoryTime limits the request for a history. If it takes longer, the round begins without
// a history.
const maxHistoryTime = time.Minute

// byNumber compares names with runs of digits as numbers: v1.9 comes before v1.10.
func byNumber(a, b string) int {
	digits := func(s string) int {
		return len(s) - len(strings.TrimLeft(s, "0123456789"))
	}
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n == 0 || m == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:n], "0"), strings.TrimLeft(b[:m], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// fetch fetches the commits that a round asked for and that it does not have yet, in
// order.
func (s *Steps) fetch(ctx context.Context, ref admin.AgentRef, in admin.AgentInput) error {
	for n, f := range in.Job.Fetches {
		if f.Done() {
			continue
		}
		done, err := s.fetchCommit(ctx, ref, in, f)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			coded, ok := errors.AsType[store.Coded](err)
			if !ok || !told(coded.Code()) {
				return err
			}
			done = f
			done.Refused = coded.SafeMessage()
		}
		note := fmt.Sprintf("fetched %s at %.10s: %d texts", done.Label, done.Commit, done.Files)
		if done.Refused != "" {
			note = fmt.Sprintf("%s was not fetched: %s", done.Label, done.Refused)
		}
		if err := s.opt.Admin.FetchedAgent(ctx, ref, n, done, admin.AgentEvent{Kind: admin.AgentEventNote, Text: note}); err != nil {
			return err
		}
		in.Job.Fetches[n] = done
	}
	return nil
}

// told reports whether an error of a fetch is told to the agent, which can go on
// without it. Others are errors of our own storage.
func told(code string) bool {
	switch code {
	case admin.CodeTemporary, admin.CodeInternal, admin.CodeJobNotActive, admin.CodeSuperseded, admin.CodeCancelled:
		return false
	}
	return true
}

// fetchCommit fetches one commit and stores its files. Its errors are those of the
// forge, of the project's settings, and of the storage.
func (s *Steps) fetchCommit(ctx context.Context, ref admin.AgentRef, in admin.AgentInput, f admin.AgentFetch) (admin.AgentFetch, error) {
	client, repo, err := s.named(ctx, in.Project, f.Name)
	if err != nil {
		return f, err
	}
	want, from := f.Ref, []string(nil)
	for _, had := range in.Job.Fetches {
		if had.Label == f.Label && had.Commit != "" {
			want = had.Commit // another part of the same commit
		}
	}
	if f.Name == admin.AgentOwnRepository {
		from = []string{in.Job.Base.Ref, in.Job.Branch}
	}
	m, err := s.rounds.Prepared(ctx, in)
	if err != nil {
		return f, err
	}
	tree, err := client.Fetch(ctx, repo, want, from...)
	if err != nil {
		return f, err
	}
	defer tree.Close()
	r := entries(tree, f.Path)
	if len(r.Entries) == 0 {
		return f, admin.Errorf(admin.CodeInvalid, "the commit %.12s has no file or folder %s", tree.Commit, f.Path)
	}
	if err := readInto(ctx, tree, r, &f, roomFor(in.Job, m), func(p string) int64 {
		if _, site := agent.Inside(p, m.Root); site && f.Name == admin.AgentOwnRepository {
			return maxText
		}
		return maxOther
	}); err != nil {
		return f, err
	}
	files := make([]agent.File, len(r.Entries))
	for i, e := range r.Entries {
		files[i] = fileOf(e)
	}
	packs, err := s.rounds.Pack(ctx, ref, r, files)
	if err != nil {
		return f, err
	}
	if f.Manifest, err = s.rounds.KeepJSON(ctx, ref, "commit", agent.FetchedCommit{Files: files, Packs: packs}); err != nil {
		return f, err
	}
	f.Commit, f.URL, f.Forge = tree.Commit, repo.URL, string(repo.Kind)
	return f, nil
}

// roomFor returns how many bytes of text a round may still fetch.
func roomFor(j admin.AgentJob, m *agent.Manifest) int64 {
	room := maxBeside - m.Beside()
	for _, f := range j.Fetches {
		room -= f.Bytes
	}
	return room
}

// readInto reads the texts of a commit that an agent may read into r, and notes in f how
// many there are. most returns how many bytes a file may have. If the texts have more than
// room bytes together, none is stored: all are left out, and the agent fetches a folder.
func readInto(ctx context.Context, t *forge.Tree, r *agent.Repository, f *admin.AgentFetch, room int64, most func(p string) int64) error {
	for i := range r.Entries {
		e := &r.Entries[i]
		file, _ := t.File(e.Path)
		switch {
		case !tool.Readable(e.Path):
			continue
		case f.LeftOut > 0:
			if mayBeText(file, most(e.Path)) {
				e.LeftOut = true
				f.LeftOut++
			}
			continue
		}
		b, err := textOf(ctx, t, file, most(e.Path))
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		e.Size, e.Text, r.Texts[e.Path] = int64(len(b)), true, b
		f.Files++
		if f.Bytes += e.Size; f.Bytes > room {
			for k := range i + 1 {
				r.Entries[k].LeftOut, r.Entries[k].Text = r.Entries[k].Text, false
			}
			clear(r.Texts)
			f.Files, f.LeftOut, f.Bytes = 0, f.Files, 0
		}
	}
	return nil
}

// named returns the repository of that name, if the project's settings allow to fetch it
// now, and its forge.
func (s *Steps) named(ctx context.Context, p admin.Project, name string) (*forge.Forge, forge.Repository, error) {
	if name == admin.AgentOwnRepository {
		if !p.Agent.ReadRepository {
			return nil, forge.Repository{}, admin.Errorf(admin.CodeInvalid, "the project's settings allow to read the site's folder alone")
		}
		return s.opt.Forge(ctx, p)
	}
	all, err := admin.AgentRepositories(p.Agent.Repositories)
	if err != nil {
		return nil, forge.Repository{}, err
	}
	i := slices.IndexFunc(all, func(r admin.AgentRepository) bool { return r.Name == name })
	if i < 0 || s.opt.Further == nil {
		return nil, forge.Repository{}, admin.Errorf(admin.CodeInvalid, "the project's settings name no repository %s", strings.TrimSpace(name))
	}
	return s.opt.Further(ctx, p, all[i].URL)
}
