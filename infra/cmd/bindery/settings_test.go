package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// What a folder may set for its exports is what the flags of run set of a project.
func TestRunKeysAreFlags(t *testing.T) {
	keys := check.RunKeys()
	if !slices.IsSorted(keys) {
		t.Errorf("%q are not sorted", keys)
	}
	flags := new(app).runCommand().Flags()
	for _, key := range keys {
		if flags.Lookup(key) == nil {
			t.Errorf("run has no flag %s", key)
		}
	}
	project := pflag.NewFlagSet("", pflag.ContinueOnError)
	bundleFlags(project, new(admin.Settings))
	project.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(keys, f.Name) {
			t.Errorf("the flag %s is not a key", f.Name)
		}
	})
}
