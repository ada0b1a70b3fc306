package remote

import (
	"cmp"
	"net/url"
	"strings"
)

// Hosts is what a project allows to be asked: names of hosts such as
// "files.example.com", with "*." in front for all names below one, and with a
// port after a colon where it is not 443. The zero value allows none.
type Hosts struct {
	exact map[string]bool // host and port
	below []string        // ".example.com:443"
}

// NewHosts makes Hosts of their names. Names that can't be a host's allow
// nothing.
func NewHosts(names []string) Hosts {
	h := Hosts{exact: map[string]bool{}}
	for _, name := range names {
		host, port, with := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
		if !with {
			port = "443"
		}
		rest, wild := strings.CutPrefix(host, "*.")
		if !validHost(rest) || !validPort(port) {
			continue
		}
		if wild {
			h.below = append(h.below, "."+rest+":"+port)
		} else {
			h.exact[rest+":"+port] = true
		}
	}
	return h
}

// Empty reports whether no host is allowed.
func (h Hosts) Empty() bool { return len(h.exact) == 0 && len(h.below) == 0 }

// Allows returns why an address may not be asked for, as the end of a sentence
// about it, or "". It looks at the address alone: where its host's name
// leads is checked when it is asked.
func (h Hosts) Allows(u *url.URL) (problem string) {
	switch {
	case u.Scheme != "https":
		return "does not begin with https://"
	case u.User != nil:
		return "has a user's name or password"
	case u.Opaque != "":
		return "names no host"
	}
	host, port := strings.ToLower(u.Hostname()), cmp.Or(u.Port(), "443")
	// Numbers in all their forms (decimal, octal, in brackets) are not names.
	if !validHost(host) {
		return "names no host by its name"
	}
	if !validPort(port) {
		return "has an invalid port"
	}
	name := host + ":" + port
	if h.exact[name] {
		return ""
	}
	for _, suffix := range h.below {
		if strings.HasSuffix(name, suffix) && len(name) > len(suffix) {
			return ""
		}
	}
	return "is on a host that the project does not allow"
}

// Parse reads an address that a site names and returns the form in which it is
// asked for: without its fragment. The problem, if any, says why it can't be
// asked for.
func (h Hosts) Parse(address string) (u *url.URL, problem string) {
	if len(address) > maxAddress {
		return nil, "is too long"
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, "is not an address"
	}
	if problem := h.Allows(u); problem != "" {
		return nil, problem
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	return u, ""
}

// maxAddress is the most bytes of an address that is asked for.
const maxAddress = 2048

// validHost reports whether a host has a name, not a number in any form: at least
// two labels of letters, digits and hyphens, the last of which has a letter (RFC
// 1123, 2.1) and is not one that never leaves a network (RFC 6761, RFC 6762, RFC
// 8375, RFC 9476).
func validHost(host string) bool {
	if len(host) > 253 {
		return false
	}
	labels := strings.Split(host, ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	switch last {
	case "localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion", "alt":
		return false
	}
	// "0x7f" is a number as well.
	return strings.IndexFunc(last, func(r rune) bool { return r >= 'a' && r <= 'z' }) >= 0 && !strings.HasPrefix(last, "0x")
}

func validPort(port string) bool {
	n := 0
	for _, c := range []byte(port) {
		if c < '0' || c > '9' || n > 65535 {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return n > 0 && n <= 65535 && port[0] != '0'
}
