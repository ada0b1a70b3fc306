package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// library is n pages of about 9 kB, each with a mark at its end.
func library(n int) map[string]string {
	pages := map[string]string{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntitle: Book %d\ndescription: A book\n---\n\n", i)
		for line := range 120 {
			fmt.Fprintf(&b, "Line %d of book %d tells how a widget is made, step by step, and why.\n", line, i)
		}
		fmt.Fprintf(&b, "\nEND-%03d\n", i)
		pages[fmt.Sprintf("books/b%03d.mdx", i)] = b.String()
	}
	return pages
}

var bookEnd = regexp.MustCompile(`END-(\d{3})`)

// reader is a model that reads a library, some books in a turn, mends a word and
// finishes. It asks again for what was not run, so all books are read in the end.
type reader struct {
	books, turn int
	read        map[string]bool
	notRun      int
}

func (m *reader) answer(r model.Request) modeltest.Step {
	if m.read == nil {
		m.read = map[string]bool{}
	}
	for _, b := range r.Messages[len(r.Messages)-1].Content {
		for _, found := range bookEnd.FindAllStringSubmatch(b.Content, -1) {
			m.read[found[1]] = true
		}
		if strings.HasPrefix(b.Content, "(not run: ") {
			m.notRun++
		}
	}
	var calls []modeltest.Call
	for i := range m.books {
		if !m.read[fmt.Sprintf("%03d", i)] && len(calls) < m.turn {
			calls = append(calls, call("read", args{"path": fmt.Sprintf("books/b%03d.mdx", i)}))
		}
	}
	switch {
	case len(calls) > 0:
		return modeltest.Calls(calls...)
	case !strings.Contains(texts(r.Messages...), "start.mdx"):
		return mends
	}
	return finishes
}

// texts are messages as JSON.
func texts(messages ...model.Message) string {
	text, err := json.Marshal(messages)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// notes are the texts of a job's notes that have a word.
func (w *world) notes(j admin.AgentJob, word string) (all []string) {
	w.t.Helper()
	for cursor := ""; ; {
		events, next, err := w.admin.AgentEvents(w.ctx, w.caller, j.Project, j.ID, cursor, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == admin.AgentEventNote && strings.Contains(e.Text, word) {
				all = append(all, e.Text)
			}
		}
		if cursor = next; len(events) == 0 {
			return all
		}
	}
}

// tokensOf are the tokens of a request as the server of the tests counts them.
func tokensOf(r modeltest.Record, perToken int) int { return len(r.Raw) / perToken }

// A round that reads more than its model can stays within the context: the server never
// refuses if it has the context of the table. If it has less, the round learns that.
func TestStayingInTheContext(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	for _, c := range []struct {
		name     string
		books    int // 0: 40
		turn     int // books in a turn
		server   int // its context
		perToken int
		cuts     bool
		refused  int    // requests, at most
		note     string // that is there, beside those of compactions
		compact  int    // compactions, at least
		long     bool   // left out of -short
	}{
		{name: "a book in a turn", turn: 1, server: 64_000, compact: 1},
		{name: "40 books in a turn", turn: 40, server: 64_000, compact: 2},
		{name: "a token for 2 bytes", turn: 3, server: 64_000, perToken: 2, compact: 3, long: true},
		{name: "a token for each byte", books: 12, turn: 12, server: 64_000, perToken: 1, compact: 3},
		{name: "a token for 6 bytes", turn: 3, server: 64_000, perToken: 6, compact: 0, long: true},
		{name: "a server that refuses sooner", turn: 1, server: 40_000, refused: 1, note: "refused a request", compact: 3},
		{name: "a server that refuses much sooner", turn: 1, server: 24_000, refused: 2, note: "refused a request", compact: 6, long: true},
		{name: "a server that cuts in silence, many books in a turn", turn: 10, server: 24_000, cuts: true, note: "cut requests in silence", compact: 2},
		{name: "a server that cuts in silence", turn: 1, server: 24_000, cuts: true, note: "cut requests in silence", compact: 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				outside.Long(t, "a job of 40 turns takes a second of a processor")
			}
			w := newWorld(t)
			w.model.Context, w.model.PerToken, w.model.Cuts = c.server, c.perToken, c.cuts
			books := cmp.Or(c.books, 40)
			w.forge.Write("main", library(books))
			m := &reader{books: books, turn: c.turn}
			w.model.Add(modeltest.Func(m.answer))
			j := w.run(w.ask("Mend the spelling of widget"))
			w.end(j, expected{pulls: 1, body: []string{"`guides/start.mdx` (+1 −1)"}})
			requests := w.model.Requests()
			if refused := len(requests) - j.Turns; refused > c.refused || len(m.read) != books {
				t.Errorf("%d requests were refused, at most %d may be; %d books were read", refused, c.refused, len(m.read))
			}
			if (m.notRun > 0) != (c.turn > 3) {
				t.Errorf("%d reads were not run", m.notRun)
			}
			if n := len(w.notes(j, "replaced by a summary")); n < c.compact {
				t.Errorf("%d compactions, want %d or more", n, c.compact)
			}
			if notes := w.notes(j, "context should be the one"); c.note == "" && len(notes) > 0 || c.note != "" && (len(notes) == 0 || !strings.Contains(notes[0], c.note)) {
				t.Errorf("notes are %q", notes)
			}
			over := 0
			for _, r := range requests {
				if !strings.Contains(r.Request.Messages[0].Content[0].Text, "<request>\nMend the spelling of widget\n</request>") {
					t.Fatal("a request to the model lacks what was asked")
				}
				if tokensOf(r, cmp.Or(c.perToken, 4)) > c.server {
					over++
				}
			}
			// Once the request has grown by a fifth, the round knows that the server
			// cuts it. Later ones are not cut.
			if c.cuts && (over == 0 || over > 5) {
				t.Errorf("%d requests were cut", over)
			}
		})
	}
}

