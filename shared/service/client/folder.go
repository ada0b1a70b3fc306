package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/sitefolder"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// folder is what of a folder is published. The caller ends it with Close.
type folder struct {
	// Files are sorted by path and complete: size, digest and, where there is
	// one, time of the last commit.
	Files []snapshot.File
	// Bytes is the size of all files together.
	Bytes int64
	// Refused is what is left out because it can't be read, in order of path.
	Refused []Refused

	stamps map[string]string // path in the snapshot → its stamp, where that can be trusted

	root *os.Root
	real map[string]string // path in the snapshot → path below root, links resolved
	held map[string][]byte // path in the snapshot → what a small file had when it was read

	mu  sync.Mutex
	dir string   // path below root of at
	at  *os.Root // where the last file was opened; the next is mostly there too
}

// folderError is why a folder can't be published: all that is wrong with it,
// each with its place. Its text is safe to show.
type folderError struct {
	// Dir is the folder, as it was given.
	Dir string
	// Faults are in order of path.
	Faults snapshot.PathErrors
}

func (e *folderError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, fault := range e.Faults {
		lines[i] = "  " + fault.Error()
	}
	return fmt.Sprintf("%s can't be published:\n%s", e.Dir, strings.Join(lines, "\n"))
}

// Unwrap returns the faults, which errors.As finds as snapshot.PathErrors.
func (e *folderError) Unwrap() error { return e.Faults }

// openFolder looks through a folder, leaves out what is hidden or ignored,
// reads every other file once, save those that old knows, and checks that all can be
// published. What can't comes as a *folderError. progress, if not nil, is called with
// the bytes that were read, from several goroutines.
func openFolder(ctx context.Context, dir string, leave []string, old *sources, progress func(read int64)) (*folder, error) {
	w, err := newWalk(ctx, dir, leave)
	if err != nil {
		return nil, err
	}
	f, err := w.folder(old, progress)
	if f != nil {
		f.Refused = w.leftOut()
	}
	if err == nil && len(w.faults) > 0 {
		err = &folderError{Dir: dir, Faults: w.sortedFaults()}
	}
	if err != nil {
		_ = w.root.Close()
		return nil, err
	}
	return f, nil
}

// newWalk opens a folder to look through it. leave are paths of this machine that are
// left out. The caller closes its root.
func newWalk(ctx context.Context, dir string, leave []string) (*walk, error) {
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	if base, err = filepath.Abs(base); err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	w := &walk{ctx: ctx, base: base, root: root, leave: make(map[string]bool)}
	for _, p := range leave {
		if rel, ok := inFolder(base, p); ok {
			w.leave[rel] = true
		}
	}
	return w, nil
}

