package forge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The Git protocol over HTTP, in its version 0, which every server speaks: a list
// of branches, then one request for a pack or with one (gitprotocol-http,
// gitprotocol-pack). History is not negotiated: a fetch has nothing yet, and a push
// sends all new objects. Only to find out whether a branch has a commit, we ask for
// what the branch has and the commit's parent doesn't.

// maxRefsBytes is the most bytes of a server's list of branches and tags, and of its
// answer to a push.
const maxRefsBytes = 64 << 20

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// server is a repository's server, with its list of branches and tags.
type server struct {
	f       *Forge
	r       Repository
	c       Credential
	service string
	base    string // the repository's address, after redirects

	refs map[string]string // full names to ids
	tags map[string]string // full names of annotated tags to the ids of what they point to
	head string            // the full name of the default branch, "" if there is none
	caps []string          // what it can do: words, some with a value after "="
}

// connect asks a repository's server for its branches, and for what it can do.
func (f *Forge) connect(ctx context.Context, r Repository, c Credential, service string) (*server, error) {
	s := &server{f: f, r: r, c: c, service: service, base: r.remote().String(), refs: map[string]string{}, tags: map[string]string{}}
	ctx, x := withExchange(ctx, maxRefsBytes)
	res, err := s.ask(ctx, http.MethodGet, "/info/refs?service="+service, "application/x-"+service+"-advertisement", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	// From here on, use the new address of a repository that was renamed.
	if base, ok := strings.CutSuffix(res.Request.URL.Path, "/info/refs"); ok {
		s.base = res.Request.URL.Scheme + "://" + res.Request.URL.Host + base
	}
	if err := s.readRefs(&lines{r: bufio.NewReader(res.Body)}); err != nil {
		return nil, s.failed(err, x)
	}
	for _, word := range s.caps {
		if head, ok := strings.CutPrefix(word, "symref=HEAD:"); ok {
			s.head = head
		}
	}
	if s.head == "" { // an old server, or a default branch without a commit
		for _, name := range []string{"refs/heads/main", "refs/heads/master"} {
			if id := s.refs[name]; id != "" && id == s.refs["HEAD"] {
				s.head = name
				break
			}
		}
	}
	return s, nil
}

// readRefs reads the list of branches and tags.
func (s *server) readRefs(in *lines) error {
	line, err := in.next()
	if err == nil && !strings.HasPrefix(string(line), "# service=") {
		return fmt.Errorf("the list of branches begins with %q", line)
	}
	if err == nil {
		_, err = in.next() // the flush after it
	}
	for err == nil {
		if line, err = in.next(); err != nil || line == nil {
			return err
		}
		text, caps, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		if caps != "" {
			s.caps = strings.Fields(caps)
		}
		id, name, ok := strings.Cut(text, " ")
		switch {
		case text == "version 1" || id == "shallow" || name == "capabilities^{}": // that one of an empty repository
		case id == "ERR":
			return ErrNotFound.with(s.c.clean(text))
		case !ok || !isID(id):
			if format := s.value("object-format"); format != "" && format != "sha1" {
				return invalid("the repository names its objects by %s; only sha1 is supported", s.c.clean(format))
			}
			return fmt.Errorf("the list of branches has the line %q", text)
		case strings.HasSuffix(name, "^{}"):
			s.tags[strings.TrimSuffix(name, "^{}")] = id
		default:
			s.refs[name] = id
		}
	}
	return err
}

// ask makes a request and returns its answer, whose body is to be closed. An
// answer of another content type is not from a Git server.
func (s *server) ask(ctx context.Context, method, path, accept string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return nil, failed(err, s.c)
	}
	// Some servers choose their protocol by the name of the program.
	req.Header.Set("User-Agent", "git/2 bindery")
	req.Header.Set("Accept", accept)
	if body != nil {
		req.Header.Set("Content-Type", "application/x-"+s.service+"-request")
	}
	if s.c.Token != "" {
		req.SetBasicAuth(s.c.username(s.r.Kind), s.c.Token)
	}
	res, err := s.f.client.Do(req)
	if err != nil {
		return nil, failed(err, s.c)
	}
	e := statusError(res.StatusCode, res.Header, s.c)
	switch {
	case e != nil:
		if e.status == http.StatusForbidden && s.service == receivePack && e.code == CodeCredential {
			e = ErrDenied.saying("the credential may not push to the repository")
		}
		said, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // for the log; what came will do
		e = e.with(s.c.clean(string(said)))
	case res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != accept:
		// A page for people, or the files of a repository behind a plain web server.
		e = ErrNotFound.saying("the address does not lead to a Git repository")
	default:
		return res, nil
	}
	return nil, errors.Join(e, res.Body.Close())
}

