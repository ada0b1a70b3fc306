// Program gate runs the checks that must hold before a change lands, and the
// tests that make test runs.
//
//	gate run       clone the commit into a fixed folder and run "gate ci" there
//	gate ci        all steps of the gate, in this checkout (steps.go)
//	gate test      go test, with tools, in an order that keeps both processors busy
//	gate affected  go test of the packages that a change can reach
//	gate programs  link the programs that tests start, once for all of them
//	gate table     write the times of the last gate into the page on testing
//
// Steps that mostly wait run beside those that compute (schedule.go). A package
// that starts goroutines runs its short tests under the race detector and its
// long ones without; every other package runs once, without (race.go).
package main
