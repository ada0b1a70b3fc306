// Package storetest is the contract of the ports in package store, as tests
// that every backend passes unchanged:
//
//	store.go    Store: conditions, transactions, order, paging, limits
//	objects.go  Objects: whole writes, ranges, listings, links
//	runner.go   Runner: one execution a name, stopping, ends
//	secrets.go  Secrets: each is its owner's alone
//	around.go   what stands around each call of a port
//	meter.go    Meter: ports that count what AWS charges for
//	crash.go    CrashAfter: ports that die at the n-th call
//	clock.go    Clock: a time that moves when a test says so
//	faults.go   Faults: functions that are killed, throttled, doubled and late at a call
//
// The suites assume nothing about time: what may lag in a backend (the index
// of active records, the state of an execution) they wait for, with a deadline.
// They share no keys, so that a backend may give them all one table or bucket.
package storetest

import (
	"context"
	"crypto/rand"
	"testing"
	"time"
)

// patience is how long the suites wait for what a backend may do later.
const patience = 2 * time.Minute

// eventually calls fn until it returns "", or fails with what it last said.
func eventually(t *testing.T, fn func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		complaint := fn()
		if complaint == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %s", patience, complaint)
		}
		time.Sleep(pause)
	}
}

// unique returns a name that no other test has used, lower-case and without
// separators.
func unique() string { return "t" + rand.Text() }

// testContext ends with the test, and before a hanging one takes the whole run.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
