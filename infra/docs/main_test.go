package docs_test

import (
	"os"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
)

// The test's own program is the process that shows what pages have in
// JavaScript.
func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