// translator is a model that writes pages, two in a turn. It knows which are written from
// the conversation alone.
func translator(pages int) func(model.Request) modeltest.Step {
	text := strings.Repeat("One more word, and a further one. ", 500)
	return func(r model.Request) modeltest.Step {
		said := texts(r.Messages...)
		var calls []modeltest.Call
		for i := range pages {
			name := fmt.Sprintf("p%03d.mdx", i)
			if !strings.Contains(said, name) && len(calls) < 2 {
				calls = append(calls, call("write", args{"path": "es/" + name, "content": fmt.Sprintf("---\ntitle: Page %d\ndescription: In Spanish\n---\n\n%s\n", i, text)}))
			}
		}
		if len(calls) == 0 {
			return done("Translate all pages")
		}
		return modeltest.Calls(calls...).Long(2000)
	}
}

// A job that writes 200 pages of 17 kB with a model of 64,000 tokens ends with all of
// them in its pull request, and writes each page once.
func TestTwoHundredPages(t *testing.T) {
	outside.Long(t, "writes and checks 3.4 MB")
	w := newWorld(t)
	w.enterprise()
	w.model.Context = 64_000
	w.model.Add(modeltest.Func(translator(200)))
	j := w.run(w.ask("Translate all pages"))
	w.end(j, expected{pulls: 1, turns: 101})
	if files := w.forge.Files(j.Branch); len(files) != len(site())+200 || len(files["es/p199.mdx"]) < 17_000 {
		t.Errorf("the branch has %d files", len(files))
	}
	n := len(w.notes(j, "replaced by a summary"))
	t.Logf("%d compactions, %+v", n, j.Usage)
	if n < 5 {
		t.Errorf("%d compactions", n)
	}
}

