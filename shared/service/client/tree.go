package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/service/sitefolder"
)

// ErrNoGit is that the program git is not there.
var ErrNoGit = errors.New("the program git, which reads commits, is not there")

// Tree is the files that publishing a folder would publish, as it is now or was in
// a commit. It can be read by many goroutines. The caller ends it with Close.
type Tree struct {
	fs.FS
	// Paths are the files, sorted.
	Paths []string
	// Refused is what is left out because it can't be read, in order of path.
	Refused []Refused

	base   string // the folder, absolute; empty for a commit
	close  func() error
	folder *folder // nil for a commit
}

// Refused is a file that is left out because it can't be read, and why, as a phrase.
type Refused struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Close ends the use of the tree. It returns the error of closing it.
func (t *Tree) Close() error { return t.close() }

// Modified returns when the files of a folder were last committed, as Publish says
// it: by their paths, without those of which Git knows no commit.
func (t *Tree) Modified(ctx context.Context) (map[string]time.Time, error) {
	wanted := make(map[string]bool, len(t.Paths))
	for _, p := range t.Paths {
		wanted[p] = true
	}
	return commitTimes(ctx, t.base, wanted)
}

// OpenTree opens a folder as Publish would read it: without what is hidden or
// ignored.
func OpenTree(ctx context.Context, dir string) (*Tree, error) {
	w, err := newWalk(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	f, paths, err := w.look()
	if err != nil {
		_ = w.root.Close()
		return nil, err
	}
	slices.Sort(paths)
	t := &Tree{FS: folderFS{f}, Paths: paths, base: w.base, close: f.Close, folder: f}
	w.refused = append(w.refused, w.faults...)
	t.Refused = w.leftOut()
	return t, nil
}

// leftOut returns what is left out because it can't be read, in order of path.
func (w *walk) leftOut() []Refused {
	var out []Refused
	for _, r := range w.refused {
		out = append(out, Refused{r.Path, r.Reason})
	}
	slices.SortStableFunc(out, func(a, b Refused) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Replace puts a new text into a file of the folder, all at once: whoever reads it has
// the old text or the new one. It returns an error, and changes nothing, if the file
// no longer has the text that it is said to have. A tree of a commit can't be changed.
func (t *Tree) Replace(name string, was, is []byte) error {
	if t.folder == nil || t.folder.real[name] == "" {
		return &fs.PathError{Op: "replace", Path: name, Err: errors.ErrUnsupported}
	}
	root, real := t.folder.root, t.folder.real[name]
	now, err := root.ReadFile(real)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, was) {
		return &fs.PathError{Op: "replace", Path: name, Err: errors.New("the file has changed meanwhile")}
	}
	info, err := root.Stat(real)
	if err != nil {
		return err
	}
	// Beside the file, so that the name can change hands; hidden, so that nobody
	// publishes what a crash leaves.
	part := path.Join(path.Dir(real), ".bindery-"+rand.Text())
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(is)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(part, real)
	}
	if err != nil {
		_ = root.Remove(part)
	}
	return err
}

// folderFS is a folder as a file system.
type folderFS struct{ *folder }

// Open is that of fs.FS.
func (f folderFS) Open(name string) (fs.File, error) {
	real, ok := f.real[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.open(real)
}

// OpenCommit opens a folder of a Git repository as it was in a commit, which ref
// names. The files of the folder are neither read nor changed. It returns
// ErrNoGit where git is not there.
func OpenCommit(ctx context.Context, dir, ref string) (*Tree, error) {
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) == 0 {
			err = errors.New("there is no such commit")
		}
		return nil, fmt.Errorf("find the commit %s: %w", ref, err)
	}
	list, err := git(ctx, dir, "ls-tree", "-r", "-l", "-z", strings.TrimSpace(string(commit)))
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", ref, err)
	}
	c := &commitFS{files: map[string]blob{}}
	if err := c.start(dir); err != nil {
		return nil, err
	}
	paths, err := c.list(list)
	if err != nil {
		_ = c.close()
		return nil, fmt.Errorf("list the files of %s: %w", ref, err)
	}
	return &Tree{FS: c, Paths: paths, close: c.close}, nil
}

