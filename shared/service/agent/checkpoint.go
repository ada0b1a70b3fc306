package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// A checkpoint is the stored form of a turn: what was said to the model, its answer,
// and what its tools did. Applying all checkpoints in order restores a round.
type checkpoint struct {
	// Said is text of ours and of the user's before the answer. It comes after
	// the results of the turn before.
	Said   []string      `json:"said,omitempty"`
	Answer []model.Block `json:"answer"`
	// Results are for the answer's calls, in order.
	Results []model.Block `json:"results,omitempty"`
	Calls   []call        `json:"calls,omitempty"`
	// Changed are the files that this turn changed, Restored those that are again as
	// in the repository.
	Changed  []tool.Change   `json:"changed,omitempty"`
	Restored []string        `json:"restored,omitempty"`
	Plan     []tool.PlanItem `json:"plan,omitempty"`
	Finish   *tool.Finish    `json:"finish,omitempty"`
	// Fetches are the commits that this turn asked for.
	Fetches []tool.Fetch `json:"fetches,omitempty"`
	// Warned is set if a finish was held up once because of new findings.
	Warned bool `json:"warned,omitempty"`
	// Last is set if the model was told that this is its last turn.
	Last bool `json:"last,omitempty"`
	// Cut is set if the answer stopped at a limit of the model before its end.
	Cut bool `json:"cut,omitempty"`
	// Sent is the size of the request. Checkpoints of earlier versions have none.
	Sent *sent `json:"sent,omitempty"`
	// Compacted is set if this request was the first with that compaction, Learned if
	// this turn showed that the model's server reads less than the table says.
	Compacted *compaction `json:"compacted,omitempty"`
	Learned   *learned    `json:"learned,omitempty"`
	// Blind is set once the model's server refused a request with pictures: no later
	// one of the round has any.
	Blind bool `json:"blind,omitempty"`
}

