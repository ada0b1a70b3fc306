// Package kept keeps values from one export of a site to the next, in a folder of
// this machine or in object storage. What is lost is made again: a value that is
// damaged is one that is not there, and no fault of the folder or of the storage is an
// error of an export.
//
//	store.go    Store: values by key, in packs
//	pack.go     how a pack is written and read
//	value.go    values as bytes
//	objects.go  packs in object storage
//	file.go     one large value of a folder
//	folder.go   the folders of sites below one of a user's
//
// A folder belongs to one site of one organisation. Several processes may use it
// at the same time: packs never change, and each process reads those that were
// there when it began.
package kept
