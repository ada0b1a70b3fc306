// Package local is Bindery's backend for one machine: the four ports of
// package store on SQLite and a folder.
//
//	local.go    Open: the folder, its database, its lock
//	lock_*.go   that lock, by operating system
//	store.go    records (store.Store) in one SQLite table of the shape that
//	            the DynamoDB table has, with DynamoDB's limits
//	objects.go  files (store.Objects) and the table that names them
//	uploads.go  files that are written in parts
//	links.go    signed links to objects, and the handler that honours them
//	runner.go   executions (store.Runner) on the interpreter of package asl
//	secrets.go  credentials of projects (store.Secrets), a file each
//	outage.go   errors that an operator has to mend
//
// A folder holds
//
//	bindery.db       records, the list of objects, executions
//	objects/xx/…     one file for each object, under a random name
//	objects/tmp/     files that are being written
//	link-secret      the key that links are signed with (mode 0600)
//	secrets/…        credentials, a file for each project (mode 0600)
//	lock             held by the process that runs executions
//
// Several processes may have one folder open: the database is in write-ahead
// mode, so operator commands read and write beside a running server. Only one
// of them may run executions; it holds the lock.
//
// What a method has returned without error survives kill -9 and a loss of
// power: each transaction is synced, and so is a file before it gets its
// place and its row.
package local
