// Package browser opens exported pages as readers do: how they look, whether
// everybody can use them, what they do with JavaScript and without.
package browser
