// Package browse opens pages in Chromium, for tests alone, and says what the browser
// and axe-core complain of.
package browse
