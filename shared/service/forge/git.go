package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/protocol/capability"
	"github.com/go-git/go-git/v6/plumbing/protocol/packp"
	"github.com/go-git/go-git/v6/plumbing/transport"
	githttp "github.com/go-git/go-git/v6/plumbing/transport/http"
	"github.com/go-git/go-git/v6/storage/memory"
)

// This file is all that knows go-git: the Git protocol over HTTP. What comes is
// read by pack.go: go-git keeps all objects that differ from others in memory.

// maxRefsBytes bounds a server's list of branches and tags.
const maxRefsBytes = 64 << 20

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
	into := &receiver{Storage: memory.NewStorage(), pack: p, limit: limit}
	err := s.session.Fetch(ctx, into, req)
	if !errors.Is(err, into.err) {
		err = errors.Join(err, into.err)
	}
	if err != nil {
		return gitError(fmt.Errorf("%w %s", err, said), x, c, uploadPack)
	}
	return nil
}

// receiver is go-git's storage for one fetch, of which the pack goes to a file.
type receiver struct {
	*memory.Storage
	pack  *pack
	limit int64
	err   error
}

// PackfileWriter satisfies go-git's storer.PackfileWriter.
func (r *receiver) PackfileWriter() (io.WriteCloser, error) {
	in, out := io.Pipe()
	done := make(chan error)
	go func() {
		err := r.pack.add(in, r.limit)
		done <- errors.Join(err, in.CloseWithError(err))
	}()
	return &packWriter{out, done, r}, nil
}

type packWriter struct {
	*io.PipeWriter
	done chan error
	r    *receiver
}

// Close waits until the pack was read.
func (w *packWriter) Close() error {
	err := w.PipeWriter.Close()
	w.r.err = <-w.done
	return errors.Join(err, w.r.err)
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
