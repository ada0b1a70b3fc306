package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/client"
)

// Outcomes of a check of the doctor.
const (
	fine    = "ok"
	doubt   = "warning"
	trouble = "error"
	absent  = "skipped"
)

// diagnosis is what one check of the doctor found.
type diagnosis struct {
	Check   string `json:"check"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// troubledError ends a doctor's visit that found trouble.
type troubledError struct{ n int }

func (e *troubledError) Error() string { return count(e.n, "check") + " failed" }

func (a *app) doctorCommand() *cobra.Command {
	var c caller
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out why something does not work on this machine",
		Long: `Doctor looks at what commands rely on: the programs beside this one, room for temporary
files, the data folder, the address of the API, whether it answers, the clock, and the
admin key. It changes nothing. The exit code is 1 if something fails.`,
		Example: `  bindery doctor
  bindery doctor --url https://admin.example.com --key-file key --json`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			list := a.examine(cmd.Context(), &c)
			err := a.print(list, func(w io.Writer) {
				signs := map[string]string{
					fine: a.paint(w, green, "✓"), doubt: a.paint(w, yellow, "!"), trouble: a.paint(w, red, "✗"), absent: "-",
				}
				for _, d := range list {
					fmt.Fprintf(w, "%s %-12s %s\n", signs[d.Outcome], d.Check, d.Detail)
				}
			})
			if err != nil {
				return err
			}
			failed := 0
			for _, d := range list {
				if d.Outcome == trouble {
					failed++
				}
			}
			if failed > 0 {
				return &troubledError{failed}
			}
			return nil
		}),
	}
	c.flags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// examine does all checks.
func (a *app) examine(ctx context.Context, c *caller) []diagnosis {
	list := []diagnosis{{"program", fine, "bindery " + version()}, program(ctx), scratch(), dataFolder(a.env.Data)}
	access, err := a.access(c)
	if err != nil {
		return append(list, diagnosis{"API", trouble, err.Error()})
	}
	if access.URL == "" {
		return append(list, diagnosis{"API", absent, "its address is not set: --url, BINDERY_URL or bindery login"})
	}
	answers, clock := a.reach(ctx, access.URL)
	if list = append(list, answers, clock); answers.Outcome == trouble {
		return list
	}
	return append(list, a.tryKey(ctx, c))
}

// program looks for git, which reads the dates of pages and what changed.
func program(ctx context.Context) diagnosis {
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return diagnosis{"git", doubt, "not found: pages have no dates, and check --since does not work"}
	}
	return diagnosis{"git", fine, strings.TrimSpace(string(out))}
}

// scratch looks for room for temporary files.
func scratch() diagnosis {
	f, err := os.CreateTemp("", "bindery-doctor-")
	if err != nil {
		return diagnosis{"temporary", trouble, "no temporary file can be made: " + err.Error()}
	}
	_, err = f.Write(make([]byte, 1<<20))
	err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	if err != nil {
		return diagnosis{"temporary", trouble, err.Error()}
	}
	return diagnosis{"temporary", fine, os.TempDir() + " can be written"}
}

// dataFolder looks at the folder of BINDERY_DATA.
func dataFolder(dir string) diagnosis {
	if dir == "" {
		return diagnosis{"data", absent, "BINDERY_DATA is not set"}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return diagnosis{"data", doubt, dir + " does not exist yet; bindery up makes it"}
	case err != nil:
		return diagnosis{"data", trouble, err.Error()}
	case !info.IsDir():
		return diagnosis{"data", trouble, dir + " is not a folder"}
	case info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/':
		return diagnosis{"data", doubt, fmt.Sprintf("%s can be read by others (mode %04o); it holds keys: chmod 700 %[1]s", dir, info.Mode().Perm())}
	}
	return diagnosis{"data", fine, dir}
}

// maxSkew is how far a clock may be off: links are signed for a time.
const maxSkew = time.Minute

// reach asks the API something that it refuses without a key, and compares the
// clocks.
func (a *app) reach(ctx context.Context, url string) (answers, clock diagnosis) {
	clock = diagnosis{"clock", absent, "the API did not say the time"}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/v1/static-export/jobs/doctor", nil)
	if err != nil {
		return diagnosis{"API", trouble, "the address can't be read: " + err.Error()}, clock
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return diagnosis{"API", trouble, err.Error()}, clock
	}
	defer response.Body.Close()
	if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		skew := time.Until(at).Round(time.Second)
		clock = diagnosis{"clock", fine, "as the API's"}
		if skew.Abs() > maxSkew {
			clock = diagnosis{"clock", doubt, fmt.Sprintf("the API's differs by %s: signed links may be refused", skew)}
		}
	}
	if response.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return diagnosis{"API", trouble, fmt.Sprintf("%s answers %d (%s), which is not what a Bindery answers to a request without a key",
			url, response.StatusCode, cmp.Or(response.Header.Get("Content-Type"), "no type"))}, clock
	}
	return diagnosis{"API", fine, url + " answers"}, clock
}

// tryKey asks with the admin key for a job that does not exist: that it is not
// found means that the key was taken.
func (a *app) tryKey(ctx context.Context, c *caller) diagnosis {
	api, err := a.client(c)
	if err != nil {
		return diagnosis{"key", trouble, err.Error()}
	}
	_, _, err = api.GetExport(ctx, "exp_doctor")
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Status == http.StatusNotFound:
		return diagnosis{"key", fine, "accepted"}
	case err == nil:
		return diagnosis{"key", fine, "accepted"}
	}
	return diagnosis{"key", trouble, err.Error()}
}
