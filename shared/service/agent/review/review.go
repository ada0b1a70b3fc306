package review

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options configure the step. Admin and Objects are required.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Islands shows what of pages needs JavaScript; without it, those parts are missing
	// in what is reviewed.
	Islands page.Islands
	// Pages is how many pages are rendered that did not change themselves but use what
	// changed; default 1,000. Time is how long a review begins to render pages; default
	// eight minutes, of the fifteen that a Lambda function has.
	Pages int
	Time  time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what callers must not see; nil discards it.
	Log *slog.Logger
}

// Steps is the step Review of agent jobs. It is safe for concurrent use: it may run
// twice, at the same time, or be stopped half-way.
type Steps struct {
	opt    Options
	rounds agent.Rounds
	export *export.Steps
}

// New returns the step. It returns an error if the options lack a port.
func New(opt Options) (*Steps, error) {
	if opt.Admin == nil || opt.Objects == nil {
		return nil, errors.New("agent: no records or no objects")
	}
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	opt.Pages, opt.Time = cmp.Or(opt.Pages, 1000), cmp.Or(opt.Time, 8*time.Minute)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Steps{
		opt: opt, rounds: agent.Rounds{Admin: opt.Admin, Objects: opt.Objects, Log: opt.Log},
		export: export.New(export.Options{Log: opt.Log, Islands: opt.Islands, Renderer: "review"}),
	}, nil
}

// Tasks returns the step by its name in the workflow.
func (s *Steps) Tasks() map[string]func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){job.TaskAgentReview: job.Task(s.Review)}
}

// Review ends a round's Work and writes the record of what it proposes to publish, unless
// there is one. Next is publish, or work if there is a message that the model has not
// read, or if the round works again.
//
// It returns the errors cancelled and job_not_active, and temporary if the storage, or
// the process that runs components, does not answer. A page that can't be rendered is no
// error: the record says so.
func (s *Steps) Review(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.rounds.Step(ctx, ref, admin.AgentPublishing, s.review)
}

func (s *Steps) review(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	out := job.AgentOutput{AgentRef: ref, Next: job.NextPublish}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if err != nil {
		return out, err
	}
	p, err := s.rounds.Proposed(ctx, ref, in)
	if err != nil {
		return out, err
	}
	if !p.Finished {
		if in.Job.Phase != admin.AgentPublishing {
			out.Next = job.NextWork
		}
		return out, nil
	}
	if unread, err := s.opt.Admin.BeginAgentPublish(ctx, ref, p.Seen); err != nil || unread {
		out.Next = job.NextWork
		return out, err
	}
	digest := p.Digest()
	if done, err := s.rounds.Reviewed(ctx, ref, digest); done != nil || err != nil {
		return out, err
	}
	earlier, err := s.rounds.EarlierReviewed(ctx, ref, in.Job)
	if err != nil {
		return out, err
	}
	r, err := s.look(ctx, in.Project, p, earlier)
	if err != nil {
		return out, err
	}
	r.Digest = digest
	s.opt.Log.InfoContext(ctx, "reviewed the pages of a round", "job", ref.Job, "round", ref.Round,
		"pages", r.Pages, "hosts", len(r.Hosts), "code", len(r.Code), "failed", len(r.Failed))
	return out, s.rounds.PutReviewed(ctx, ref, *r)
}

// look compares the site before and after the changes of a proposal.
func (s *Steps) look(ctx context.Context, project admin.Project, p *agent.Proposal, earlier *agent.Reviewed) (*agent.Reviewed, error) {
	r := new(agent.Reviewed)
	if earlier == nil {
		earlier = new(agent.Reviewed)
	}
	brought := slices.Concat(earlier.Hosts, earlier.Code) // by earlier rounds of the pull request
	if len(p.Changes)+len(brought) == 0 {
		return r, nil
	}
	base, err := tool.NewTree(p.Base, p.Root)
	if err != nil {
		return nil, err
	}
	head, err := tool.NewTree(p.Base, p.Root)
	if err != nil {
		return nil, err
	}
	if err := head.Apply(p.Changes); err != nil {
		return r, nil // Publish refuses them
	}
	changed := map[string]bool{}
	for _, c := range p.Changes {
		if rel, ok := agent.Inside(c.Path, p.Root); ok {
			changed[rel] = true
		}
	}
	again, known := map[string]bool{}, map[string]bool{} // the files and IDs of what they brought
	for _, i := range brought {
		known[i.ID] = true
		for _, file := range i.Sources() {
			if rel, ok := agent.Inside(file, p.Root); ok {
				again[rel] = true
			}
		}
	}
	began := s.opt.Now()
	before, err := s.open(ctx, project, base.FS(), nil)
	if err != nil {
		return nil, err
	}
	after, err := s.open(ctx, project, head.FS(), before)
	if err != nil {
		return nil, err
	}
	now := after.touched(changed, again, nil, s.opt.Pages)
	was := before.touched(changed, again, now.sources, 0)
	was.frame(before) // what all pages have is not new on a new page
	old := new(tool.Seen)
	broken := map[string]bool{} // what could not be rendered before
	// What is left out before the changes is only listed as new after them.
	if _, err := before.each(ctx, was, began.Add(s.opt.Time/2), func(file string, seen tool.Seen, failed string) {
		old.Add(seen)
		broken[file] = failed != ""
	}); err != nil {
		return nil, err
	}
	var all tool.Seen
	hosts, code := map[string][]string{}, map[string][]string{} // the files of each
	add := func(all map[string][]string, id, file string) {
		if file = full(file, p.Root); !slices.Contains(all[id], file) {
			all[id] = append(all[id], file)
		}
	}
	late, err := after.each(ctx, now, began.Add(s.opt.Time), func(file string, seen tool.Seen, failed string) {
		if failed != "" && (changed[file] || !broken[file]) {
			r.Failed = append(r.Failed, full(file, p.Root)+": "+failed)
		}
		for h := range seen.Hosts {
			add(hosts, h, file)
		}
		for c := range seen.Code {
			add(code, c, file)
		}
		all.Add(seen)
	})
	if err != nil {
		return nil, err
	}
	if r.Pages = len(now.pages) - late; late > 0 {
		r.Failed = append(r.Failed, fmt.Sprintf("the last %d pages of the site that changed, or that use what changed: there was no time to render them", late))
	}
	if after.live == nil {
		r.Failed = append(r.Failed, after.unusable)
	}
	if now.left > 0 {
		r.Left = []string{fmt.Sprintf("%d more pages that use what changed: more than the %d that are rendered", now.left, s.opt.Pages)}
	}
	var fresh []string
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		if !old.Hosts[h] {
			fresh = append(fresh, h)
		}
	}
	named, err := s.rounds.Named(ctx, p, fresh)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		if isOld := old.Hosts[h] || named[h]; !isOld || known[h] {
			r.Hosts = append(r.Hosts, agent.ReviewedItem{ID: h, What: h, File: hosts[h][0], More: hosts[h][1:], Earlier: isOld})
		}
	}
	for id, files := range code {
		if _, isOld := old.Code[id]; !isOld || known[id] {
			r.Code = append(r.Code, agent.ReviewedItem{ID: id, What: all.Code[id], File: files[0], More: files[1:], Earlier: isOld})
		}
	}
	byFile := func(a, b agent.ReviewedItem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(r.Hosts, byFile)
	slices.SortFunc(r.Code, byFile)
	return r, nil
}

// full returns a path of the site's folder as one of the repository.
func full(p, root string) string { return path.Join(root, p) }
