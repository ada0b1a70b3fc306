package outside

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// toolStub stands for go, npm and python3: it notes that it was started, and makes
// what they would install. With a file broken beside it it fails.
const toolStub = `#!/bin/sh
name=${0##*/}
home=$STUBS
[ "$name $1" != "python3 -V" ] || { echo "Python 3.$(cat "$home/minor").7"; exit; }
echo "$name $*" >>"$home/started"
[ ! -e "$home/slow" ] || sleep 0.3
for last; do :; done
case $name in
  go) echo "$last" >"$GOBIN/$(basename "${last%@*}")" && chmod +x "$GOBIN"/* ;;
  npm) mkdir node_modules ;;
  python3) mkdir -p "$last/bin" && cp "$0" "$last/bin/python" && cp "$0" "$last/bin/pip" ;;
esac
[ ! -e "$home/broken" ] || { echo "$name is broken" >&2; exit 1; }
`

// toolWorld has the script in checkouts of its own, with one store, and stubs of
// all that it starts.
type toolWorld struct {
	t                    *testing.T
	bash, stubs, store   string
	checkout, neighbours string
}

func newToolWorld(t *testing.T) *toolWorld {
	t.Helper()
	bash := Program(t, "bash")
	script, err := os.ReadFile(filepath.Join(Checkout(t), ".ci", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	w := &toolWorld{
		t: t, bash: bash, stubs: filepath.Join(root, "stubs"), store: filepath.Join(root, "store"),
		checkout: filepath.Join(root, "one"), neighbours: filepath.Join(root, "two"),
	}
	for _, name := range []string{"go", "npm", "python3"} {
		w.write(filepath.Join(w.stubs, name), toolStub)
	}
	w.write(filepath.Join(w.stubs, "minor"), "11")
	for _, dir := range []string{w.checkout, w.neighbours} {
		w.write(filepath.Join(dir, ".ci", "tools"), string(script))
		w.write(filepath.Join(dir, "tests", "tools", "ministack.txt"), "ministack==1\n")
		w.write(filepath.Join(dir, "tests", "tools", "oidc", "package.json"), "{}\n")
		w.write(filepath.Join(dir, "tests", "tools", "oidc", "package-lock.json"), "{}\n")
	}
	return w
}

func (w *toolWorld) write(name, text string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *toolWorld) command(checkout string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(w.bash, append([]string{filepath.Join(checkout, ".ci", "tools")}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+w.stubs+":"+os.Getenv("PATH"), "STUBS="+w.stubs,
		"HOME="+w.store, "BINDERY_CACHE="+w.store, "BINDERY_SHARED="+filepath.Join(w.store, "none"), "BINDERY_REQUIRE=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// run runs the script and gives what it said, and the commands that it started. It
// must end with the status.
func (w *toolWorld) run(status int, args ...string) (said string, started []string) {
	w.t.Helper()
	log := filepath.Join(w.stubs, "started")
	w.write(log, "")
	cmd, out := w.command(w.checkout, args...)
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		w.t.Fatalf("tools %q: %v, want status %d:\n%s", args, err, status, out)
	}
	return out.String(), w.lines(log)
}

func (w *toolWorld) lines(file string) []string {
	w.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// stored are the names in the store, without digests.
func (w *toolWorld) stored() string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.store, "tools"))
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, digestInName.ReplaceAllString(e.Name(), "@DIGEST"))
	}
	return strings.Join(names, " ")
}

var digestInName = regexp.MustCompile(`@[0-9a-f]{12}`)

