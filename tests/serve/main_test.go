package serve

import (
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
