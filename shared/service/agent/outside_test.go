package agent_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
)

// below returns files in a folder, those of ../ beside it; an empty text deletes the file
// at its old place.
func below(folder string, files map[string]string) map[string]string {
	all := map[string]string{}
	for p, text := range files {
		if at := path.Join(folder, p); at != p {
			all[at], all[strings.TrimPrefix(p, "../")] = text, ""
		}
	}
	for p, text := range files {
		if rest, up := strings.CutPrefix(p, "../"); up {
			all[rest] = text
		}
	}
	return all
}

// with returns files with further ones: paths and their texts.
func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// An agent reads the code beside the docs if the project allows it, and only then. It
// changes nothing there.
func TestTheRepositoryIsReadOnly(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2", 9)
	code := map[string]string{"src/main.py": "FLAG = \"--new\"\nKEY = \"" + key + "\"\n", ".env": "FLAG=--secret\n"}
	reads := modeltest.Calls(call("read", args{"path": "repo:src/main.py"}))
	for _, c := range []struct {
		name   string
		set    admin.AgentSettings
		script script
		want   expected
	}{
		{name: "off", script: steps(reads, told("the project's settings allow to read that folder alone", done("Nothing"))), want: expected{turns: 2}},
		{name: "on", set: admin.NewAgentSettings(), script: steps(overview("its paths begin with repo: (1 to read)", modeltest.Calls(call("search", args{"pattern": "FLAG"}))),
			told("repo:src/main.py:1: FLAG = \"--new\"", reads), told("     2\tKEY = \"(masked: a token of GitHub)\"\n", modeltest.Calls(call("read", args{"path": "../.env"}))),
			told("credentials", modeltest.Calls(call("write", args{"path": "repo:src/main.py", "content": "x"}))),
			told("outside the site's folder", modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "run it", "new": "run it with `--new`"}))), done("The flag")),
			want: expected{pulls: 1, turns: 6, body: []string{"`docs/guides/start.mdx` (+1 −1)"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.configure(c.set)
			w.forge.Write("main", below("docs", site()))
			w.forge.Write("main", code)
			w.end(w.run(w.ask("Describe the flag")), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// picturesOf counts the pictures of a request, and returns its last texts.
func picturesOf(r model.Request) (n int, last string) {
	for _, m := range r.Messages {
		last = ""
		for _, b := range m.Content {
			n += len(b.Pictures)
			last += b.Text + b.Content + "\n"
		}
	}
	return n, last
}

// A model that sees pictures sees those of the repository, also after a restart, and
// another model none. A server that refuses them gets none any more.
func TestPicturesOfTheRepository(t *testing.T) {
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 12, 8))); err != nil {
		t.Fatal(err)
	}
	type turn struct {
		pictures int    // in the request
		told     string // in its last message
		step     modeltest.Step
	}
	looks := modeltest.Calls(call("read", args{"path": "logo.png"}))
	for _, c := range []struct {
		name  string
		sees  bool
		turns []turn
	}{
		{"seen", true, []turn{{0, "Describe", looks}, {1, "logo.png: a picture of 12 × 8 pixels", mends}, {1, "Replaced", done("Logo")}}},
		{"not seen", false, []turn{{0, "Describe", looks}, {0, "is a picture, which this model can't see", mends}, {0, "Replaced", done("Logo")}}},
		{"refused by the server", true, []turn{{0, "Describe", looks}, {1, "12 × 8", modeltest.Status(400, "invalid_request_error", "Could not process image")},
			{0, "(It is not shown: this model can't see pictures.)", looks}, {0, "which this model can't see", mends}, {0, "Replaced", done("Logo")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.sees = c.sees
			w.steps = w.stepsOn(w.admin, w.objects)
			w.forge.Write("main", map[string]string{"logo.png": logo.String()})
			for _, turn := range c.turns {
				w.model.Add(turn.step.When(func(r model.Request) error {
					w.Advance(agent.Segment) // so that the next turn is of a call of Work of its own
					if n, last := picturesOf(r); n != turn.pictures || !strings.Contains(last, turn.told) {
						return fmt.Errorf("%d pictures and %q, want %d and %q", n, last, turn.pictures, turn.told)
					}
					return nil
				}))
			}
			w.end(w.run(w.ask("Describe the logo")), expected{pulls: 1})
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}