// A compaction is the same whether Work begins anew with each turn, dies before the
// checkpoint of some, or does all at once: the requests have the same bytes, so that the
// cache of prompts knows them.
func TestCompactionOverRestarts(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	asked := func(anew, fault bool) []string {
		w := newWorld(t)
		w.model.Context = 64_000
		w.forge.Write("main", library(40))
		m := &reader{books: 40, turn: 2}
		turn := 0
		var j admin.AgentJob
		w.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
			if turn++; turn == 2 {
				w.message(j, "Also mend the index")
			}
			if anew {
				w.Advance(agent.Segment)
			}
			return m.answer(r)
		}))
		writes := 0
		s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
			if strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "turn#") {
				if writes++; fault && writes%3 == 0 {
					return errors.New("lost")
				}
			}
			return do(ctx)
		})
		j = w.ask("Mend the spelling of widget")
		if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), j.Current()); err != nil {
			t.Error(err)
		}
		j = w.job(j.ID)
		w.end(j, expected{pulls: 1})
		if n := len(w.notes(j, "replaced by a summary")); n < 2 {
			t.Errorf("%d compactions", n)
		}
		var bodies []string
		for _, r := range w.model.Requests() {
			if body := string(r.Raw); !slices.Contains(bodies, body) {
				bodies = append(bodies, body)
			}
		}
		if last := bodies[len(bodies)-1]; !strings.Contains(last, "Also mend the index") || strings.Count(last, "replaced to make room") != 1 {
			t.Error("the last request lacks a message, or has another number of summaries than one")
		}
		return bodies
	}
	whole := asked(false, false)
	for name, again := range map[string][]string{"anew with each turn": asked(true, false), "with turns that are lost": asked(true, true)} {
		if !slices.Equal(whole, again) {
			t.Errorf("%s: %d requests differ from the %d of one Work", name, len(again), len(whole))
		}
	}
}

// After a compaction, the model no longer sees what it read: it must read a page again
// before it replaces it, and may read it as often as it needs to.
func TestReadAgainAfterACompaction(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	w := newWorld(t)
	w.model.Context = 64_000
	w.forge.Write("main", library(60))
	page := strings.Replace(site()["guides/start.mdx"], "widgit", "widget", 1)
	replace := modeltest.Calls(call("write", args{"path": "guides/start.mdx", "content": page}))
	start := modeltest.Calls(call("read", args{"path": "guides/start.mdx"}))
	script := steps(start)
	for round := range 3 { // of twenty books, which is more than fits
		for i := 20 * round; i < 20*round+20; i += 2 {
			script = append(script, modeltest.Calls(call("read", args{"path": fmt.Sprintf("books/b%03d.mdx", i)}), call("read", args{"path": fmt.Sprintf("books/b%03d.mdx", i+1)})))
		}
		if round == 0 {
			script = append(script, replace)
			script = append(script, told("read the whole file first", start))
			continue
		}
		script = append(script, start, start)
	}
	w.model.Add(append(script, replace, told("replaced", done("Spell widget right")))...)
	j := w.run(w.ask("Mend the spelling of widget"))
	w.end(j, expected{pulls: 1, body: []string{"`guides/start.mdx` (+1 −1)"}})
	if n := w.model.Left(); n > 0 || len(w.notes(j, "replaced by a summary")) < 2 {
		t.Errorf("%d steps are left, notes: %q", n, w.notes(j, ""))
	}
}

// The summary of the replaced turns tells what they did.
func TestSummary(t *testing.T) {
	w := newWorld(t)
	w.forge.Write("main", library(20))
	w.model.Add(
		modeltest.Calls(call("plan", args{"steps": []args{{"text": "Mend the index", "state": "doing"}}})).Saying("First the index,\nthen the rest."),
		modeltest.Calls(call("search", args{"pattern": "wid[gj]it", "path": "guides"}), call("read", args{"path": "index.mdx"})),
		modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "Acme builds"}), call("edit", args{"path": "index.mdx", "old": "nowhere to be found", "new": "x"})),
		write("guides/new.mdx", newPage),
		modeltest.Calls(call("delete", args{"path": "books/b019.mdx"})),
		modeltest.Calls(call("check", args{})),
		lists, modeltest.TooLong(),
		modeltest.Func(func(r model.Request) modeltest.Step {
			first := r.Messages[0].Content
			text := first[len(first)-1].Text
			for _, part := range []string{
				"(replaced to make room: your turns 1 to 6, with their calls and results)",
				"<turns>\nYour plan:\n- doing: Mend the index\nFiles that you changed:\n- ./: index.mdx\n- books/: b019.mdx (deleted)\n- guides/: new.mdx (new)\nFiles that you read:\n- read index.mdx: lines 1–6 of 6\n",
				`- search "wid[gj]it" guides: 1 match in 1 file`,
				"Calls that failed:\n- edit index.mdx: refused: old is not in index.mdx",
				"Your last check:\n- ", "What you wrote:\n- turn 1: First the index, then the rest.\n</turns>",
			} {
				if !strings.Contains(text, part) {
					t.Errorf("the summary lacks %q:\n%s", part, text)
				}
			}
			if len(r.Messages) != 3 || len(first) != 2 {
				t.Errorf("%d messages, the first with %d blocks", len(r.Messages), len(first))
			}
			return done("Index")
		}).Times(1),
		modeltest.Func(func(model.Request) modeltest.Step { return done("Index") }))
	w.run(w.ask("Mend the index"))
}