// inFolder returns the path below base of a file that may not be there yet, with
// slashes, and whether it lies there.
func inFolder(base, p string) (string, bool) {
	p, err := filepath.Abs(p)
	if err != nil {
		return "", false
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
		p = filepath.Join(dir, filepath.Base(p))
	}
	rel, err := filepath.Rel(base, p)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Open opens a file by its path in the snapshot, one that is held as it was when the
// folder was looked through. It never leaves the folder, whatever became of links
// meanwhile.
// It returns an *fs.PathError for a path that the folder does not have.
func (f *folder) Open(name string) (io.ReadCloser, error) {
	if data, ok := f.held[name]; ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	real, ok := f.real[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.open(real)
}

// open opens a file by its path below the root. A root opens each folder of a path
// on its way, so the last one is kept.
func (f *folder) open(real string) (*os.File, error) {
	dir, name := path.Split(real)
	if dir == "" {
		return f.root.Open(real)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir != dir {
		at, err := f.root.OpenRoot(dir)
		if err != nil {
			return f.root.Open(real) // whose error names the whole path
		}
		if f.at != nil {
			_ = f.at.Close()
		}
		f.dir, f.at = dir, at
	}
	file, err := f.at.Open(name)
	if err != nil {
		return f.root.Open(real)
	}
	return file, nil
}

// Close ends the use of the folder. It returns the error of closing it.
func (f *folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at != nil {
		_ = f.at.Close()
		f.dir, f.at = "", nil
	}
	return f.root.Close()
}

// walk is one look through a folder.
type walk struct {
	ctx    context.Context
	base   string // absolute, without links
	root   *os.Root
	leave  map[string]bool // paths below base that are left out
	rules  *sitefolder.Rules
	found  []found
	faults snapshot.PathErrors // why nothing can be published
	// refused is what is left out because it can't be read.
	refused snapshot.PathErrors
}

// found is a file that is to be published.
type found struct {
	disk string // path as the folder shows it, with slashes
	real string // path below the root with links resolved
	// info is what the look found: a stamp of it is never younger than the content
	// that is read later. It is nil where that can't be had.
	info fs.FileInfo
}

func (w *walk) fault(name, format string, args ...any) {
	w.faults = append(w.faults, &snapshot.PathError{Path: name, Reason: fmt.Sprintf(format, args...)})
}

// refuse notes a file that is left out.
func (w *walk) refuse(name, format string, args ...any) {
	w.refused = append(w.refused, &snapshot.PathError{Path: name, Reason: fmt.Sprintf(format, args...)})
}

// ignored reports whether a file or folder is left out. within is as that of
// sitefolder.Rules.
func (w *walk) ignored(name string, dir, within bool) bool {
	return w.leave[name] || w.rules.LeavesOut(name, dir, within)
}

// sortedFaults returns all that is wrong, in order of path.
func (w *walk) sortedFaults() snapshot.PathErrors {
	slices.SortStableFunc(w.faults, func(a, b *snapshot.PathError) int { return strings.Compare(a.Path, b.Path) })
	return w.faults
}

// look finds the files that are to be published, and returns their paths as they
// are found. What can't be published is among the walk's faults.
func (w *walk) look() (f *folder, paths []string, err error) {
	if w.rules, err = sitefolder.ReadRules(w.root.FS()); err != nil {
		return nil, nil, fmt.Errorf("read what the site publishes: %w", err)
	}
	if err := w.dir(".", ".", nil, false); err != nil {
		return nil, nil, err
	}
	f = &folder{root: w.root, real: make(map[string]string, len(w.found))}
	disk := make([]string, len(w.found))
	for i, one := range w.found {
		disk[i] = one.disk
	}
	names, twice := sitefolder.Names(disk)
	w.refused = append(w.refused, twice...)
	kept := w.found[:0]
	for i, one := range w.found {
		if name := names[i]; name != "" {
			f.real[name] = one.real
			paths, kept = append(paths, name), append(kept, one)
		}
	}
	w.found = kept
	if named, ok := errors.AsType[snapshot.PathErrors](snapshot.CheckNames(paths)); ok {
		w.faults = append(w.faults, named...)
	}
	if len(w.found) > snapshot.MaxEntries {
		return nil, nil, fmt.Errorf("%d files are more than %d", len(w.found), snapshot.MaxEntries)
	}
	return f, paths, nil
}

func (w *walk) folder(old *sources, progress func(int64)) (*folder, error) {
	f, paths, err := w.look()
	if err != nil {
		return nil, err
	}
	if fault := sitefolder.Config(func(name string) bool { return f.real[name] != "" }); fault != nil {
		w.faults = append(w.faults, fault)
	}
	if len(w.faults) > 0 {
		return nil, nil // reading everything would only delay the bad news
	}
	wanted := make(map[string]bool, len(w.found))
	for _, one := range w.found {
		wanted[one.disk] = true
	}
	times, err := commitTimes(w.ctx, w.base, wanted)
	if err != nil {
		return nil, fmt.Errorf("ask Git for times: %w", err)
	}
	f.Files = make([]snapshot.File, len(w.found))
	for i, one := range w.found {
		f.Files[i] = snapshot.File{Path: paths[i], Modified: times[one.disk]}
	}
	if err := w.digest(f, old, progress); err != nil {
		return nil, err
	}
	slices.SortFunc(f.Files, func(a, b snapshot.File) int { return strings.Compare(a.Path, b.Path) })
	if f.Bytes, err = sitefolder.Bytes(f.Files); err != nil {
		return nil, err
	}
	return f, nil
}

// dir looks through one folder: disk is its path as it is shown, real the
// one with links resolved, above the real paths of the folders that lead
// here, which detects links that form a circle.
// within says that the folder is left out, but for what the site's rules publish.
func (w *walk) dir(disk, real string, above []string, within bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	open, err := w.root.Open(filepath.FromSlash(real))
	if err != nil {
		w.unread(disk, err)
		return nil
	}
	entries, err := open.ReadDir(-1)
	_ = open.Close()
	if err != nil {
		w.unread(disk, err)
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		name, target := path.Join(disk, entry.Name()), path.Join(real, entry.Name())
		kind := entry.Type()
		info, _ := entry.Info() // read with the entry, as the folder was opened below a root
		if kind&fs.ModeSymlink != 0 {
			if w.ignored(name, false, within) || w.ignored(name, true, within) {
				continue
			}
			if target, info, err = w.link(target); err != nil {
				w.refuse(name, "%s", err)
				continue
			}
			kind = info.Mode().Type()
		}
		if w.ignored(name, kind.IsDir(), within) {
			continue
		}
		switch {
		case kind.IsDir():
			here := append(slices.Clone(above), real)
			if slices.Contains(here, target) {
				w.refuse(name, "the symbolic link points to a folder that contains it")
				continue
			}
			if err := w.dir(name, target, here, w.rules.Within(name, within)); err != nil {
				return err
			}
		case kind.IsRegular():
			if reason := w.closed(target, info); reason != "" {
				w.refuse(name, "%s", reason)
				continue
			}
			w.found = append(w.found, found{name, target, info})
		default:
			w.refuse(name, "it is %s, not a file", kindOf(kind))
		}
	}
	return nil
}

// link follows a symbolic link. Its end must lie in the folder, and not among
// hidden files: a link must not publish what .git holds.
func (w *walk) link(name string) (target string, info fs.FileInfo, err error) {
	end, err := filepath.EvalSymlinks(filepath.Join(w.base, filepath.FromSlash(name)))
	if err != nil {
		return "", nil, errors.New("the symbolic link points to nothing")
	}
	rel, err := filepath.Rel(w.base, end)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil, errors.New("the symbolic link points outside the folder")
	}
	target = filepath.ToSlash(rel)
	if target != "." {
		for element := range strings.SplitSeq(target, "/") {
			if strings.HasPrefix(element, ".") && element != ".well-known" {
				return "", nil, errors.New("the symbolic link points to a hidden file")
			}
		}
	}
	if info, err = w.root.Stat(rel); err != nil {
		return "", nil, errors.New("the symbolic link points to nothing")
	}
	return target, info, nil
}

// closed says why a file can't be opened, where its mode lets expect that: "" if it can.
func (w *walk) closed(real string, info fs.FileInfo) string {
	const everybody = 0o444
	if info != nil && info.Mode().Perm()&everybody == everybody {
		return ""
	}
	file, err := w.root.Open(filepath.FromSlash(real))
	if err != nil {
		return unreadable(err)
	}
	_ = file.Close()
	return ""
}

// unread notes a folder that can't be read. Without the site's own there is none.
func (w *walk) unread(name string, err error) {
	if name == "." {
		w.fault(name, "%s", unreadable(err))
		return
	}
	w.refuse(name, "%s", unreadable(err))
}

// halfRead notes a file that was found and could not be read to its end. Publishing
// without it would take it from readers, perhaps for a moment's trouble: so its author
// decides.
func (w *walk) halfRead(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		w.fault(name, "it was there and is gone: publish again when the folder is at rest")
		return
	}
	w.fault(name, "%s; to publish without it, add the line /%s to %s", unreadable(err), name, sitefolder.IgnoreFile)
}

// unreadable is the reason for what the system does not let us read.
func unreadable(err error) string {
	// The error's own path would be said twice.
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fmt.Sprintf("it can't be read: %s", err)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return "a device"
	}
	return "something special"
}

