// Package lazy has what is made ready when it is needed first, so that the start of
// a program, of which a function of the cloud has many, does not pay for it.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the regular expression, which its first
// call compiles. It panics as regexp.MustCompile does, at that call.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
