// Package export follows sites from publishing to a checked bundle: through the API,
// the documentation's examples, real sites, limits and power cuts.
package export
