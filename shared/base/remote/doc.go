// Package remote fetches files of other hosts for an export, where a project
// allows it: specifications, pictures, fonts, styles and scripts that a site
// names by their address.
//
//	hosts.go    Hosts: which hosts a project allows
//	address.go  which addresses of a network are never spoken to
//	dial.go     Dialer: connections to public addresses alone
//	callback.go Callbacks: which addresses of callers are called back
//	fetch.go    Fetcher: one file, bounded in size, time and redirects
//	probe.go    Prober: whether an address leads anywhere, asked politely
//	kind.go     what a file must be, by its content type
//	shown.go    Shown: what logs and reports say of an address; Visible: text
//	            from elsewhere on a terminal
//	watch.go    Watch: the end of a transfer that stalls
//	remotetest  a network in memory, for tests
//
// What a page's author writes decides what is asked for, so that a request here
// is one that a stranger makes from inside the operator's network. Three things
// hold, each by itself:
//
//   - The operator names the hosts. No name is allowed by default, and redirects
//     may lead to allowed hosts alone. Only https, and only the port 443 unless
//     the operator names another.
//   - A host's addresses are looked up once for a connection, all of them must be
//     public (address.go), and the connection is made to the address that was
//     checked: a name that means something else a moment later gains nothing.
//     The socket is checked again before it connects (dial.go).
//   - No credentials, cookies or referrers go along, no proxy is asked, and
//     what comes back is bounded and must have a type that was asked for.
//
// The package keeps nothing. Package export keeps what was fetched beside a
// job's other objects, so that later steps and retries read that copy.
package remote
