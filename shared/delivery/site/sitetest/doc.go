// Package sitetest has the rules of package site as tests, for every storage of a
// site, and a storage in memory that fails on demand.
//
//	doc.go      this map
//	memory.go   Memory
//	contract.go Run: addresses, headers, forms, conditions
//	range.go    parts of files
//	failure.go  storages that are damaged, or don't answer (RunFailing)
//	discard.go  Discard, for benchmarks
package sitetest
