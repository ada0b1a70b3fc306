package forge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Change is what becomes of one file.
type Change struct {
	Path    string
	Content []byte
	Delete  bool
	// Executable makes a file executable. A file that was executable stays so.
	Executable bool
}

// Commit is a commit that has not been pushed.
type Commit struct {
	ID, Parent string
	// Tree is the id of its files.
	Tree    string
	objects []object
}

// Commit makes a commit of changes to a tree of the repository without sending
// anything. The same tree, changes and meta make the same commit. Other files stay as
// they are, even those that were left on the forge. Errors have the code
// repository_invalid (an invalid path, a file in the place of a folder or the other
// way round, a symbolic link or submodule on the way, a path that occurs twice, no
// change at all) or are ErrPath, if a file to delete does not exist.
func (f *Forge) Commit(ctx context.Context, r Repository, base *Tree, changes []Change, m Meta) (*Commit, error) {
	if err := ctx.Err(); err != nil {
		return nil, failed(err, Credential{})
	}
	if r != base.Repository {
		return nil, invalid("the files are those of another repository")
	}
	root := &folder{}
	seen := map[string]bool{}
	for _, c := range changes {
		if err := writable(c.Path); err != nil {
			return nil, err
		}
		if seen[c.Path] {
			return nil, invalid("%s is changed twice", c.Path)
		}
		seen[c.Path] = true
		old, exists := base.File(c.Path)
		switch {
		case exists && (old.Mode == Symlink || old.Mode == Submodule):
			return nil, invalid("%s is a %s and can't be changed", c.Path, old.Mode)
		case c.Delete && !exists:
			return nil, ErrPath.with(c.Path)
		}
		e := &entry{mode: modeFile}
		switch {
		case c.Delete:
			e = nil
		case c.Executable:
			e.mode = modeExecutable
		case exists:
			e.mode = old.mode
		}
		root.add(strings.Split(c.Path, "/"), leaf{e, c.Content})
	}
	var made []object
	tree, err := root.build(base.pack, base.root, "", &made)
	if err != nil {
		return nil, err
	}
	if tree == "" { // every file is deleted
		o := encodeTree(nil)
		tree, made = o.id(), append(made, o)
	}
	if tree == base.root {
		return nil, invalid("nothing changes")
	}
	o := encodeCommit(tree, base.Commit, m)
	return &Commit{ID: o.id(), Parent: base.Commit, Tree: tree, objects: append(made, o)}, nil
}

// writable returns an error unless a file may be written at a path: relative,
// with slashes, of names that every system can have and that are not Git's own.
func writable(path string) error {
	if len(path) > maxPath {
		return invalid("a path has more than %d bytes", maxPath)
	}
	for name := range strings.SplitSeq(path, "/") {
		git := strings.ToLower(strings.TrimRight(name, ". "))
		if name == "" || git == "" || git == ".git" || git == "git~1" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }) {
			return invalid("a file can't be written at %q", path)
		}
	}
	return nil
}

// leaf is a changed file; without an entry it is deleted.
type leaf struct {
	entry   *entry
	content []byte
}

// folder is a folder with changes.
type folder struct {
	folders map[string]*folder
	leaves  map[string]leaf
}

// add adds a change.
func (f *folder) add(names []string, l leaf) {
	name := names[0]
	if len(names) == 1 {
		if f.leaves == nil {
			f.leaves = map[string]leaf{}
		}
		f.leaves[name] = l
		return
	}
	if f.folders == nil {
		f.folders = map[string]*folder{}
	}
	if f.folders[name] == nil {
		f.folders[name] = &folder{}
	}
	f.folders[name].add(names[1:], l)
}