// git runs git in a folder and returns what it writes. What it complains of is in
// the error.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = gitEnv()
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, ErrNoGit
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

// gitEnv is the environment of git: it asks nobody and writes no index.
func gitEnv() []string {
	return append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// blob is a file of a commit.
type blob struct {
	id   string
	size int64
}

// commitFS is the files of a commit. One process of git reads them, one after
// another.
type commitFS struct {
	files map[string]blob

	mu   sync.Mutex
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	fail error // after which nothing can be read
}

// start starts the process.
func (c *commitFS) start(dir string) (err error) {
	c.cmd = exec.Command("git", "-C", dir, "cat-file", "--batch")
	c.cmd.Env = gitEnv()
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	return c.cmd.Start()
}

func (c *commitFS) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail == nil {
		c.fail = fs.ErrClosed
	}
	_ = c.in.Close()
	return c.cmd.Wait()
}

// list reads what git says of a commit's files, and returns those that are
// published, sorted.
func (c *commitFS) list(lines []byte) ([]string, error) {
	links := map[string]blob{}
	for line := range bytes.SplitSeq(lines, []byte{0}) {
		about, name, _ := strings.Cut(string(line), "\t")
		field := strings.Fields(about) // mode, type, id, size
		if len(field) != 4 || field[1] != "blob" {
			continue // the end, or a repository of its own
		}
		size, err := strconv.ParseInt(field[3], 10, 64)
		if err != nil {
			return nil, err
		}
		b := blob{field[2], size}
		if field[0] == "120000" {
			links[name] = b
		} else {
			c.files[norm.NFC.String(name)] = b
		}
	}
	linked := map[string]blob{} // a link to a link is not followed
	for name, link := range links {
		target, err := c.read(link)
		if err != nil {
			return nil, err
		}
		if b, ok := c.files[path.Join(path.Dir(name), string(target))]; ok {
			linked[name] = b
		}
	}
	maps.Copy(c.files, linked)
	rules, err := sitefolder.ReadRules(c)
	if err != nil {
		return nil, err
	}
	var paths []string
	for name := range c.files {
		if rules.Publishes(name) {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// read reads a blob.
func (c *commitFS) read(b blob) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return nil, c.fail
	}
	data, err := c.ask(b)
	if err != nil {
		c.fail = fmt.Errorf("git ended: %w", err)
	}
	return data, err
}

func (c *commitFS) ask(b blob) ([]byte, error) {
	if _, err := io.WriteString(c.in, b.id+"\n"); err != nil {
		return nil, err
	}
	head, err := c.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if want := fmt.Sprintf("%s blob %d\n", b.id, b.size); head != want {
		return nil, fmt.Errorf("it says %q of %s", strings.TrimSpace(head), b.id)
	}
	data := make([]byte, b.size+1) // and the end of the line
	if _, err := io.ReadFull(c.out, data); err != nil {
		return nil, err
	}
	return data[:b.size], nil
}

// Open is that of fs.FS.
func (c *commitFS) Open(name string) (fs.File, error) {
	b, ok := c.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &commitFile{fs: c, name: name, blob: b}, nil
}

// commitFile is an open file of a commit. It is read when first asked.
type commitFile struct {
	fs   *commitFS
	name string
	blob blob
	data *bytes.Reader
}

// Read is that of fs.File.
func (f *commitFile) Read(p []byte) (int, error) {
	if f.data == nil {
		data, err := f.fs.read(f.blob)
		if err != nil {
			return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
		}
		f.data = bytes.NewReader(data)
	}
	return f.data.Read(p)
}

// Stat is that of fs.File.
func (f *commitFile) Stat() (fs.FileInfo, error) {
	return commitInfo{path.Base(f.name), f.blob.size}, nil
}

// Close is that of fs.File.
func (f *commitFile) Close() error { return nil }

// commitInfo describes a file of a commit.
type commitInfo struct {
	name string
	size int64
}

func (i commitInfo) Name() string     { return i.name }
func (i commitInfo) Size() int64      { return i.size }
func (commitInfo) Mode() fs.FileMode  { return 0o444 }
func (commitInfo) ModTime() time.Time { return time.Time{} }
func (commitInfo) IsDir() bool        { return false }
func (commitInfo) Sys() any           { return nil }
