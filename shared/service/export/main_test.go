package export

import (
	"os"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
)

func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) { // the process that shows what pages have in JavaScript
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