// build applies the changes of a folder to the tree with an id, "" for a new one, and
// appends the new objects to made. It returns the id of the new tree, "" if that is
// empty.
func (f *folder) build(p *pack, id, prefix string, made *[]object) (string, error) {
	entries := map[string]entry{}
	if id != "" {
		data, err := p.object("tree", id)
		if err != nil {
			return "", failed(err, Credential{})
		}
		list, err := parseTree(data)
		if err != nil {
			return "", err
		}
		for _, e := range list {
			entries[e.name] = e
		}
	}
	// A folder may replace a file that is deleted, and a file a folder that becomes
	// empty.
	for name, l := range f.leaves {
		if l.entry == nil {
			delete(entries, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.folders)) {
		old, ok := entries[name]
		if ok && old.mode != modeFolder {
			return "", invalid("%s is a file", prefix+name)
		}
		sub, err := f.folders[name].build(p, old.id, prefix+name+"/", made)
		if err != nil {
			return "", err
		}
		if sub == "" {
			delete(entries, name)
		} else {
			entries[name] = entry{modeFolder, name, sub}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.leaves)) {
		l := f.leaves[name]
		if l.entry == nil {
			continue
		}
		if entries[name].mode == modeFolder {
			return "", invalid("%s is a folder", prefix+name)
		}
		o := object{"blob", l.content}
		entries[name] = entry{l.entry.mode, name, o.id()}
		*made = append(*made, o)
	}
	if len(entries) == 0 {
		return "", nil
	}
	o := encodeTree(slices.Collect(maps.Values(entries)))
	*made = append(*made, o)
	return o.id(), nil
}

// Push puts a commit on a branch. expect is where the branch must be: "" if it
// must not exist, else the commit's parent; nothing is ever forced. A branch that
// is at the commit already is success, so that a push can be repeated. Errors:
// ErrMoved if the branch is elsewhere, ErrDenied if the forge refuses (a
// protected branch, a hook, a credential that may not push), and those of Fetch.
func (f *Forge) Push(ctx context.Context, r Repository, branch string, c *Commit, expect string) error {
	if expect != "" && expect != c.Parent {
		return invalid("the commit does not follow %s: it would lose commits", expect)
	}
	if err := branchName(branch); err != nil {
		return err
	}
	data, err := packfile(c.objects)
	if err != nil {
		return failed(err, Credential{})
	}
	return f.do(ctx, "push", r, func(cred Credential) error {
		s, err := f.connect(ctx, r, cred, receivePack)
		if err != nil {
			return err
		}
		at := s.refs["refs/heads/"+branch]
		switch {
		case at == c.ID:
			return nil
		case at != expect:
			return ErrMoved
		}
		err = s.push(ctx, branch, at, c.ID, data)
		if refused := (*Error)(nil); err != nil {
			refused = failed(err, cred)
			if refused.code != CodeDenied {
				return refused
			}
			// Another push may have won, perhaps one of the same commit.
			if s, err := f.connect(ctx, r, cred, receivePack); err == nil {
				switch now := s.refs["refs/heads/"+branch]; now {
				case c.ID:
					return nil
				case expect:
				default:
					return ErrMoved
				}
			}
			return refused
		}
		return nil
	})
}

// Branch returns the commit that a branch is at, "" if there is no such branch.
// Errors are those of Fetch.
func (f *Forge) Branch(ctx context.Context, r Repository, name string) (commit string, err error) {
	err = f.do(ctx, "branch", r, func(c Credential) error {
		s, err := f.connect(ctx, r, c, uploadPack)
		if err == nil {
			commit = s.refs["refs/heads/"+name]
		}
		return err
	})
	return commit, err
}

// Contains reports whether a branch is at a commit or has it in its history: others
// may have added commits. It fetches the commits of the branch that the commit's
// parent doesn't have. Errors are those of Fetch.
func (f *Forge) Contains(ctx context.Context, r Repository, branch string, c *Commit) (has bool, err error) {
	err = f.do(ctx, "contains", r, func(cred Credential) error {
		s, err := f.connect(ctx, r, cred, uploadPack)
		if err != nil {
			return err
		}
		at := s.refs["refs/heads/"+branch]
		if has = at == c.ID; has || at == "" || at == c.Parent {
			return nil
		}
		p, err := newPack(f.opt.TempDir)
		if err != nil {
			return err
		}
		known, err := s.fetchSince(ctx, p, at, c.Parent)
		if known && err == nil {
			has, err = p.reaches(at, c.ID)
		}
		return errors.Join(err, p.close())
	})
	return has, err
}

// branchName returns an error unless name is valid for a branch.
func branchName(name string) error {
	bad := name == "" || len(name) > 200 || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "-")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part[0] == '.' || part[len(part)-1] == '.' || strings.ContainsFunc(part, notPlain) || strings.Contains(part, "~")
	}
	if bad {
		return invalid("%q can't be the name of a branch", name)
	}
	return nil
}
