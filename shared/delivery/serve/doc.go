// Package serve brings a bundle to readers: it fetches it, checks and unpacks
// it into a folder of versions, switches to it in one step, and answers
// requests from it. The rules of answers are package site's. The program bindery-serve
// adds flags to this package.
//
//	doc.go        this map
//	error.go      what can go wrong, for operators: a code and what to do
//	source.go     where a bundle is: https, s3, file
//	http.go       https links, with a CA of one's own and proxies
//	s3.go         objects of S3, by whatever identity the process has
//	renew.go      a fresh link, once the one that was given is refused
//	download.go   a download that resumes where it stopped
//	volume.go     the folder of versions: unpack, activate, keep, remove
//	proof.go      what shows of which archive a version on the volume is
//	verify.go     what is on the volume, compared with what was exported
//	want.go       which version a bundle must have
//	ranged.go     a version that is read from its archive, without a copy
//	lock_*.go     locks of files, and making writes survive a loss of power
//	pack.go       compressed forms of files, made once for each version
//	site.go       one version, opened: its files and their forms
//	media.go      types of files by their ending
//	policy.go     the Content-Security-Policy of a bundle
//	encoding.go   which compressed form a reader takes
//	cache.go      small files in memory
//	handler.go    requests of readers
//	join.go       the header of a response and its body, sent in one system call
//	status.go     what readiness reports
//	metrics.go    figures in Prometheus's text format
//	admin.go      requests of operators: health, readiness, metrics
//	updater.go    which version is shown, and when another one is looked for
//	server.go     ports, signals of the caller, the end
//
// # The folder
//
//	lock                    held while a process changes the folder
//	download/               a partially downloaded archive
//	versions/DIGEST/site/   the files of a bundle; DIGEST is that of the archive
//	versions/DIGEST/record.json, end, packed/, lock
//	current                 a link to the active version
//
// Several servers may share a folder: one fetches, the others wait and then
// find the version; none removes what another shows.
//
// # The link
//
// A link to a bundle is a secret: it gives access to the site. It is in no log,
// no metric and no error; those name the host at most.
package serve
