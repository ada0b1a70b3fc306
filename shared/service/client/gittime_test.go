package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

func TestReadCommitTimes(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	log := "\x01300 HEAD -> main\x00\na.mdx\x00ü b.mdx\x00" + "\x01200 \x00\nold.mdx\x00a.mdx\x00" + "\x01100 grafted\x00\nold.mdx\x00first.mdx\x00"
	tests := []struct {
		name   string
		log    string
		wanted []string
		want   map[string]time.Time
		done   bool
	}{
		{"the newest commit of each", log, []string{"a.mdx", "ü b.mdx", "old.mdx"}, map[string]time.Time{"a.mdx": at(300), "ü b.mdx": at(300), "old.mdx": at(200)}, true},
		{"the end of a shallow clone says nothing", log, []string{"first.mdx"}, map[string]time.Time{}, false},
		{"never committed", log, []string{"new.mdx", "a.mdx"}, map[string]time.Time{"a.mdx": at(300)}, false},
		{"nothing", "", []string{"a"}, map[string]time.Time{}, false},
		{"cut short", "\x01300 \x00\na.m", []string{"a.mdx", "a.m"}, map[string]time.Time{}, false},
		{"no time", "\x01x \x00\na\x00", []string{"a"}, map[string]time.Time{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wanted := map[string]bool{}
			for _, name := range test.wanted {
				wanted[name] = true
			}
			got, done, err := readCommitTimes(strings.NewReader(test.log), wanted)
			if err != nil || done != test.done {
				t.Errorf("done %v, %v", done, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCommitTimesOfARepository(t *testing.T) {
	outside.Program(t, "git")
	repository := t.TempDir()
	git := func(date string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_DATE="+date, "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	writeFiles(t, repository, map[string]string{"docs/docs.json": "{}", "docs/a.mdx": "1", "docs/ü b.mdx": "1", "other.txt": "1"})
	git("2020-01-01T00:00:00Z", "init", "-q")
	git("2020-01-01T00:00:00Z", "add", ".")
	git("2020-01-01T00:00:00Z", "commit", "-qm", "one")
	writeFiles(t, repository, map[string]string{"docs/a.mdx": "2"})
	git("2021-06-01T12:00:00Z", "commit", "-qam", "two")
	writeFiles(t, repository, map[string]string{"docs/new.mdx": "never committed"})

	f, err := openFolder(t.Context(), filepath.Join(repository, "docs"), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[string]string{}
	for _, file := range f.Files {
		if !file.Modified.IsZero() {
			got[file.Path] = file.Modified.Format(time.RFC3339)
		}
	}
	want := map[string]string{"docs.json": "2020-01-01T00:00:00Z", "ü b.mdx": "2020-01-01T00:00:00Z", "a.mdx": "2021-06-01T12:00:00Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