// target is where a link of the checkout's .cache leads, in the store.
func (w *toolWorld) target(link string) string {
	w.t.Helper()
	to, err := os.Readlink(filepath.Join(w.checkout, ".cache", link))
	if err == nil {
		_, err = os.Stat(to)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(to, filepath.Join(w.store, "tools")+"/")
}

// edit changes a file of the checkout.
func (w *toolWorld) edit(name, old, now string) {
	w.t.Helper()
	file := filepath.Join(w.checkout, filepath.FromSlash(name))
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	changed := regexp.MustCompile(old).ReplaceAllString(string(text), now)
	if changed == string(text) {
		w.t.Fatalf("%s has no %s", name, old)
	}
	w.write(file, changed)
}

func (w *toolWorld) same(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// .ci/tools installs what is named, once per version for all checkouts.
func TestTools(t *testing.T) {
	seconds := regexp.MustCompile(`[0-9]+ s\n`)
	pin := func(w *toolWorld, version string) {
		w.edit(".ci/tools", `staticcheck@v[0-9.]+`, "staticcheck@"+version)
	}
	for name, test := range map[string]func(w *toolWorld){
		"what is named alone is installed, and once": func(w *toolWorld) {
			pin(w, "v1.0.0")
			said, started := w.run(0, "staticcheck")
			w.same("it says", seconds.ReplaceAllString(said, "N s\n"), "tools: staticcheck v1.0.0: installing\ntools: staticcheck v1.0.0 in N s\n")
			w.same("it starts", strings.Join(started, "; "), "go install -trimpath -ldflags -s -w honnef.co/go/tools/cmd/staticcheck@v1.0.0")
			w.same("the store has", w.stored(), "staticcheck@v1.0.0")
			w.same("the link leads to", w.target("bin/staticcheck"), "staticcheck@v1.0.0/staticcheck")
			link := filepath.Join(w.checkout, ".cache", "bin", "staticcheck")
			before, err := os.Lstat(link)
			if err != nil {
				w.t.Fatal(err)
			}
			said, started = w.run(0, "staticcheck")
			w.same("the second time it says and starts", said+strings.Join(started, "; "), "")
			if after, err := os.Lstat(link); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
				w.t.Errorf("the link is another one (%v)", err)
			}
		},
		"sets of npm and pip": func(w *toolWorld) {
			_, started := w.run(0, "oidc", "ministack")
			if len(started) != 3 {
				w.t.Errorf("it starts %q", started)
			}
			w.same("the store has", w.stored(), "ministack@DIGEST-py3.11 oidc@DIGEST")
			first := w.target("ministack")
			w.target("oidc")
			said, started := w.run(0, "oidc", "ministack")
			w.same("the second time it says and starts", said+strings.Join(started, "; "), "")
			w.write(filepath.Join(w.stubs, "minor"), "12")
			w.edit("tests/tools/oidc/package-lock.json", "{}", "{ }")
			w.run(0, "ministack", "oidc")
			w.same("with another lock file and Python the store has", w.stored(), "ministack@DIGEST-py3.11 ministack@DIGEST-py3.12 oidc@DIGEST oidc@DIGEST")
			w.same("the link leads to", w.target("ministack"), strings.Replace(first, "3.11", "3.12", 1))
		},
		"a new version lies beside the old one, until that is removed": func(w *toolWorld) {
			pin(w, "v1.0.0")
			w.run(0, "staticcheck")
			pin(w, "v1.1.0")
			w.run(0, "staticcheck")
			w.same("the store has", w.stored(), "staticcheck@v1.0.0 staticcheck@v1.1.0")
			w.same("the link leads to", w.target("bin/staticcheck"), "staticcheck@v1.1.0/staticcheck")
			said, _ := w.run(0, "--clean")
			w.same("it says", said, "tools: removed staticcheck@v1.0.0\n")
			w.same("the store has", w.stored(), "staticcheck@v1.1.0")
		},
		"an earlier script's tools give way to links": func(w *toolWorld) {
			w.write(filepath.Join(w.checkout, ".cache", "oidc", "node_modules", "old"), "")
			w.write(filepath.Join(w.checkout, ".cache", "bin", "helm"), "")
			w.run(0, "helm", "oidc")
			w.target("bin/helm")
			w.target("oidc")
		},
		"what fails is named, and installed the next time": func(w *toolWorld) {
			w.write(filepath.Join(w.stubs, "broken"), "")
			said, _ := w.run(1, "oidc", "helm")
			for _, want := range []string{"\n  npm is broken\n", "\n  go is broken\n", "\ntools: NOT INSTALLED: helm oidc\n"} {
				if !strings.Contains(said, want) {
					w.t.Errorf("it says %q, without %q", said, want)
				}
			}
			if left, err := filepath.Glob(filepath.Join(w.store, "tools", "*", ".complete")); len(left) != 0 || err != nil {
				w.t.Errorf("complete: %q (%v)", left, err)
			}
			if err := os.Remove(filepath.Join(w.stubs, "broken")); err != nil {
				w.t.Fatal(err)
			}
			w.run(0, "helm", "oidc")
			w.target("bin/helm")
			w.target("oidc")
		},
		"what an interrupted run left is made anew": func(w *toolWorld) {
			w.run(0, "oidc")
			dir := filepath.Join(w.store, "tools", w.target("oidc"))
			w.write(filepath.Join(dir, "rest"), "")
			dead := exec.Command(w.bash, "-c", "exit 0")
			err := errors.Join(dead.Run(), os.Remove(filepath.Join(dir, ".complete")))
			if err == nil {
				err = os.Symlink(strconv.Itoa(dead.Process.Pid), filepath.Join(w.store, "tools", "oidc.lock"))
			}
			if err != nil {
				w.t.Fatal(err)
			}
			_, started := w.run(0, "oidc")
			if len(started) != 1 || exists(filepath.Join(dir, "rest")) || !exists(filepath.Join(dir, ".complete")) {
				w.t.Errorf("it starts %q", started)
			}
			w.same("the store has", w.stored(), "oidc@DIGEST")
		},
		"of those who install at the same time one does": func(w *toolWorld) {
			w.write(filepath.Join(w.stubs, "slow"), "")
			w.write(filepath.Join(w.stubs, "started"), "")
			var all sync.WaitGroup
			for _, dir := range []string{w.checkout, w.neighbours, w.checkout} {
				all.Go(func() {
					cmd, out := w.command(dir, "helm", "oidc")
					if err := cmd.Run(); err != nil {
						w.t.Errorf("%v\n%s", err, out)
					}
				})
			}
			all.Wait()
			started := w.lines(filepath.Join(w.stubs, "started"))
			slices.Sort(started)
			if len(started) != 2 || !strings.HasPrefix(started[0], "go ") || !strings.HasPrefix(started[1], "npm ") {
				w.t.Errorf("they start %q", started)
			}
			helm := w.target("bin/helm")
			w.checkout = w.neighbours
			w.same("the neighbours' link leads to", w.target("bin/helm"), helm)
		},
		"a name that it does not know": func(w *toolWorld) {
			said, _ := w.run(2, "helm", "helmet")
			if list, _ := w.run(0, "--list"); said != "tools: no tool is called helmet; these are:\n"+list || !strings.Contains(list, "\nhelm ") {
				w.t.Errorf("it says %q", said)
			}
			if exists(w.store) {
				w.t.Error("it has installed the other")
			}
		},
		"without the shared folder": func(w *toolWorld) {
			said, _ := w.run(0, "trees")
			w.same("it says", said, "tools: trees is installed from the shared folder (BINDERY_SHARED), which is not there\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newToolWorld(t))
		})
	}
}
