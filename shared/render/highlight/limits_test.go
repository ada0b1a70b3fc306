package highlight

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// stepsOf gives the steps that code takes, and whether it was given up.
func stepsOf(h *Highlighter, label, code string) (steps int, failed bool) {
	lang := h.languages.find(label)
	if lang == nil || lang.lexer == nil {
		return 0, false
	}
	text, _ := characters(code)
	m := newMachine(h.languages)
	h.tokenise(m, lang, text)
	return h.languages.limits.steps(len(text)) - m.left, m.failed
}

// TestHostile: code over which grammars backtrack ends at the limits, after the
// same steps and with the same runs each time, and what stands in front of it
// has its classes.
func TestHostile(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	const front = "echo ok\n"
	for _, tt := range []struct {
		name, label, code string
		stops             bool
	}{
		{"a string of backslashes in a shell", "bash", front + `"` + strings.Repeat(`\`, 200), true},
		{"the same, as long as can be", "bash", front + `"` + strings.Repeat(`\`, MaxBytes-len(front)-1), true},
		{"a Go string of backslashes", "go", `"` + strings.Repeat(`\`, 200), true},
		{"braces in Svelte", "svelte", strings.Repeat("{a}<script ", MaxBytes/11), true},
		{"comments that never end", "c", strings.Repeat("/* ", 20_000), false},
		{"open brackets", "json", strings.Repeat("[{\"a\":", 15_000), false},
		{"tags that never end", "html", strings.Repeat("<a b=\"", 15_000), false},
		{"fences in fences", "markdown", strings.Repeat("```markdown\n", 8_000), false},
		{"letters", "ruby", strings.Repeat("a", MaxBytes), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.stops && len(tt.code) > MaxBytes/2 {
				outside.Long(t, "takes all steps that a block may, four times")
			}
			h := New(Options{})
			steps, failed := stepsOf(h, tt.label, tt.code)
			t.Logf("%d steps for %d bytes, given up: %v", steps, len(tt.code), failed)
			if tt.stops && !failed {
				t.Errorf("went through with %d steps, want it to be stopped", steps)
			}
			if most := h.languages.limits.steps(len(tt.code)) + len(tt.code); steps > most {
				t.Errorf("took %d steps, want at most %d", steps, most)
			}
			if again, _ := stepsOf(New(Options{}), tt.label, tt.code); again != steps {
				t.Errorf("took %d steps, then %d", steps, again)
			}
			runs := h.grammarRuns(h.languages.find(tt.label), tt.code)
			checkRuns(t, tt.code, runs)
			if diff := cmp.Diff(New(Options{}).grammarRuns(h.languages.find(tt.label), tt.code), runs); diff != "" {
				t.Errorf("runs differ from those of another time:\n%s", diff)
			}
			if strings.HasPrefix(tt.code, front) && runs[0] != (Run{Function, 0, 4}) {
				t.Errorf("the runs begin with %v, want the classes of what stands in front", runs[0])
			}
		})
	}
}

// TestRealCodeStaysFarBelowTheLimits: real code needs less than a tenth of the limits.
func TestRealCodeStaysFarBelowTheLimits(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	h := New(Options{})
	tenth := &h.languages.limits
	tenth.attempt /= 10
	tenth.block /= 10
	tenth.character /= 10
	for _, b := range corpora(t) {
		if steps, failed := stepsOf(h, b.label, b.code); failed {
			t.Errorf("%s: %d bytes take more than %d steps", b.label, len(b.code), steps)
		}
	}
}
