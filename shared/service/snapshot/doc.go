// Package snapshot knows what a domain's site was at one moment, as formats:
// a manifest (path, digest, size, place, time of each file) and packs, objects
// of up to 32 MiB in which files lie one after another. So a site of 20,000
// small files is tens of objects and not 20,000, and a site with one change is
// one small pack more.
//
//	path.go      pathFault: names that can be part of an archive and of a URL
//	manifest.go  Manifest, Encode, Decode, CheckEntries
//	plan.go      Plan: which files are new, and the packs they go into
//	fs.go        FS: a read-only file system over manifest and packs
//	sweep.go     Verify: every pack is there; Unreferenced: packs that may go
//
// The package keeps no records: which snapshots there are, whose they are and
// which is the newest is package admin's business.
package snapshot
