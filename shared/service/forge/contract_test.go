package forge_test

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// Every dialect keeps the contract on the fake; that the fake speaks as the real
// forge does is what TestGitea and the recorded answers are for.
func TestContract(t *testing.T) {
	for _, kind := range forge.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			forgetest.Contract(t, forgetest.New(t, forgetest.Dialect(kind)))
		})
	}
}
