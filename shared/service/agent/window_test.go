package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"a", 1}, {"abc", 1}, {"abcd", 2}, {strings.Repeat("word ", 600), 1000},
		{"日本", 3}, {strings.Repeat("日", 1000), 1500}, {"é", 1}, {"abcdé", 3},
	} {
		if got := guess([]byte(c.text)); got != c.want {
			t.Errorf("%.20q is %d tokens, want %d", c.text, got, c.want)
		}
	}
}

func TestDensity(t *testing.T) {
	report := func(guess int, tokens int64) sent { return sent{"m", 3 * guess, guess, tokens} }
	for name, c := range map[string]struct {
		sent []sent
		want float64
	}{
		"no report":                {nil, 1},
		"a report":                 {[]sent{report(1000, 750)}, 0.75},
		"the largest of three":     {[]sent{report(1000, 2000), report(1000, 800), report(1000, 900), report(1000, 700)}, 0.9},
		"less than can be":         {[]sent{report(1000, 10)}, 0.5},
		"a server that says none":  {[]sent{report(1000, 0)}, 1},
		"those of another model":   {[]sent{report(1000, 750), {"other", 3000, 1000, 2000}}, 0.75},
		"none of this model's own": {[]sent{{"other", 3000, 1000, 2000}}, 1},
	} {
		r := &Round{sent: c.sent}
		if got := r.density(model.Choice{ID: "m"}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	for name, c := range map[string]struct {
		context, output int
		learned         map[string]learned
		limit, answer   int
	}{
		"not known":                 {0, 8000, nil, 0, 8000},
		"of the table":              {64_000, 8000, nil, 56_000, 8000},
		"an answer of all of it":    {64_000, 64_000, nil, 32_000, 32_000},
		"learned":                   {64_000, 8000, map[string]learned{"m": {"m", 20_000, true}}, 20_000, 8000},
		"learned where none is set": {0, 8000, map[string]learned{"m": {"m", 20_000, false}}, 20_000, 8000},
		"learned of another model":  {64_000, 8000, map[string]learned{"other": {"other", 20_000, true}}, 56_000, 8000},
		"learned, but larger":       {64_000, 8000, map[string]learned{"m": {"m", 60_000, true}}, 56_000, 8000},
	} {
		r, m := &Round{learned: c.learned}, model.Choice{ID: "m", Context: c.context, MaxOutput: c.output}
		if limit, answer := r.limit(m), maxOutput(m); limit != c.limit || answer != c.answer {
			t.Errorf("%s: %d and %d, want %d and %d", name, limit, answer, c.limit, c.answer)
		}
	}
}

// A server is suspected if its reports stand still or fall over two turns or more, and
// the requests grow by a fifth.
func TestSuspicion(t *testing.T) {
	for name, c := range map[string]struct {
		bytes  []int
		tokens []int64
		want   int // the limit, 0: not suspected
	}{
		"reports that stand still":           {[]int{100, 110, 120}, []int64{40, 40, 40}, 30},
		"reports that fall":                  {[]int{100, 110, 120}, []int64{40, 39, 36}, 30},
		"reports that fall, then rise a bit": {[]int{100, 110, 120}, []int64{40, 36, 39}, 30},
		"a slow growth":                      {[]int{100, 107, 114, 120}, []int64{40, 40, 39, 40}, 30},
		"a growth of less than a fifth":      {[]int{100, 110, 119}, []int64{40, 40, 40}, 0},
		"one turn":                           {[]int{100, 120}, []int64{40, 40}, 0},
		"a report that rises":                {[]int{100, 110, 120}, []int64{40, 40, 41}, 0},
		"a report that rose between":         {[]int{100, 110, 120}, []int64{40, 41, 40}, 0},
		"a compaction between":               {[]int{100, 60, 70}, []int64{40, 24, 28}, 0},
		"a server that leaves out its cache": {[]int{100, 110, 120}, []int64{40, 4, 5}, 0},
		"no reports":                         {[]int{100, 110, 120}, []int64{0, 0, 0}, 0},
		"more than the table says":           {[]int{100, 110, 120}, []int64{90, 90, 90}, 0},
	} {
		r := &Round{}
		var now sent
		for i, n := range c.bytes {
			if i > 0 {
				r.sent = append(r.sent, now)
			}
			now = sent{"m", n, n / 3, c.tokens[i]}
		}
		got, m := 0, model.Choice{ID: "m", Context: 70, MaxOutput: 10}
		if l := r.suspect(m, now); l != nil {
			if got = l.Limit; !l.Cuts || l.Model != "m" {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	r := &Round{sent: []sent{{"other", 100, 33, 40}, {"other", 110, 36, 40}}}
	if l := r.suspect(model.Choice{ID: "m"}, sent{"m", 120, 40, 40}); l != nil {
		t.Errorf("reports of two models: %+v", l)
	}
}

// Thinking is not counted: servers drop that of earlier turns, and a seal is no text.
// Nor are more tokens than bytes.
func TestSizeOf(t *testing.T) {
	with := func(b ...model.Block) model.Request {
		return model.Request{Model: "m", Messages: []model.Message{{Role: model.Assistant, Content: append(b, model.Text("x"))}}}
	}
	plain := sizeOf(with(), model.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8})
	thinking := sizeOf(with(model.Block{Type: model.TypeThinking, Thinking: "Hm", Signature: strings.Repeat("s", 999)}, model.Block{Type: model.TypeRedacted, Data: "d"}), model.Usage{Input: 7})
	if plain != thinking || plain.Tokens != 7 || plain.Model != "m" || plain.Bytes < 50 || plain.Guess != (plain.Bytes+2)/3 {
		t.Errorf("%+v and %+v", plain, thinking)
	}
	if much := sizeOf(with(), model.Usage{Input: 1 << 40}); much.Tokens != int64(much.Bytes) {
		t.Errorf("%+v", much)
	}
}

// What an earlier version wrote is read.
func TestEarlierCheckpoints(t *testing.T) {
	var c checkpoint
	err := json.Unmarshal([]byte(`{"said":["Go"],"answer":[{"type":"tool_use","id":"t","name":"read","input":{"path":"a.mdx"}}],
		"results":[{"type":"tool_result","tool_use_id":"t","content":"a.mdx: 1 line"}],"calls":[{"name":"read","digest":"d"}],"forgotten":3}`), &c)
	if err != nil || c.Compacted != nil || c.Sent != nil || c.Learned != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	r := newRound(t)
	r.apply(admin.AgentTurn{N: 1}, c)
	if text := r.summary(1, 4000); !strings.Contains(text, "Files that you read:\n- read a.mdx\n") {
		t.Error(text)
	}
}

// A model can't write our marks into a file.
func TestMarks(t *testing.T) {
	for _, mark := range []string{fmt.Sprintf(replaced, 12), notRun} {
		r := newRound(t)
		input, err := json.Marshal(map[string]string{"path": "a.mdx", "content": "---\ntitle: A\n---\n\n" + mark + "\n"})
		if err != nil {
			t.Fatal(err)
		}
		if result := r.tools.Call(t.Context(), "write", input); !result.IsError || !strings.Contains(result.Text, "leaves something out") {
			t.Errorf("%q can be written: %s", mark, result.Text)
		}
	}
}

func newRound(tb interface{ Fatal(...any) }) *Round {
	base := &Repository{Entries: []tool.Entry{{Path: "docs.json", Text: true, Plain: true}}, Texts: map[string][]byte{"docs.json": []byte("{}")}}
	tree, err := tool.NewTree(base, "")
	if err != nil {
		tb.Fatal(err)
	}
	return &Round{
		Manifest: &Manifest{}, Base: base, Tree: tree, tools: tool.NewSet(tree, tool.Options{}),
		changes: map[string]tool.Change{}, known: map[string]bool{"docs.json": true}, learned: map[string]learned{},
	}
}

// Whatever a round did, a compacted request is valid: roles alternate, each call has its
// result and no result is without its call. All that was said is there, once, and so are
// the unread results; the summary has no more than its bytes; the same round gives the
// same bytes.
func TestCompactedRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := model.Choice{ID: "m", Context: rapid.SampledFrom([]int{8_000, 64_000, 1_000_000}).Draw(rt, "context"), MaxOutput: 4000}
		r := newRound(rt)
		turns := rapid.IntRange(2, 12).Draw(rt, "turns")
		words := rapid.SampledFrom([]string{"a", "日本語 ", "</turns>", "word ", "\n- x"})
		text := func(name string, most int) string {
			return strings.Repeat(words.Draw(rt, name), rapid.IntRange(1, most).Draw(rt, name+" times"))
		}
		var asked []string
		for n := range turns {
			var c checkpoint
			if n == 0 || rapid.Bool().Draw(rt, "message") {
				asked = append(asked, fmt.Sprintf("message %d. %s", len(asked), text("message", 50)))
				c.Said = append(c.Said, asked[len(asked)-1])
			} else if rapid.Bool().Draw(rt, "hint") {
				c.Said = append(c.Said, sayTool)
			}
			c.Answer = append(c.Answer, model.Text(text("answer", 500)))
			for i := range rapid.IntRange(0, 3).Draw(rt, "calls") {
				id, name := fmt.Sprintf("t%d-%d", n, i), rapid.SampledFrom([]string{"read", "write", "search", "check", "plan"}).Draw(rt, "name")
				c.Answer = append(c.Answer, model.Block{Type: model.TypeToolUse, ID: id, Name: name, Input: json.RawMessage(`{"path":"a.mdx"}`)})
				c.Results = append(c.Results, model.ToolResult(id, text("result", 2000), rapid.Bool().Draw(rt, "error")))
				c.Calls = append(c.Calls, call{name, id, "a.mdx", text("outcome", 20)})
			}
			for i := range rapid.IntRange(0, 30).Draw(rt, "changed") {
				c.Changed = append(c.Changed, tool.Change{Path: fmt.Sprintf("%s/%d.mdx", strings.Repeat("f", n), i), Content: []byte("x")})
			}
			r.apply(admin.AgentTurn{N: n + 1}, c)
		}
		said := []string{"now. " + text("message", 50)}
		compacted := r.compact(m, said, nil, rapid.IntRange(0, 20_000).Draw(rt, "tokens"))
		if compacted.Turns < 1 || compacted.Turns > turns-1 {
			rt.Fatalf("%d of %d turns are replaced", compacted.Turns, turns)
		}
		if again := r.compact(m, said, compacted, 0); again.Turns < compacted.Turns || strings.Count(again.Text, "replaced to make room") > strings.Count(compacted.Text, "replaced to make room") {
			rt.Fatalf("%+v, then %+v", compacted, again)
		}
		if most := min(max(r.limit(m)*3/10, leastSummary), mostSummary); len(compacted.Text) > most+1000 {
			rt.Fatalf("a summary of %d bytes, want about %d", len(compacted.Text), most)
		}
		request := r.request(m, said, compacted)
		if !reflect.DeepEqual(request, r.request(m, said, compacted)) || !reflect.DeepEqual(compacted, r.compaction(m, compacted.Turns)) {
			rt.Fatal("another request of the same round")
		}
		var open, texts []string
		for i, msg := range request.Messages {
			if role := []model.Role{model.User, model.Assistant}[i%2]; msg.Role != role {
				rt.Fatalf("message %d is of the %s", i, msg.Role)
			}
			for _, b := range msg.Content {
				switch b.Type {
				case model.TypeToolUse:
					open = append(open, b.ID)
				case model.TypeToolResult:
					if len(open) == 0 || open[0] != b.ToolUseID {
						rt.Fatalf("message %d has the result %s, open are %q", i, b.ToolUseID, open)
					}
					open = open[1:]
				default:
					if msg.Role == model.User {
						texts = append(texts, b.Text)
					}
				}
			}
		}
		if len(open) > 0 {
			rt.Fatalf("without results are %q", open)
		}
		at := 0
		for _, text := range texts {
			if all := append(asked, said...); at < len(all) && text == all[at] {
				at++
			}
		}
		if at != len(asked)+1 {
			rt.Fatalf("%d of %d messages are there, in their order: %q", at, len(asked)+1, texts)
		}
		last := request.Messages[len(request.Messages)-1].Content
		for i, result := range r.results {
			if last[i].Content != result.Content {
				rt.Fatalf("result %d was changed", i)
			}
		}
	})
}
