// Package proptest checks properties with pgregory.net/rapid, the same cases each
// time: a test that finds a new counterexample on an unrelated change would fail by
// chance. Where BINDERY_EXPLORE is set, as `make fuzz` does, the cases are new ones.
// It is for tests alone.
package proptest

import (
	"flag"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// once sets rapid's seed, a flag of the whole process.
var once sync.Once

// Check is rapid.Check with a seed that stays: that of -rapid.seed if there is one.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	once.Do(func() {
		if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" && os.Getenv("BINDERY_EXPLORE") == "" {
			_ = f.Value.Set("1")
		}
	})
	rapid.Check(t, property)
}
