// Package tests holds what concerns more than one room: the table of rooms
// and their imports, drift between files that must agree, the end-to-end
// scripts, the three corpora, the archive readers and the browser.
//
// Some tests need things from outside the repository: package tests/outside
// has the rule for what becomes of those that lack them.
package tests
