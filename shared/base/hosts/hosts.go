// Package hosts reads names of hosts in requests.
package hosts

import (
	"net"
	"net/netip"
	"os"
	"strings"
)

// Name returns the name in a Host header: in lower case, without port, brackets and the
// dot at the end.
func Name(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// IsAddress reports whether a name is an IP address. No page of another site can make a
// browser send one for a server that it did not mean.
func IsAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// OfMachine returns the names by which browsers may call this machine: its own, and the one
// that a server was told to listen on.
func OfMachine(listen string) []string {
	var names []string
	if name, err := os.Hostname(); err == nil {
		name = strings.ToLower(name)
		names = append(names, name, strings.TrimSuffix(name, ".local")+".local")
	}
	if listen != "" && !IsAddress(listen) {
		names = append(names, strings.ToLower(listen))
	}
	return names
}
