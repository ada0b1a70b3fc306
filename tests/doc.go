// Package tests holds what concerns more than one room: the table of rooms
// and their imports, drift between files that must agree, the end-to-end
// scripts, the three corpora, the archive readers and the browser.
//
// Some tests need things from outside the repository. Each says what it
// lacks when it skips; with BINDERY_REQUIRE=all in the environment (as in CI)
// a lack is a failure.
package tests
