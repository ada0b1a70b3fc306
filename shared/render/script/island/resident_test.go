//go:build linux

package island

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// memoryWork names the work of a process of TestLimitMemory.
const memoryWork = "BINDERY_TEST_MEMORY"

// limited is what the processes of TestLimitMemory may have resident.
const limited = 192 << 20

// What a process of TestLimitMemory does, by name, and whether the limit ends it.
var memoryWorks = []struct {
	name  string
	ended bool
	work  func()
}{
	{"little", false, func() { write(100) }},
	// 12,000 references to a definition of 40 kB, as a page without bounds wrote
	// them: 480 MB.
	{"a page that grows", true, func() { write(12_000) }},
	{"garbage", false, func() {
		for range 400 {
			write(100)
		}
	}},
}

var written []byte

func write(times int) {
	line := strings.Repeat("x", 40_000)
	written = nil
	for range times {
		written = append(written, line...)
	}
}

// The limit of a process is one of resident memory: whatever the process does, the
// system never counts more. Garbage alone does not end it.
func TestLimitMemory(t *testing.T) {
	outside.NoRace(t, "it needs more memory than the limit")
	if name := os.Getenv(memoryWork); name != "" {
		LimitMemory(limited)
		for _, w := range memoryWorks {
			if w.name == name {
				w.work()
			}
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range memoryWorks {
		t.Run(w.name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), program, "-test.run=^TestLimitMemory$")
			c.Env = append(os.Environ(), memoryWork+"="+w.name)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- c.Wait() }()
			most := 0
			for {
				select {
				case err := <-done:
					exit, failed := errors.AsType[*exec.ExitError](err)
					if failed != w.ended || failed && exit.ExitCode() != ExitMemory && exit.ExitCode() != exitGo {
						t.Errorf("the process ended with %v", err)
					}
					if most > limited {
						t.Errorf("%d bytes were resident, the limit is %d", most, limited)
					}
					t.Logf("%d MiB were resident", most>>20)
					return
				case <-time.After(time.Millisecond):
					most = max(most, mostResident(c.Process.Pid))
				}
			}
		})
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// mostResident is how much memory a process has had resident at most, in bytes, 0
// where nobody knows.
func mostResident(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if m := highWater.FindSubmatch(status); err == nil && m != nil {
		if kB, err := strconv.Atoi(string(m[1])); err == nil {
			return kB << 10
		}
	}
	return 0
}
