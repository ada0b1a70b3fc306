// Package browse opens pages in Chromium for tests, and reports errors of the browser
// and findings of axe-core.
package browse