// Most files of a site are small, and publishing needs each three times: for its
// digest, for that of its pack, and to send it. Opening one takes longer than
// reading it, so small ones are held from the first time on.
const (
	maxHeldFile = 64 << 10
	maxHeld     = 16 << 20 // of all files together
)

// digest reads all files that old does not know, several at once, and fills in size
// and digest.
func (w *walk) digest(f *folder, old *sources, progress func(int64)) error {
	var mu sync.Mutex
	var bytesHeld atomic.Int64
	held := make([][]byte, len(f.Files))
	buffers := sync.Pool{New: func() any { return new([maxHeldFile + 1]byte) }}
	group, ctx := errgroup.WithContext(w.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	f.stamps = make(map[string]string)
	for i := range f.Files {
		file := &f.Files[i]
		if stamp := old.stamp(w.found[i].info); stamp != "" {
			f.stamps[file.Path] = stamp
			if old.known(file, stamp) {
				if progress != nil {
					progress(file.Size)
				}
				continue
			}
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			buf := buffers.Get().(*[maxHeldFile + 1]byte)
			defer buffers.Put(buf)
			data, err := sum(f, file, buf[:], old)
			if err != nil {
				mu.Lock()
				w.halfRead(file.Path, err)
				mu.Unlock()
				return nil
			}
			if data != nil && bytesHeld.Add(file.Size) <= maxHeld {
				held[i] = bytes.Clone(data)
			}
			if file.Size > snapshot.MaxFileBytes {
				mu.Lock()
				w.fault(file.Path, "it has %d bytes, more than %d", file.Size, int64(snapshot.MaxFileBytes))
				mu.Unlock()
			}
			if progress != nil {
				progress(file.Size)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.held = make(map[string][]byte, len(held))
	for i, data := range held {
		if data != nil {
			f.held[f.Files[i].Path] = data
		}
	}
	return nil
}

// sum reads a file with the help of buf and fills in size and digest. It returns
// what the file has, a part of buf, if that is longer than the file. A large file may
// be copied to old.
func sum(f *folder, file *snapshot.File, buf []byte, old *sources) (data []byte, err error) {
	in, err := f.open(f.real[file.Path])
	if err != nil {
		return nil, err
	}
	defer in.Close()
	n, err := io.ReadFull(in, buf)
	h := sha256.New()
	h.Write(buf[:n])
	size := int64(n)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		data, err = buf[:n], nil
	case err == nil:
		var to io.Writer = h
		var copied *packCopy
		if info, serr := in.Stat(); serr == nil {
			copied = old.copyFile(info.Size())
		}
		if copied != nil {
			_, _ = copied.Write(buf[:n])
			to = io.MultiWriter(h, copied)
		}
		var rest int64
		// Without the methods of a file, which would take a buffer of their own.
		rest, err = io.CopyBuffer(to, struct{ io.Reader }{in}, buf)
		size += rest
		if copied != nil && err != nil {
			copied.drop()
		} else if copied != nil {
			old.copied(hex.EncodeToString(h.Sum(nil)), copied)
		}
	}
	file.SHA256, file.Size = hex.EncodeToString(h.Sum(nil)), size
	return data, err
}
