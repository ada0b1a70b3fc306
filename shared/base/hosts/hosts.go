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

// IsAddress reports whether a name is an IP address. Names of other sites can be made to lead
// to this machine; addresses can't.
func IsAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// IsLoopback reports whether a name leads to the machine that asks: localhost, or a loopback
// address.
func IsLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Unmap().IsLoopback()
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
