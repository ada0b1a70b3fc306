package forge

import (
	"context"
	"errors"
)

// MergeBase returns the newest commit that two branches have in common, which is where
// a pull request from head to base begins. It is "" if one of them does not exist, or
// if they have none. Of several that are equally new, as after merges both ways, it is
// one. It fetches the commits of head that base doesn't have, without their files if
// the server can omit them. Errors are those of Fetch.
func (f *Forge) MergeBase(ctx context.Context, r Repository, head, base string) (commit string, err error) {
	err = f.do(ctx, "merge base", r, func(c Credential) error {
		s, err := f.connect(ctx, r, c, uploadPack)
		if err != nil {
			return err
		}
		from, to := s.refs["refs/heads/"+head], s.refs["refs/heads/"+base]
		if commit = ""; from == "" || to == "" {
			return nil
		}
		if commit = from; from == to {
			return nil
		}
		commit, err = s.mergeBase(ctx, from, to)
		return err
	})
	return commit, err
}

// mergeBase is the merge base of two commits at which branches are.
func (s *server) mergeBase(ctx context.Context, from, to string) (string, error) {
	// What from has and to has not ends where the histories meet.
	var ends []string
	err := s.since(ctx, from, to, func(p *pack) error {
		return p.history(from, func(id string, has bool) bool {
			if !has {
				ends = append(ends, id)
			}
			return true
		})
	})
	if err != nil || len(ends) == 0 {
		return "", err
	}
	// The newest is the one above which to has no other.
	for _, end := range ends[:len(ends)-1] {
		newest := true
		err := s.since(ctx, to, end, func(p *pack) error {
			for _, other := range ends {
				newest = newest && (other == end || p.kind(other) != "commit")
			}
			return nil
		})
		if newest || err != nil {
			return end, err
		}
	}
	return ends[len(ends)-1], nil
}

// since calls fn with a pack of the objects that a commit has and another one has not;
// see fetchSince.
func (s *server) since(ctx context.Context, id, other string, fn func(*pack) error) error {
	p, err := newPack(s.f.opt.TempDir)
	if err != nil {
		return err
	}
	known, err := s.fetchSince(ctx, p, id, other)
	if err == nil && known {
		err = fn(p)
	}
	return errors.Join(err, p.close())
}