// The context of a fallback is its own.
func TestContextOfAFallback(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	w := newWorld(t)
	w.spare, w.context, w.small = true, 200_000, 64_000
	w.forge.Write("main", library(40))
	m := &reader{books: 30, turn: 1}
	w.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		if r.Model == "large-1" && len(m.read) == 25 {
			return modeltest.Overloaded()
		}
		return m.answer(r)
	}))
	j := w.run(w.ask("Mend the spelling of widget"))
	w.end(j, expected{pulls: 1})
	if j.Fallback != "spare" || len(w.notes(j, "replaced by a summary")) != 1 {
		t.Errorf("answered by %q, notes: %q", j.Fallback, w.notes(j, ""))
	}
	large := 0
	for _, r := range w.model.Requests() {
		size := tokensOf(r, 4)
		if r.Request.Model == "spare-1" && size > 0.8*56_000 {
			t.Errorf("the fallback was asked with %d tokens", size)
		}
		large = max(large, size)
	}
	if large < 56_000 {
		t.Errorf("the large model was asked with %d tokens at most", large)
	}
}

// An answer that stops at the end of the context teaches a smaller limit: the next request
// is compacted, so that the answer can go on.
func TestAnswerStopsAtTheContext(t *testing.T) {
	w := newWorld(t)
	w.forge.Write("main", library(4))
	var script script
	for i := range 4 {
		script = append(script, modeltest.Calls(call("read", args{"path": fmt.Sprintf("books/b%03d.mdx", i)})))
	}
	script = append(script, modeltest.Text("Now I will men").Stopping(model.StopContext), mends.When(func(r model.Request) error {
		if text := texts(r.Messages...); !strings.Contains(text, "replaced to make room") || !strings.Contains(text, "Now I will men") {
			return errors.New("the request was not compacted, or lacks the answer that stopped")
		}
		return nil
	}), finishes)
	w.model.Add(script...)
	j := w.run(w.ask("Mend the spelling of widget"))
	w.end(j, expected{pulls: 1, turns: 7})
	if notes := w.notes(j, "or stopped its answer"); len(notes) != 1 {
		t.Errorf("notes are %q", notes)
	}
}

// A round of which nothing is left to replace fails, and says what was too large.
func TestTooLargeForTheModel(t *testing.T) {
	for _, c := range []struct {
		name    string
		script  script
		message string
	}{
		{"at once", steps(modeltest.TooLong().Forever()), "the request and messages; a request may have about 56000; its server says: prompt is too long: 210000 tokens > 200000 maximum"},
		{"after turns", steps(lists, mends, modeltest.TooLong().Forever()), "the last answer and its results"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.end(w.run(w.ask("Mend the spelling of widget")), expected{code: model.CodeContext, message: c.message})
		})
	}
	t.Run("a server that cuts even the instructions", func(t *testing.T) {
		w := newWorld(t)
		w.model.Context, w.model.Cuts = 3000, true
		w.forge.Write("main", library(9))
		m := &reader{books: 9, turn: 1}
		w.model.Add(modeltest.Func(m.answer))
		j := w.run(w.ask("Mend the spelling of widget"))
		w.end(j, expected{code: model.CodeContext, message: "are instructions and tools"})
		if notes := w.notes(j, "cut requests in silence"); len(notes) != 1 {
			t.Errorf("notes are %q", notes)
		}
	})
}