// value returns the value of one of the server's capabilities, "" if it has none.
func (s *server) value(word string) string {
	for _, w := range s.caps {
		if v, ok := strings.CutPrefix(w, word+"="); ok {
			return v
		}
	}
	return ""
}

// can reports whether the server has a capability.
func (s *server) can(what string) bool { return slices.Contains(s.caps, what) }

// named returns the id that a branch or tag is at, "" if neither has that
// name. Full names work, too.
func (s *server) named(ref string) string {
	for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
		if id := s.refs[name]; id != "" && (name != ref || strings.HasPrefix(ref, "refs/")) {
			return id
		}
	}
	return ""
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

// servesAnyCommit reports whether the server advertises that commits can be fetched
// which no branch is at. Git's own server allows that over HTTP without advertising
// it.
func (s *server) servesAnyCommit() bool { return s.can("allow-reachable-sha1-in-want") }

// words returns those capabilities in list that the server has, for a request.
func (s *server) words(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(w string) bool { return !s.can(w) }), " ")
}

// fetch adds an object and all that it needs to a pack. If files is set, the object is
// a commit of which only the files are needed, without its history, and without files
// of large bytes and more if the server can omit them.
func (s *server) fetch(ctx context.Context, p *pack, id string, files bool, large int64) error {
	var ask bytes.Buffer
	filter, shallow := files && s.can("filter"), files && s.can("shallow")
	words := []string{"ofs-delta", "side-band-64k"}
	if filter {
		words = append(words, "filter")
	}
	writeLine(&ask, "want "+id+" "+s.words(words...)+"\n")
	if shallow {
		writeLine(&ask, "deepen 1\n")
	}
	if filter {
		writeLine(&ask, "filter blob:limit="+strconv.FormatInt(large, 10)+"\n")
	}
	ask.WriteString("0000")
	writeLine(&ask, "done\n")
	_, err := s.receive(ctx, p, &ask)
	return err
}

// depths are how many commits of a branch fetchBelow asks for: first the newest two,
// as the commit is usually the parent of ours; 0 means all of them.
var depths = []int{2, 64, 0}

// fetchBelow adds a commit and its files to a pack, from a server that can be asked
// only for what a branch or tag is at. It returns ErrRefNotFound if none of refs has
// the commit.
func (s *server) fetchBelow(ctx context.Context, p *pack, id string, refs []string) error {
	var heads []string
	for _, ref := range refs {
		if at := s.named(ref); at != "" && !slices.Contains(heads, at) {
			heads = append(heads, at)
		}
	}
	for _, depth := range depths {
		if len(heads) == 0 || depth > 0 && !s.can("shallow") {
			continue
		}
		var ask bytes.Buffer
		words := " " + s.words("ofs-delta", "side-band-64k")
		for _, at := range heads {
			writeLine(&ask, "want "+at+words+"\n")
			words = ""
		}
		if depth > 0 {
			writeLine(&ask, "deepen "+strconv.Itoa(depth)+"\n")
		}
		ask.WriteString("0000")
		writeLine(&ask, "done\n")
		if _, err := s.receive(ctx, p, &ask); err != nil {
			return err
		}
		if p.kind(id) == "commit" {
			return nil
		}
	}
	return ErrRefNotFound.saying("no branch has this commit, or the server does not let it be fetched")
}

// fetchSince adds to a pack what an object needs and the commit since doesn't have,
// without files if the server can omit them. It reports whether the server knows that
// commit; if not, it adds nothing.
func (s *server) fetchSince(ctx context.Context, p *pack, id, since string) (known bool, err error) {
	var ask bytes.Buffer
	writeLine(&ask, "want "+id+" "+s.words("ofs-delta", "side-band-64k", "filter")+"\n")
	if s.can("filter") {
		writeLine(&ask, "filter tree:0\n")
	}
	ask.WriteString("0000")
	writeLine(&ask, "have "+since+"\n")
	writeLine(&ask, "done\n")
	return s.receive(ctx, p, &ask)
}

