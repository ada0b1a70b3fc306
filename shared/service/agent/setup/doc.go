// Package setup turns what an operator has set up, and the credentials of projects,
// into the forges and models that the steps of agents work with.
//
//	models.go  Models: a client for each server of a table, with its key
//	forges.go  Forges: a project's forge with its credential
//
// The two know nothing of each other, so that a function which has one need not
// have the other's secrets.
package setup
