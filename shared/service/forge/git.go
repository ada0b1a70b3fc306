package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v6/osfs"
	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/cache"
	"github.com/go-git/go-git/v6/plumbing/protocol/capability"
	"github.com/go-git/go-git/v6/plumbing/protocol/packp"
	"github.com/go-git/go-git/v6/plumbing/transport"
	githttp "github.com/go-git/go-git/v6/plumbing/transport/http"
	"github.com/go-git/go-git/v6/storage/filesystem"
)

// This file is all that knows go-git: the Git protocol over HTTP, and packs as
// they lie on a disk. Objects are read and written by objects.go.

const (
	// maxRefsBytes bounds a server's list of branches and tags.
	maxRefsBytes = 64 << 20
	// cacheBytes is how much of what deltas stand on is kept in memory.
	cacheBytes = 8 << 20
	// maxObjectBytes is the largest commit, tag or tree that is read.
	maxObjectBytes = 16 << 20
)

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// server is a repository's server, with its list of branches and tags.
type server struct {
	session transport.Session
	refs    map[string]string // full names to ids
	head    string            // the full name of the default branch, "" if there is none
}

// connect asks a repository's server for its branches, and for what it can do.
func (f *Forge) connect(ctx context.Context, r Repository, c Credential, service string) (*server, error) {
	ctx, x := withExchange(ctx, maxRefsBytes)
	auth := func(q *http.Request) error {
		if c.Token != "" {
			q.SetBasicAuth(c.username(r.Kind), c.Token)
		}
		return nil
	}
	t := githttp.NewTransport(githttp.Options{Client: f.client, Authorizer: auth})
	session, err := t.Handshake(ctx, &transport.Request{URL: r.remote(), Command: service})
	if status, header := x.last(); status == http.StatusOK && header.Get("Content-Type") != "application/x-"+service+"-advertisement" {
		// A page for people, or files of a repository without its program.
		return nil, ErrNotFound.saying("the address does not lead to a Git repository")
	}
	if err != nil {
		return nil, gitError(err, x, c, service)
	}
	if slices := session.Capabilities().Get(capability.ObjectFormat); len(slices) > 0 && slices[0] != "sha1" {
		return nil, invalid("the repository names its objects by %s; only sha1 is supported", c.clean(slices[0]))
	}
	s := &server{session: session, refs: map[string]string{}}
	refs, err := session.GetRemoteRefs(ctx)
	if err != nil && !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, gitError(err, x, c, service)
	}
	for _, ref := range refs {
		switch {
		case ref.Type() == plumbing.HashReference:
			s.refs[ref.Name().String()] = ref.Hash().String()
		case ref.Name() == plumbing.HEAD:
			s.head = ref.Target().String()
		}
	}
	return s, nil
}

// advertises reports whether the server lists an id.
func (s *server) advertises(id string) bool {
	for _, have := range s.refs {
		if have == id {
			return true
		}
	}
	return false
}

// can reports whether the server can do something.
func (s *server) can(what string) bool { return s.session.Capabilities().Supports(what) }

// givesAnyCommit reports whether the server lets commits be asked for by id that
// no branch is at.
func (s *server) givesAnyCommit() bool { return s.can(capability.AllowReachableSHA1InWant) }

// pack is what was fetched of a repository: packs of objects in a folder. It is
// safe for concurrent use.
type pack struct {
	dir string

	mu sync.Mutex
	st *filesystem.Storage
}

// newPack makes an empty one in a folder of its own below dir.
func newPack(dir string) (*pack, error) {
	d, err := os.MkdirTemp(dir, "bindery-git-")
	if err != nil {
		return nil, err
	}
	p := &pack{dir: d}
	p.st = filesystem.NewStorageWithOptions(osfs.New(d), cache.NewObjectLRU(cacheBytes), filesystem.Options{
		ExclusiveAccess: true, KeepDescriptors: true, LargeObjectThreshold: 1 << 20,
	})
	if err := errors.Join(p.st.Init(), os.MkdirAll(filepath.Join(d, "objects", "pack"), 0o700)); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// close removes what was fetched.
func (p *pack) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.st.Close(), os.RemoveAll(p.dir))
}

