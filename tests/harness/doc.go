// Package harness runs our programs for the tests of several folders: it builds
// bindery once for each of them, exports sites, starts servers, and unpacks what
// comes of it. It is for tests alone.
package harness
