package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// reviewed returns Review's record of the changes that are to be pushed. It returns nil
// if there is none yet: then the round goes to Review with the changes as they are
// merged. If it went there as often as it may, it returns the record of the last merge,
// and unseen is set: people have pushed since.
func (s *Steps) reviewed(ctx context.Context, r *agent.Round, g ground, root string) (seen *agent.Reviewed, unseen bool, err error) {
	digest := agent.ReviewDigest(g.tree.Commit, g.changes)
	if len(r.Tree.Changes()) == 0 { // nothing is pushed: the review of the round will do
		digest = agent.ReviewDigest(r.Manifest.Commit, nil)
	}
	if seen, err = s.rounds.Reviewed(ctx, r.Ref, digest); seen != nil || err != nil {
		return seen, false, err
	}
	m := agent.Manifest{Commit: g.tree.Commit, Ref: g.tree.Ref, Root: root, Files: slices.Clone(g.files), Carried: g.changes}
	if m.Packs, err = s.rounds.Pack(ctx, r.Ref, g.base, m.Files); err != nil {
		return nil, false, err
	}
	merge := admin.AgentMerge{Digest: digest}
	if merge.Manifest, err = s.rounds.KeepJSON(ctx, r.Ref, "manifest", m); err != nil {
		return nil, false, err
	}
	last, again, err := s.opt.Admin.MergeAgent(ctx, r.Ref, merge)
	if again || err != nil {
		return nil, false, err
	}
	if last.Digest == "" { // the round was given back after its last merge, and reviewed since
		last.Digest = agent.ReviewDigest(r.Manifest.Commit, r.Tree.Changes())
	}
	if seen, err = s.rounds.Reviewed(ctx, r.Ref, last.Digest); seen == nil && err == nil {
		err = admin.Errorf(admin.CodeInternal, "the round was not reviewed")
	}
	return seen, true, err
}

// errUnseen is the cause of a refusal that another try can't cure.
var errUnseen = errors.New("the last merge was not reviewed")

// accept refuses changes that the project does not accept, by what Review saw of them.
func accept(r *agent.Round, seen *agent.Reviewed, unseen bool) error {
	settings := r.In.Project.Agent
	strict := settings.RefuseNewHosts || settings.RefuseExecutable
	if unseen && strict {
		return admin.Errorf(forge.CodeMoved, "people pushed to the branch while each of the last reviews ran, and the project accepts no changes that were not reviewed").Wrap(errUnseen)
	}
	if missed := slices.Concat(seen.Failed, seen.Left); len(missed) > 0 && strict {
		return admin.Errorf(admin.CodeChanges, "a page could not be looked at as readers get it: %s", missed[0])
	}
	first := func(list []agent.ReviewedItem) (string, bool) {
		at := slices.IndexFunc(list, func(i agent.ReviewedItem) bool { return !i.Earlier })
		if at < 0 {
			return "", false
		}
		return shown(list[at]), true
	}
	if line, ok := first(seen.Hosts); ok && settings.RefuseNewHosts {
		return admin.Errorf(admin.CodeChanges, "the changes add a link to, or a picture from, a new host: %s", line)
	}
	if line, ok := first(seen.Code); ok && settings.RefuseExecutable {
		return admin.Errorf(admin.CodeChanges, "the changes add executable code: %s", line)
	}
	return nil
}

// shown is an item of a record as a line of a review.
func shown(i agent.ReviewedItem) string {
	if i.ID == i.What { // a host
		return fmt.Sprintf("%s (%s, as readers get it)", i.What, i.File)
	}
	return fmt.Sprintf("%s: %s, as readers get it", i.File, i.What)
}

// withHosts adds the hosts of a record to the lines of the review of sources, each host
// once.
func withHosts(lines []string, items []agent.ReviewedItem) []string {
	for _, i := range items {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, i.ID+" (") }) {
			lines = append(lines, shown(i))
		}
	}
	return lines
}

// withCode adds the code of a record to the lines of the review of sources: the pieces of
// which these have no line of the same file and kind.
func withCode(lines []string, items []agent.ReviewedItem) []string {
	known := map[string]int{} // lines by file and kind
	for _, l := range lines {
		at := strings.LastIndex(l, ": ")
		if place := l[:max(at, 0)]; strings.Contains(place, ":") {
			known[place[:strings.LastIndex(place, ":")]+l[at:]]++
		}
	}
	for _, i := range items {
		if key := i.File + ": " + i.What; known[key] > 0 {
			known[key]--
			continue
		}
		if line := shown(i); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
