// Package release builds a release and installs from it.
package release
