// Package kills ends processes of `bindery up` in the midst of their work, when make
// test-kills asks for it, and looks for what is lost, stuck or different.
package kills
