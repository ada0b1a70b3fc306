package kills

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// leftoverKills is how many runs are killed.
const leftoverKills = 6

// withoutIndex makes an archive one of an older release, which servers unpack: its last
// member ends the archive and says nothing of an index.
func withoutIndex(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(data[:len(data)-bundle.FooterBytes])
	zw := gzip.NewWriter(out)
	if _, err = zw.Write(make([]byte, 1024)); err == nil {
		err = zw.Close()
	}
	if err == nil {
		err = os.WriteFile(name, out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// leftovers kills runs in the midst of their work, beside one server that lives: the
// next run removes what they left in the temporary folder, and nothing of the server's.
func (k *kills) leftovers(t *testing.T) {
	dir := t.TempDir()
	tmp, site := filepath.Join(dir, "tmp"), filepath.Join(dir, "site")
	for _, d := range []string{tmp, site} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"docs.json": `{"name":"Docs","colors":{"primary":"#123456"},"navigation":{"pages":["index"]}}`, "index.mdx": "# Start\n\nText.\n",
	} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), k.program, args...)
		cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		return cmd
	}
	file := filepath.Join(dir, "bundle.tar.gz")
	if out, err := command("run", site, "--out", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	withoutIndex(t, file)
	serve := command("serve", file, "--addr", "127.0.0.1:0")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = serve.Process.Signal(os.Interrupt)
		if err := serve.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if left := inFolder(t, tmp, ""); len(left) > 0 {
			t.Errorf("in the end there are %q", left)
		}
	}()
	for end := time.Now().Add(time.Minute); len(inFolder(t, tmp, "bindery-serve-")) < 2 || !exists(filepath.Join(tmp, strings.TrimSuffix(inFolder(t, tmp, "bindery-serve-")[0], ".lock"), "bindery.json")); {
		if time.Now().After(end) {
			t.Fatalf("the server has not unpacked the bundle; there are %q", inFolder(t, tmp, ""))
		}
		time.Sleep(10 * time.Millisecond)
	}
	random, left := rand.New(rand.NewPCG(k.seed, 1)), 0
	for n := range leftoverKills {
		before := len(inFolder(t, tmp, "bindery-run-"))
		run := command("run", site, "--out", filepath.Join(dir, "killed.tar.gz"), "--no-cache")
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = run.Wait()
			close(ended)
		}()
		if n == 0 { // at least one leaves something
			for end := time.Now().Add(time.Minute); len(inFolder(t, tmp, "bindery-run-")) == before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("a run makes no folder")
				}
			}
		} else {
			time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
		}
		_ = run.Process.Kill()
		<-ended
		left += len(inFolder(t, tmp, "bindery-run-"))
	}
	for len(processesOf(k.program)) > 1 { // processes of exports end by themselves when their run is gone
		time.Sleep(10 * time.Millisecond)
	}
	if out, err := command("run", site, "--out", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if now := inFolder(t, tmp, ""); len(now) != 2 || !strings.HasPrefix(now[0], "bindery-serve-") {
		t.Errorf("after a run in peace there are %q", now)
	}
	t.Logf("%d kills of runs left %d names", leftoverKills, left)
	if left == 0 {
		t.Error("no kill came while there was something to leave")
	}
}

// inFolder returns the names in a folder that begin with a prefix, sorted.
func inFolder(t *testing.T, dir, prefix string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
