package forge_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// publish is what a job does at its end: fetch, commit, push, pull request.
func publish(t *testing.T, fake *forgetest.Fake, o forge.Options) (forge.PullRequest, error) {
	t.Helper()
	f, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := fake.Repository()
	base, err := f.Fetch(t.Context(), r, "main")
	if err != nil {
		return forge.PullRequest{}, err
	}
	defer func() {
		if err := base.Close(); err != nil {
			t.Error(err)
		}
	}()
	c, err := f.Commit(t.Context(), r, base, []forge.Change{{Path: "a.mdx", Content: []byte("# A2\n")}}, meta)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if err := f.Push(t.Context(), r, "bindery/1", c, ""); err != nil {
		return forge.PullRequest{}, err
	}
	p, err := f.OpenPull(t.Context(), r, forge.Pull{Head: "bindery/1", Base: "main", Title: "A", Body: "So"})
	if err != nil {
		return p, err
	}
	return f.UpdatePull(t.Context(), r, p.Number, forge.Pull{Title: "A again", Body: "So"})
}

// Whatever fails once, at whichever call, and whether or not it was done before:
// there is one commit and one pull request, at once or when all is run again.
func TestFaults(t *testing.T) {
	for name, failure := range map[string]forgetest.Failure{
		"killed": forgetest.Kill(), "killed after it was done": forgetest.KillAfter(), "500": forgetest.Status(500, "<html>"),
		"503 with a wait": forgetest.Status(503, "", "Retry-After", "0"), "429": forgetest.Status(429, "{}", "Retry-After", "0"), "slow": forgetest.Slow(20 * time.Millisecond),
		"no JSON": forgetest.Status(200, "<html>sign in</html>", "Content-Type", "text/html"),
	} {
		for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
			t.Run(fmt.Sprint(name, "/", kind), func(t *testing.T) {
				t.Parallel()
				short := outside.Short(t)
				for _, call := range []forgetest.Call{forgetest.Refs, forgetest.Fetch, forgetest.Push, forgetest.FindPull, forgetest.OpenPull, forgetest.UpdatePull} {
					// Once: it heals by itself, but for answers that are none.
					// Three times: the call fails, and the job runs again.
					for _, times := range []int{1, 3} {
						git := call == forgetest.Refs || call == forgetest.Fetch || call == forgetest.Push
						if kind != forge.Gitea && (git || short) || short && times == 3 {
							continue // Git is the same for all
						}
						fake := forgetest.New(t, forgetest.Dialect(kind))
						fake.Write("main", map[string]string{"a.mdx": "# A\n"})
						for range times {
							fake.FailNext(call, failure)
						}
						p, err := publish(t, fake, fake.Options())
						if e := (*forge.Error)(nil); err != nil && !errors.As(err, &e) {
							t.Errorf("%s, %d times: %v", call, times, err)
						}
						if err != nil && times == 1 && name != "no JSON" {
							t.Errorf("%s failed once: %v", call, err)
						}
						fake.Heal()
						if err != nil {
							if p, err = publish(t, fake, fake.Options()); err != nil {
								t.Errorf("%s, again: %v", call, err)
								continue
							}
						}
						if got := fake.Commits("bindery/1"); len(got) != 2 || len(fake.Branches()) != 2 {
							t.Errorf("%s, %d times: %d commits, branches %v", call, times, len(got), fake.Branches())
						}
						if got := fake.Pulls(); len(got) != 1 || got[0].Number != p.Number || got[0].Title != "A again" {
							t.Errorf("%s, %d times: %+v", call, times, got)
						}
					}
				}
			})
		}
	}
}

// A server that sends nothing more is given up.
func TestStall(t *testing.T) {
	fake := forgetest.New(t)
	fake.Write("main", map[string]string{"a.mdx": "# A\n"})
	o := fake.Options()
	o.Patience, o.Retry.Attempts = 20*time.Millisecond, 1
	fake.FailAlways(forgetest.Refs, forgetest.Stall())
	if _, err := publish(t, fake, o); !errors.Is(err, forge.ErrUnreachable) {
		t.Error(err)
	}
}

// A repository over a limit is refused, whichever limit.
func TestLimits(t *testing.T) {
	fake := forgetest.New(t)
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("d%d/page.mdx", i)] = fmt.Sprint("# Page ", i, "\n")
	}
	files["noise.mdx"] = fake.Token + fmt.Sprint(files)
	fake.Write("main", files)
	for name, set := range map[string]func(*forge.Options){
		"bytes":           func(o *forge.Options) { o.MaxBytes = 1000 },
		"bytes, unpacked": func(o *forge.Options) { o.MaxBytes = 6500 },
		"files":           func(o *forge.Options) { o.MaxFiles = 60 },
	} {
		o := fake.Options()
		set(&o)
		if _, err := publish(t, fake, o); !errors.Is(err, forge.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := publish(t, fake, fake.Options()); err != nil {
		t.Error(err)
	}
}
