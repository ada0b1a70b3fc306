// Package search asks the search of bundles: its index, its box in a browser, and
// questions on real sites, whose answers are written down in testdata.
package search
