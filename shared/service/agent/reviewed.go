package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Reviewed is the record of the step Review: what is new in the pages of a round as
// readers get them. On AWS, only the function of Review can write it. No list in it is cut.
type Reviewed struct {
	// Digest is the ReviewDigest of the changes and of the commit that they are for.
	Digest string `json:"digest"`
	// Hosts are hosts of other sites. Code has the scripts and handlers that browsers run.
	Hosts []ReviewedItem `json:"hosts,omitempty"`
	Code  []ReviewedItem `json:"code,omitempty"`
	// Failed are the pages and files that could not be rendered, with the reasons. Left
	// says which pages were not rendered because they are too many.
	Failed []string `json:"failed,omitempty"`
	Left   []string `json:"left,omitempty"`
	// Pages counts the pages that were rendered with the changes.
	Pages int `json:"pages"`
}

// ReviewedItem is a host or a piece of code in a rendered page.
type ReviewedItem struct {
	// ID is the host, or the digest of the code.
	ID   string `json:"id"`
	What string `json:"what"` // the host, or the kind of code
	// File is the source of the first page or the file that has it, a path of the
	// repository.
	File string `json:"file"`
	// More are the sources of all others that have it.
	More []string `json:"more,omitempty"`
	// Earlier is set if an earlier round of the same pull request brought it.
	Earlier bool `json:"earlier,omitempty"`
}

// Sources returns the sources of all pages and files that have the item.
func (i ReviewedItem) Sources() []string { return append([]string{i.File}, i.More...) }

// ReviewDigest returns the digest of changes of a commit, in hex. The order of the
// changes does not matter.
func ReviewDigest(commit string, changes []tool.Change) string {
	h := sha256.New()
	field(h, []byte(commit))
	for _, c := range slices.SortedFunc(slices.Values(changes), func(a, b tool.Change) int { return cmp.Compare(a.Path, b.Path) }) {
		field(h, []byte(c.Path))
		field(h, fmt.Appendf(nil, "%t", c.Delete))
		field(h, c.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// field adds a field with its length, so that no two lists of fields are alike.
func field(h hash.Hash, b []byte) {
	fmt.Fprintf(h, "%d:", len(b))
	h.Write(b)
}

// Proposal has the changes of a repository that a round proposes to publish.
type Proposal struct {
	// Base is the repository with the texts of the site alone.
	Base   *Repository
	Root   string // folder of the site
	Commit string // of Base
	// Changes are sorted by path.
	Changes []tool.Change
	// Finished is not set if the round works on.
	Finished bool
	// Seen is the number of the last message that the round answers.
	Seen int

	manifest Manifest
}

// Digest returns the ReviewDigest of the proposal.
func (p *Proposal) Digest() string { return ReviewDigest(p.Commit, p.Changes) }

// Proposed reads what a round proposes: the changes of its turns, or those that Publish
// merged with the changes of others.
func (s Rounds) Proposed(ctx context.Context, ref admin.AgentRef, in admin.AgentInput) (*Proposal, error) {
	if m := in.Job.Merge; m.Manifest != "" {
		var merged Manifest
		if err := s.fetchJSON(ctx, m.Manifest, &merged); err != nil {
			return nil, err
		}
		base, err := s.unpack(ctx, &merged, func(f File) bool { return f.inSite(merged.Root) })
		if err != nil {
			return nil, err
		}
		return &Proposal{Base: base, Root: merged.Root, Commit: merged.Commit, Changes: merged.Carried, Finished: true, Seen: in.Job.Messages, manifest: merged}, nil
	}
	r, err := s.prepared(ctx, ref, in, siteOnly)
	if err != nil {
		return nil, err
	}
	return &Proposal{Base: r.Base, Root: r.Manifest.Root, Commit: r.Manifest.Commit, Changes: r.Tree.Changes(), Finished: r.Finish != nil, Seen: r.Answers(), manifest: *r.Manifest}, nil
}

// Named returns those of some hosts that the repository of a proposal names, see
// tool.Named. It reads the texts outside the site if the site does not name all of them.
func (s Rounds) Named(ctx context.Context, p *Proposal, hosts []string) (map[string]bool, error) {
	named := tool.Named(p.Base, hosts)
	err := s.each(ctx, &p.manifest, func(f File) bool {
		return len(named) < len(hosts) && !f.Picture && !f.inSite(p.Root)
	}, func(f File, b []byte) {
		one := &Repository{Entries: []tool.Entry{{Path: f.Path, Text: true}}, Texts: map[string][]byte{f.Path: b}}
		maps.Copy(named, tool.Named(one, hosts))
	})
	return named, err
}

// Answers returns the number of the last message that a finished round answers: a round
// without a turn left does not read those that came since.
func (r *Round) Answers() int {
	if r.Spent() {
		return r.In.Job.Messages
	}
	return r.Seen
}

// reviewKey is the key of a record of Review.
func reviewKey(ref admin.AgentRef, digest string) string {
	return fmt.Sprintf("%s%s/%d/%s", job.AgentReviews, ref.Job, ref.Round, digest)
}

// PutReviewed stores a record. If there is one with its digest already, that one stays.
func (s Rounds) PutReviewed(ctx context.Context, ref admin.AgentRef, r Reviewed) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	_, err = s.Objects.Put(ctx, reviewKey(ref, r.Digest), bytes.NewReader(b), store.PutOptions{IfAbsent: true, SHA256: hex.EncodeToString(sum[:])})
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// Reviewed returns a round's record with this digest, nil if there is none.
func (s Rounds) Reviewed(ctx context.Context, ref admin.AgentRef, digest string) (*Reviewed, error) {
	key := reviewKey(ref, digest)
	b, err := s.Objects.Get(ctx, key, 0, -1)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.Close()
	text, err := io.ReadAll(b)
	if err != nil {
		return nil, err
	}
	r := new(Reviewed)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("object %s: %w", key, err)
	}
	if r.Digest != digest {
		return nil, fmt.Errorf("object %s: the digest in it is %s", key, r.Digest)
	}
	return r, nil
}

// EarlierReviewed returns the record of the last round that published to the branch that
// a round continues; nil if it begins a new branch, or if that round has none.
func (s Rounds) EarlierReviewed(ctx context.Context, ref admin.AgentRef, j admin.AgentJob) (*Reviewed, error) {
	if j.Base.Previous == "" {
		return nil, nil
	}
	ends, err := s.Admin.AgentEnds(ctx, ref)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(ends) {
		if e.Reviewed != "" && e.Branch == j.Branch {
			return s.Reviewed(ctx, admin.AgentRef{Project: ref.Project, Job: ref.Job, Round: e.Round}, e.Reviewed)
		}
	}
	return nil, nil
}