// call is a call of a tool with the digest of its input and result, to detect calls
// that go in circles. File and Outcome are as of tool.Result.
type call struct {
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	File    string `json:"file,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

func callDigest(name string, input []byte, result string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %d %s %s", len(name), name, len(input), input, result)
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// A Round is a round in memory.
type Round struct {
	Ref      admin.AgentRef
	In       admin.AgentInput
	Manifest *Manifest
	Base     *Repository // the repository as Prepare found it
	Tree     *tool.Tree  // and as the round has changed it
	// Turns, Seen (the number of the last message that the model has read),
	// Usage and Finish are those after the last turn.
	Turns  int
	Seen   int
	Usage  admin.AgentUsage
	Finish *tool.Finish

	tools    *tool.Set
	checker  *Checker
	overview string // of the site as Prepare found it

	messages  []model.Message        // of all turns, whole
	history   []checkpoint           // of all turns, without the contents of files
	results   []model.Block          // of the last turn, which the model has not read yet
	changes   map[string]tool.Change // by path
	known     map[string]bool        // paths of the repository
	plan      []tool.PlanItem
	silent    int    // number of turns without a call, up to the last one
	cut       int    // number of answers that stopped before their end, up to the last one
	back      string // why Publish gave the round back after its last turn
	warned    bool
	last      bool
	compacted *compaction        // the last one, nil for none
	sent      []sent             // the sizes of all requests
	learned   map[string]learned // by model.Choice.ID
	blind     bool               // the model's server refuses pictures
	attached  int                // number of the last message; the tools have its files
}

// Which files of a round are read: all, the texts of the site, or those that it has changed.
func wholeRound(*Round, File) bool { return true }

func siteOnly(r *Round, f File) bool { return f.inSite(r.Manifest.Root) }

func changedOnly(r *Round, f File) bool { _, changed := r.changes[f.Path]; return changed }

// inSite reports whether a file is a text in the folder of the site.
func (f File) inSite(root string) bool {
	_, inside := Inside(f.Path, root)
	return inside && !f.Picture
}

// LoadChanges restores what a round has changed: Base has the text of these files alone.
// It can't go on.
func (s Rounds) LoadChanges(ctx context.Context, ref admin.AgentRef, in admin.AgentInput) (*Round, error) {
	return s.prepared(ctx, ref, in, changedOnly)
}

// Load restores a round from its manifest and its turns, to go on with it.
func (s Rounds) Load(ctx context.Context, ref admin.AgentRef, in admin.AgentInput) (*Round, error) {
	r, err := s.prepared(ctx, ref, in, wholeRound)
	if err != nil {
		return nil, err
	}
	before, err := tool.NewTree(r.Base, r.Manifest.Root)
	if err != nil {
		return nil, err
	}
	if r.checker, err = NewChecker(in.Project.Domain, before.FS(), r.Manifest.Findings); err != nil {
		return nil, err
	}
	if r.overview, err = tool.Overview(ctx, before); err != nil {
		return nil, err
	}
	more, err := admin.AgentRepositories(in.Project.Agent.Repositories)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range more {
		names = append(names, m.Name)
	}
	r.tools = tool.NewSet(r.Tree, tool.Options{
		Check:        r.checker,
		Limits:       tool.Limits{Files: in.Limits.Files, Bytes: in.Limits.Bytes},
		Others:       in.Project.Agent.AllowOtherFiles,
		Outside:      in.Project.Agent.ReadRepository,
		History:      r.Manifest.History,
		Repositories: names,
		Fetches:      admin.MaxAgentFetches - len(in.Job.Fetches),
	})
	if err := s.mount(ctx, r); err != nil {
		return nil, err
	}
	if err := s.attach(ctx, r, in.Messages); err != nil {
		return nil, err
	}
	r.recall()
	return r, nil
}

// prepared restores a round of the workflow without its tools, with the files that want
// reports.
func (s Rounds) prepared(ctx context.Context, ref admin.AgentRef, in admin.AgentInput, want func(*Round, File) bool) (*Round, error) {
	if in.Job.Base.Manifest == "" {
		return nil, admin.Errorf(admin.CodeInternal, "the round was not prepared")
	}
	turns, err := s.Admin.AgentTurns(ctx, ref)
	if err != nil {
		return nil, err
	}
	return s.restore(ctx, &Round{Ref: ref, In: in, Seen: in.Job.Seen, Usage: in.Spent}, in.Job.Base.Manifest, turns, want)
}

// attach gives the files of messages to the tools, those of each message once.
func (s Rounds) attach(ctx context.Context, r *Round, messages []admin.AgentMessage) error {
	for _, m := range messages {
		if m.N <= r.attached {
			continue
		}
		if len(m.Attachments) > 0 {
			files, err := s.Admin.AgentAttachments(ctx, r.Ref, m)
			if err != nil {
				return err
			}
			for _, f := range files {
				r.tools.Attach(tool.AttachedPath(m.N, f.Name), f.Data)
			}
		}
		r.attached = m.N
	}
	return nil
}

// restore reads a round's manifest and the checkpoints of its turns into r, without its
// tools, and the files that want reports.
func (s Rounds) restore(ctx context.Context, r *Round, manifest string, turns []admin.AgentTurn, want func(*Round, File) bool) (*Round, error) {
	r.Manifest, r.changes, r.known, r.learned = &Manifest{}, map[string]tool.Change{}, map[string]bool{}, map[string]learned{}
	if err := s.fetchJSON(ctx, manifest, r.Manifest); err != nil {
		return nil, err
	}
	for _, f := range r.Manifest.Files {
		r.known[f.Path] = true
	}
	for _, c := range r.Manifest.Carried {
		r.changes[c.Path] = c
	}
	for _, t := range turns {
		var c checkpoint
		if err := s.fetchJSON(ctx, t.Object, &c); err != nil {
			return nil, err
		}
		r.learn(c)
		r.apply(t, c)
		for _, back := range r.In.Job.Returns {
			if back.Turn == t.N && r.Ref == r.In.Job.Current() {
				r.Finish, r.silent, r.back = nil, 0, back.Text
			}
		}
	}
	var err error
	if r.Base, err = s.unpack(ctx, r.Manifest, func(f File) bool { return want(r, f) }); err != nil {
		return nil, err
	}
	changes := make([]tool.Change, 0, len(r.changes))
	for _, c := range r.changes {
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b tool.Change) int { return cmp.Compare(a.Path, b.Path) })
	if r.Tree, err = tool.NewTree(r.Base, r.Manifest.Root); err != nil {
		return nil, err
	}
	return r, r.Tree.Apply(changes)
}

// recall tells the tools what the model sees of its earlier calls: those of turns that a
// compaction replaced are forgotten.
func (r *Round) recall() {
	r.tools.Forget()
	for _, t := range r.history[r.compacted.turns():] {
		for _, b := range t.Answer {
			if b.Type != model.TypeToolUse {
				continue
			}
			if result, ok := t.result(b.ID); ok {
				r.tools.Recall(b.Name, b.Input, tool.Result{Text: result.Content, IsError: result.IsError, Pictures: shown(result.Pictures)})
			}
		}
	}
}

// result returns the result of a call of this turn.
func (c checkpoint) result(id string) (model.Block, bool) {
	i := slices.IndexFunc(c.Results, func(b model.Block) bool { return b.ToolUseID == id })
	if i < 0 {
		return model.Block{}, false
	}
	return c.Results[i], true
}

// repeats returns how often the model has made a call with one digest, as far as it still
// sees that: after a compaction, it has to read again what it needs.
func (r *Round) repeats(digest string) (n int) {
	for _, t := range r.history[r.compacted.turns():] {
		for _, c := range t.Calls {
			if c.Digest == digest {
				n++
			}
		}
	}
	return n
}

// shown converts the pictures of a block.
func shown(all []model.Picture) (out []tool.Picture) {
	for _, p := range all {
		out = append(out, tool.Picture{Type: p.Type, Data: p.Data})
	}
	return out
}

// check returns the new findings about the site with the round's changes.
func (r *Round) check(ctx context.Context) ([]tool.Finding, error) {
	return r.checker.Check(ctx, r.Tree.FS(), false)
}

// learn adds what a turn showed about the model's context window. It comes before the
// turn's calls, because their results have to fit.
func (r *Round) learn(c checkpoint) {
	if c.Compacted != nil {
		r.compacted = c.Compacted
	}
	if c.Sent != nil {
		r.sent = append(r.sent, *c.Sent)
	}
	if c.Learned != nil {
		r.learned[c.Learned.Model] = *c.Learned
	}
}

// apply adds a turn to the round, after learn. The tree is brought up to date by load, or was
// changed by the tools themselves.
func (r *Round) apply(t admin.AgentTurn, c checkpoint) {
	r.messages = append(r.messages,
		model.Message{Role: model.User, Content: r.user(c.Said)},
		model.Message{Role: model.Assistant, Content: c.Answer})
	r.results = c.Results
	if t.N > r.Manifest.Turns {
		for _, change := range c.Changed {
			r.changes[change.Path] = change
		}
		for _, path := range c.Restored {
			delete(r.changes, path)
		}
	}
	c.Changed = slices.Clone(c.Changed)
	for i := range c.Changed {
		c.Changed[i].Content = nil
	}
	r.history = append(r.history, c)
	r.silent++
	if len(c.Calls) > 0 {
		r.silent = 0
	}
	r.cut++
	if !c.Cut {
		r.cut = 0
	}
	if c.Plan != nil {
		r.plan = c.Plan
	}
	r.Turns, r.Seen, r.Finish, r.back = t.N, t.Seen, c.Finish, ""
	r.Usage = r.Usage.Add(t.Usage)
	r.warned = r.warned || c.Warned
	r.last = r.last || c.Last
	r.blind = r.blind || c.Blind
}

// user returns the content of the next message: the tools' results, then texts.
func (r *Round) user(said []string) []model.Block {
	content := slices.Clone(r.results)
	for _, text := range said {
		content = append(content, model.Text(text))
	}
	return content
}

// delta returns the tree's changes that previous turns don't have.
func (r *Round) delta() (changed []tool.Change, restored []string) {
	now := map[string]bool{}
	for _, c := range r.Tree.Changes() {
		now[c.Path] = true
		if before, ok := r.changes[c.Path]; !ok || before.Delete != c.Delete || string(before.Content) != string(c.Content) {
			changed = append(changed, c)
		}
	}
	for path := range r.changes {
		if !now[path] {
			restored = append(restored, path)
		}
	}
	slices.Sort(restored)
	return changed, restored
}
