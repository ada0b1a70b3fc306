package review_test

import (
	"os"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
)

func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
