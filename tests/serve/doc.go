// Package serve tests bindery-serve, the program for clusters, with bundles on the
// network that are good, late or bad.
package serve