// receive sends a request of a fetch and adds the answer to a pack. If the request
// names a commit as known, receive reports whether the server has it, and adds
// nothing if not.
func (s *server) receive(ctx context.Context, p *pack, ask *bytes.Buffer) (known bool, err error) {
	limit, named := s.f.opt.MaxBytes, bytes.Contains(ask.Bytes(), []byte("have "))
	ctx, x := withExchange(ctx, limit)
	res, err := s.ask(ctx, http.MethodPost, "/"+uploadPack, "application/x-"+uploadPack+"-result", ask)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	in := &lines{r: bufio.NewReaderSize(res.Body, 64<<10)}
	for {
		line, err := in.next()
		if err != nil {
			return false, s.failed(err, x)
		}
		text := strings.TrimSpace(string(line))
		if reason, ok := strings.CutPrefix(text, "ERR "); ok {
			return false, s.refused(reason)
		}
		known = strings.HasPrefix(text, "ACK ")
		if text == "NAK" && named {
			return false, nil
		}
		if text == "NAK" || known {
			break // what follows "shallow" lines and a flush
		}
	}
	var from io.Reader = in.r
	if s.can("side-band-64k") {
		from = &band{lines: in}
	}
	if err := p.add(from, limit); err != nil {
		return known, s.failed(err, x)
	}
	return known, nil
}

// refused converts a server's reason for refusing a request to an error.
func (s *server) refused(reason string) *Error {
	if strings.Contains(reason, "not our ref") || strings.Contains(reason, "unadvertised object") {
		return ErrRefNotFound.with(s.c.clean(reason))
	}
	return failed(errors.New(reason), s.c)
}

// push moves a branch from one commit to another, where "" means that it doesn't
// exist, and sends the objects of a packfile.
func (s *server) push(ctx context.Context, branch, from, to string, packfile []byte) error {
	var send bytes.Buffer
	writeLine(&send, cmp.Or(from, zeroID)+" "+to+" refs/heads/"+branch+"\x00"+s.words("report-status", "side-band-64k"))
	send.WriteString("0000")
	send.Write(packfile)
	ctx, x := withExchange(ctx, maxRefsBytes)
	res, err := s.ask(ctx, http.MethodPost, "/"+receivePack, "application/x-"+receivePack+"-result", &send)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := &lines{r: bufio.NewReader(res.Body)}
	said := &band{lines: in}
	if s.can("side-band-64k") {
		in = &lines{r: bufio.NewReader(said)}
	}
	done := false
	for {
		line, err := in.next()
		if err != nil {
			return s.failed(err, x)
		}
		if line == nil {
			break
		}
		text := strings.TrimSpace(string(line))
		reason, failed := strings.CutPrefix(text, "ng refs/heads/"+branch+" ")
		if unpack, ok := strings.CutPrefix(text, "unpack "); ok && unpack != "ok" {
			reason, failed = unpack, true
		}
		if failed {
			_, _ = io.Copy(io.Discard, in.r) // what it says to people comes last
			return ErrDenied.saying(ErrDenied.message + ": " + cut(s.c.clean(reason), 200)).with(s.c.clean(string(said.said)))
		}
		done = done || text == "ok refs/heads/"+branch
	}
	if !done {
		return s.failed(errors.New("the server did not report the result of the push"), x)
	}
	return nil
}

// failed converts an error of an exchange with the server to an *Error.
func (s *server) failed(err error, x *exchange) *Error {
	if x.exceeded() {
		return ErrTooLarge.with("more bytes than the limit came")
	}
	return failed(err, s.c)
}

// writeLine writes a line of the protocol, preceded by its length.
func writeLine(b *bytes.Buffer, line string) { fmt.Fprintf(b, "%04x%s", len(line)+4, line) }

// lines reads lines of the protocol.
type lines struct {
	r   *bufio.Reader
	buf [65520]byte
}

// next returns the next line, nil for a flush. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	if _, err := io.ReadFull(l.r, l.buf[:4]); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n, err := strconv.ParseUint(string(l.buf[:4]), 16, 16)
	switch {
	case err != nil || n == 2 || n == 3 || n > uint64(len(l.buf)):
		return nil, fmt.Errorf("the server sends a line that begins with %q", l.buf[:4])
	case n < 4: // flush, or the delimiter of a later version
		return nil, nil
	}
	line := l.buf[:n-4]
	if _, err := io.ReadFull(l.r, line); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return line, nil
}

// band reads the data that a server sends interleaved with messages for people.
type band struct {
	lines *lines
	rest  []byte
	said  []byte // the beginning of that
	end   bool
}

// Read satisfies io.Reader.
func (b *band) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.end {
			return 0, io.EOF
		}
		line, err := b.lines.next()
		switch {
		case err != nil:
			return 0, err
		case line == nil:
			b.end = true
		case len(line) == 0:
		case line[0] == 1:
			b.rest = line[1:]
		case line[0] == 2:
			b.said = append(b.said, line[1:min(len(line), max(1, 4*maxDetail-len(b.said)))]...)
		default:
			return 0, fmt.Errorf("the server says: %s %s", line[1:], b.said)
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
