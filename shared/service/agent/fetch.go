package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// FetchedCommit lists the files of a commit that a round asked for. Prepare writes it.
type FetchedCommit struct {
	Files []File   `json:"files"` // sorted by path
	Packs []string `json:"packs"` // as in Manifest
}

// Prepared returns the manifest of a round that is prepared.
func (s Rounds) Prepared(ctx context.Context, in admin.AgentInput) (*Manifest, error) {
	m := &Manifest{}
	return m, s.fetchJSON(ctx, in.Job.Base.Manifest, m)
}

// Beside returns how many bytes of text there are outside the site's folder.
func (m *Manifest) Beside() (bytes int64) {
	for _, f := range m.Files {
		if _, site := Inside(f.Path, m.Root); !site && f.Pack > 0 && !f.Picture {
			bytes += f.Size
		}
	}
	return bytes
}

// mount gives the tools the files of the commits that were fetched for a round.
func (s Rounds) mount(ctx context.Context, r *Round) error {
	for _, f := range r.In.Job.Fetches {
		if f.Manifest == "" {
			continue
		}
		var c FetchedCommit
		if err := s.fetchJSON(ctx, f.Manifest, &c); err != nil {
			return err
		}
		files, err := s.unpack(ctx, &Manifest{Commit: f.Commit, Files: c.Files, Packs: c.Packs}, func(File) bool { return true })
		if err != nil {
			return err
		}
		if err := r.tools.Mount(tool.Fetched{Label: f.Label, Path: f.Path, Listed: f.LeftOut > 0, Files: files}); err != nil {
			return err
		}
	}
	return nil
}

// fetched tells the model what came of the commits that its last turn asked for, "" if it
// asked for none.
func (r *Round) fetched() string {
	var b strings.Builder
	for _, f := range r.In.Job.Fetches {
		if f.Turn != r.Turns || !f.Done() {
			continue
		}
		part := f.Label
		if f.Path != "" {
			part += ":" + f.Path
		}
		if f.Refused != "" {
			fmt.Fprintf(&b, "%s was not fetched: %s.\n", part, strings.TrimRight(f.Refused, "."))
			continue
		}
		if f.LeftOut > 0 {
			fmt.Fprintf(&b, "Of %s, commit %.12s, only the list of files is fetched: its %d texts are more than a job reads. Fetch the folder that you need.\n", part, f.Commit, f.LeftOut)
			continue
		}
		fmt.Fprintf(&b, "%s is fetched, commit %.12s. Texts to read: %d. Their paths begin with %q.", part, f.Commit, f.Files, f.Label+":")
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// asked reports whether the last turn asked for commits.
func (r *Round) asked() bool {
	return len(r.history) > 0 && len(r.history[len(r.history)-1].Fetches) > 0 && r.Finish == nil
}

// fetches converts what a turn asked for to the record of it.
func fetches(all []tool.Fetch) (out []admin.AgentFetch) {
	for _, f := range all {
		out = append(out, admin.AgentFetch{Name: f.Repository, Ref: f.Ref, Path: f.Path, Label: tool.Label(f.Repository, f.Ref)})
	}
	return out
}

// fetchable describes what the tool fetch can get, for the overview of the site.
func (r *Round) fetchable() string {
	var b strings.Builder
	if h := r.Manifest.History; r.In.Project.Agent.ReadRepository && len(h.Commits)+len(h.Tags) > 0 {
		fmt.Fprintf(&b, "history lists its last %d commits and its tags (%d", len(h.Commits), len(h.Tags))
		if names := h.NewestTags(newestTags); len(names) > 0 {
			b.WriteString(", the newest: " + strings.Join(names, ", "))
		}
		b.WriteString("); fetch gets the files of one, for example to see what changed since a release. ")
	}
	if more, err := admin.AgentRepositories(r.In.Project.Agent.Repositories); err == nil && len(more) > 0 {
		b.WriteString("fetch also gets these repositories: ")
		for i, m := range more {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(m.Name + " (" + m.URL + ")")
		}
		b.WriteString(". ")
	}
	return b.String()
}

// newestTags limits the tags in the overview of a site.
const newestTags = 5
