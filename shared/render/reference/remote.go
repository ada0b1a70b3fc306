package reference

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Remotes holds copies of specifications on other hosts. A Reader without one
// asks no other host.
type Remotes interface {
	// Announce names the addresses that are read next, so that they can be
	// fetched together.
	Announce(addresses []string)
	// Read returns the copy of what is at an absolute address. The problem says
	// why there is none, as the end of a sentence about the address.
	Read(address string) (data []byte, problem string)
}

// notAsked is the problem of a Reader without Remotes.
const notAsked = "is on another host, which is not asked"

// UseRemotes lets the Reader read specifications on other hosts, and files that
// they refer to. It is called before anything is read.
func (r *Reader) UseRemotes(from Remotes) { r.remotes = from }

// Announce names to the Reader's Remotes the specifications that are read next.
func (r *Reader) Announce(addresses []string) {
	if r.remotes != nil && len(addresses) > 0 {
		r.remotes.Announce(addresses)
	}
}

// Fetch readies a specification on another host: from then on its address
// stands for a file of the site. The problem, if any, says why it can't be read,
// as the end of a sentence about it.
func (r *Reader) Fetch(address string) (problem string) {
	address = absolute(address)
	if r.remotes == nil {
		return notAsked
	}
	if d, ok := r.docs[address]; ok {
		return d.problem
	}
	data, problem := r.remotes.Read(address)
	if problem == "" && (len(data) > maxFileBytes || r.bytes+int64(len(data)) > maxBytes) {
		problem = fmt.Sprintf("is too large: a site's specifications may have %d MiB", maxBytes>>20)
	}
	d := &document{file: address, problem: problem}
	r.docs[address] = d
	if problem == "" {
		r.bytes += int64(len(data))
		r.parse(d, data)
	}
	return problem
}

// absolute is the address of a specification on another host as it is asked for.
func absolute(address string) string {
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	address, _, _ = strings.Cut(address, "#")
	return address
}

// fromFile returns a server's address, which OpenAPI takes as relative to its file (OpenAPI
// 3.1, 4.8.5). It stays as it is in a file of the site.
func fromFile(file, address string) string {
	if !Remote(file) || strings.Contains(address, "://") {
		return address
	}
	base, err := url.Parse(absolute(file))
	if err != nil {
		return address
	}
	switch {
	case strings.HasPrefix(address, "//"):
		return base.Scheme + ":" + address
	case !strings.HasPrefix(address, "/"): // not by net/url, which escapes {variables}
		address = path.Join("/", path.Dir(base.Path), address)
	}
	return base.Scheme + "://" + base.Host + address
}

// remoteFile is the address that a reference in a file leads to, where that is
// on another host: it says so, or the file itself is from there.
func remoteFile(from, ref string) (string, bool) {
	if Remote(ref) {
		return absolute(ref), true
	}
	if !Remote(from) {
		return "", false
	}
	base, err := url.Parse(from)
	if err != nil {
		return ref, true
	}
	to, err := base.Parse(ref)
	if err != nil {
		return ref, true
	}
	return to.String(), true
}
