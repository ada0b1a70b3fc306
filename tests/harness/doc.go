// Package harness runs Bindery's programs for end-to-end tests. It builds a program
// once for each test package, exports sites, starts servers and unpacks bundles.
package harness
