package script

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestDocs: the limit that the documentation names is that of the code.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../infra/docs/authoring/diagrams.mdx")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("At most %d different names", MaxClasses)
	if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), want) {
		t.Errorf("the page on utility classes does not say %q", want)
	}
}

// TestLimitsPage: the page of limits has the constants of formulas.
func TestLimitsPage(t *testing.T) {
	n := fmt.Sprintf
	outside.LimitRow(t, "A formula", n("%d steps, %d for each byte and %d; %d levels; after 20 that reach a limit, a page has no more", maxFormulaSteps, stepsPerByte, formulaSteps, maxFormulaDepth),
		n("%d bytes, %d KiB as MathML", MaxFormula, maxFormulaBytes>>10))
}
