package stack_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

// recorded reads the reports of a log in the form that AWS documents, with lines of our own
// and of Lambda's between them.
func recorded(t *testing.T, file string) (reports []stack.Report) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if r, ok := stack.ParseReport(line); ok {
			reports = append(reports, r)
		}
	}
	return reports
}

func TestParseReport(t *testing.T) {
	want := []stack.Report{
		{Duration: 41_830 * time.Microsecond, Init: 96_240 * time.Microsecond, MemoryMiB: 256, PeakMiB: 38},
		{Duration: 6_310 * time.Microsecond, MemoryMiB: 256, PeakMiB: 39},
		{Duration: 900 * time.Second, MemoryMiB: 256, PeakMiB: 256},
	}
	if diff := cmp.Diff(want, recorded(t, "getexport.log")); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"", "REPORT", "REPORT RequestId: a", "REPORT RequestId: a\tMemory Size: many MB\tMax Memory Used: 1 MB", `{"msg":"REPORT RequestId: a"}`} {
		if r, ok := stack.ParseReport(line); ok {
			t.Errorf("%q is %+v", line, r)
		}
	}
}

func TestAdvise(t *testing.T) {
	call := func(duration time.Duration, memory, peak int) stack.Report {
		return stack.Report{Duration: duration, MemoryMiB: memory, PeakMiB: peak}
	}
	for _, c := range []struct {
		name    string
		answers bool
		reports []stack.Report
		want    int
	}{
		{"quick and small", true, []stack.Report{call(20*time.Millisecond, 256, 40)}, 128},
		{"its peak decides", true, []stack.Report{call(20*time.Millisecond, 256, 200)}, 384},
		{"its time decides: at 256 MB it has a seventh of a processor", true, []stack.Report{call(2*time.Second, 256, 40)}, 1024},
		{"one processor is the most that time asks for", true, []stack.Report{call(time.Minute, 512, 40)}, 1769},
		{"above one processor time is what it is", false, []stack.Report{call(30*time.Second, 3538, 40)}, 896},
		{"memory asks for more than one processor", false, []stack.Report{call(time.Second, 1769, 1500)}, 2560},
		{"a step has time", false, []stack.Report{call(8*time.Second, 1769, 60)}, 256},
		{"one slow call in a hundred is none", true, append(many(99, call(10*time.Millisecond, 256, 40)), call(20*time.Second, 256, 40)), 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stack.Advise("f", c.answers, c.reports); got.AdvisedMiB != c.want {
				t.Errorf("%+v, want %d MiB", got, c.want)
			}
		})
	}
}

func many(n int, r stack.Report) (all []stack.Report) {
	for range n {
		all = append(all, r)
	}
	return all
}