// fetch brings an object and all that it needs: of a commit its files as they
// are now, without the large ones if the server can leave them out.
func (p *pack) fetch(ctx context.Context, s *server, id string, shallow bool, limit, large int64, c Credential) error {
	ctx, x := withExchange(ctx, limit)
	said := &sayings{}
	req := &transport.FetchRequest{Wants: []plumbing.Hash{plumbing.NewHash(id)}, Progress: said}
	if shallow && s.can(capability.Shallow) {
		req.Depth = 1
	}
	if shallow && s.can(capability.Filter) {
		req.Filter = packp.FilterBlobLimit(uint64(large), packp.BlobLimitPrefixNone)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := s.session.Fetch(ctx, p.st, req); err != nil {
		return gitError(fmt.Errorf("%w %s", err, said), x, c, uploadPack)
	}
	return nil
}

// object returns a commit, tree or tag.
func (p *pack) object(kind, id string) ([]byte, error) {
	t, err := plumbing.ParseObjectType(kind)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := p.st.EncodedObject(t, plumbing.NewHash(id))
	if err != nil {
		return nil, err
	}
	if o.Size() > maxObjectBytes {
		return nil, ErrTooLarge.saying("a folder of the repository is too large")
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// kind returns what an object is: "commit", "tree", "tag", "blob".
func (p *pack) kind(id string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := p.st.EncodedObject(plumbing.AnyObject, plumbing.NewHash(id))
	if err != nil {
		return "", err
	}
	return o.Type().String(), nil
}

// size returns the size of a blob, or -1 if it was left out.
func (p *pack) size(id string) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.st.EncodedObjectSize(plumbing.NewHash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return -1, nil
	}
	return n, err
}

// blob returns the content of a file, nil if it was left out.
func (p *pack) blob(id string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, err := p.st.EncodedObject(plumbing.BlobObject, plumbing.NewHash(id))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o.Reader()
}

// push moves a branch from one commit to another, "" being none, and brings the
// objects of a packfile along.
func (s *server) push(ctx context.Context, branch, from, to string, packfile []byte, c Credential) error {
	ctx, x := withExchange(ctx, maxRefsBytes)
	said := &sayings{}
	req := &transport.PushRequest{
		Packfile: io.NopCloser(bytes.NewReader(packfile)), Progress: said,
		Commands: []*packp.Command{{Name: plumbing.NewBranchReferenceName(branch), Old: plumbing.NewHash(cmp.Or(from, zeroID)), New: plumbing.NewHash(to)}},
	}
	err := s.session.Push(ctx, nil, req)
	if err == nil {
		return nil
	}
	command, refused := errors.AsType[packp.CommandStatusErr](err)
	if unpack, ok := errors.AsType[packp.UnpackStatusErr](err); ok {
		command.Status, refused = unpack.Status, true
	}
	if refused {
		reason := c.clean(command.Status)
		return ErrDenied.saying(ErrDenied.message + ": " + reason).with(c.clean(said.String()))
	}
	return gitError(fmt.Errorf("%w %s", err, said), x, c, receivePack)
}

// sayings keep the beginning of what a server says to people.
type sayings struct {
	mu sync.Mutex
	b  []byte
}

func (s *sayings) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, p[:min(len(p), max(0, 4*maxDetail-len(s.b)))]...)
	return len(p), nil
}

func (s *sayings) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.b))
}

// gitError is an error of the Git protocol as one of ours.
func gitError(err error, x *exchange, c Credential, service string) *Error {
	if x.exceeded() {
		return ErrTooLarge.with("more bytes than the limit came")
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	status, header := x.last()
	if e := statusError(status, header, c); e != nil {
		if status == http.StatusForbidden && service == receivePack && e.code == CodeCredential {
			e = ErrDenied.saying("the credential may not push to the repository")
		}
		return e.with(c.clean(err.Error()))
	}
	text := err.Error()
	if strings.Contains(text, "not our ref") || strings.Contains(text, "unadvertised object") {
		return ErrRefNotFound.with(c.clean(text))
	}
	return failed(err, c)
}
