package outside

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// logs is a recorder that keeps what the test logs.
type logs struct {
	recorder
	logged string
}

func (l *logs) Logf(form string, args ...any) { l.logged += fmt.Sprintf(form, args...) }

// A test that leaves out cases says so: the gate looks for it.
func TestShortSaysThatCasesAreLeftOut(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { _ = flag.Set("test.short", was) })
	for _, short := range []string{"true", "false"} {
		if err := flag.Set("test.short", short); err != nil {
			t.Fatal(err)
		}
		var l logs
		if got := Short(&l); got != (short == "true") || got != strings.Contains(l.logged, Later) {
			t.Errorf("with -short=%s: %t, logged %q", short, got, l.logged)
		}
		r := record(func(tb testing.TB) { Long(tb, "it exports") })
		if (r.end == skipped) != (short == "true") || r.end == skipped && !strings.Contains(r.said, Later) {
			t.Errorf("with -short=%s a long test %s: %s", short, r.end, r.said)
		}
	}
}

// Under the race detector NoRace skips, and says that the test is to run again.
func TestNoRace(t *testing.T) {
	r := record(func(tb testing.TB) { NoRace(tb, "it is slow") })
	if (r.end == skipped) != raceDetector || raceDetector && !strings.Contains(r.said, Later) {
		t.Errorf("with the race detector %t the test %s: %s", raceDetector, r.end, r.said)
	}
}
