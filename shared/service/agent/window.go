package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// Shares of the tokens that a request may have.
const (
	compactAt = 0.8 // a larger request is compacted first
	compactTo = 0.4 // to this size, so that the prompt cache is rewritten seldom
	// turnShare is the most that the results of one turn may have. After a compaction,
	// a full turn fits below compactAt.
	turnShare = 0.4
)

// sent is the size of a request that was answered. Thinking blocks are not counted:
// servers drop those of earlier turns.
type sent struct {
	Model  string `json:"model"` // model.Choice.ID
	Bytes  int    `json:"bytes"`
	Guess  int    `json:"guess"`  // tokens, as of guess
	Tokens int64  `json:"tokens"` // as the server reported them, with those of its cache
}

// learned is a limit of a model that its server has shown to be smaller than the table
// says.
type learned struct {
	Model string `json:"model"` // model.Choice.ID
	Limit int    `json:"limit"` // the most tokens of a request
	// Cuts is set if the server seems to cut longer requests in silence. Otherwise it
	// refuses them.
	Cuts bool `json:"cuts,omitempty"`
}

// maxOutput returns the most tokens of an answer. They are at most half of the context,
// so that a request has the other half.
func maxOutput(m model.Choice) int {
	if m.Context > 0 {
		return min(m.MaxOutput, max(m.Context/2, 1))
	}
	return m.MaxOutput
}

// limit returns the most tokens of a request, 0 if it is not known.
func (r *Round) limit(m model.Choice) int {
	limit := 0
	if m.Context > 0 {
		limit = m.Context - maxOutput(m)
	}
	if l, ok := r.learned[m.ID]; ok && (limit == 0 || l.Limit < limit) {
		limit = l.Limit
	}
	return limit
}

// perToken is how many bytes of ASCII count as a token.
const perToken = 3

// guess returns how many tokens a text probably has: one for three bytes of ASCII, and
// one for two bytes of other characters. English has about four bytes a token, JSON
// three; a Chinese character has three bytes and one token or more.
func guess(text []byte) int {
	sixths := 0
	for _, b := range text {
		if sixths += 2; b >= utf8.RuneSelf {
			sixths++
		}
	}
	return (sixths + 5) / 6
}

// density returns the ratio of a model's tokens to guesses. It is learned from the last
// three requests of this round that the model's server reported, and is the largest of
// them, since a server that cuts a request reports too little. Before the first report,
// the guess counts.
//
// So a request is estimated as the last one by its report, and what was added to it by
// the ratio of its report. A report of less than a token for six bytes of ASCII is not
// believed; nor is one of more tokens than bytes, see sizeOf.
func (r *Round) density(m model.Choice) float64 {
	most, left := 0.0, 3
	for _, s := range slices.Backward(r.sent) {
		if s.Model == m.ID && s.Tokens > 0 && s.Guess > 0 && left > 0 {
			most, left = max(most, float64(s.Tokens)/float64(s.Guess)), left-1
		}
	}
	if most == 0 {
		return 1
	}
	return min(max(most, 0.5), 3)
}

// pictureTokens is how many tokens a picture counts at most: providers scale it to about
// a megapixel, and count one token for 750 pixels.
const pictureTokens = 1600

// sizeOf measures a request. usage is that of its answer, zero if there is none yet.
func sizeOf(request model.Request, usage model.Usage) sent {
	request.Messages = slices.Clone(request.Messages)
	pictures := 0
	for i, m := range request.Messages {
		content := slices.DeleteFunc(slices.Clone(m.Content), func(b model.Block) bool {
			return b.Type == model.TypeThinking || b.Type == model.TypeRedacted
		})
		for k := range content {
			pictures += len(content[k].Pictures)
			content[k].Pictures = nil
		}
		request.Messages[i].Content = content
	}
	s := sent{Model: request.Model}
	if text, err := json.Marshal(request); err == nil { // else the client refuses it, too
		s.Bytes, s.Guess = len(text)+pictures*pictureTokens*perToken, guess(text)+pictures*pictureTokens
	}
	s.Tokens = min(usage.Input+usage.CacheRead+usage.CacheWrite, int64(s.Bytes))
	return s
}

// tokens estimates how many tokens a request has for its model.
func (r *Round) tokens(m model.Choice, request model.Request) int {
	return r.estimate(m, sizeOf(request, model.Usage{}).Guess)
}

// estimate turns a guess into an estimate.
func (r *Round) estimate(m model.Choice, guess int) int {
	return int(math.Ceil(float64(guess) * r.density(m)))
}

// cuts returns what the server seems to read at most if it seems to cut requests in
// silence: in two turns or more, the request grew by a fifth, and no report was above the
// first. A report of less than half of the first proves nothing: servers may leave out
// what was in their cache.
func (r *Round) cuts(now sent) (tokens int64, suspected bool) {
	least, most, turns := now.Tokens, now.Tokens, 1
	for _, first := range slices.Backward(r.sent) {
		if first.Model != now.Model || least == 0 {
			break
		}
		if turns >= 2 && first.Tokens >= most && first.Tokens <= 2*least && 5*now.Bytes >= 6*first.Bytes {
			return first.Tokens, true
		}
		least, most, turns = min(least, first.Tokens), max(most, first.Tokens), turns+1
	}
	return 0, false
}

// suspect returns the limit that follows from cuts, nil if there is none: three quarters
// of what the server seems to read, since its context has to hold the answer as well.
func (r *Round) suspect(m model.Choice, now sent) *learned {
	tokens, suspected := r.cuts(now)
	limit := int(tokens * 3 / 4)
	if old := r.limit(m); !suspected || old > 0 && limit >= old {
		return nil
	}
	return &learned{Model: m.ID, Limit: limit, Cuts: true}
}

// refusedAt returns the limit that follows if the server refused a request of that many
// tokens as too long, or stopped its answer at the end of the context.
func (r *Round) refusedAt(m model.Choice, tokens int) *learned {
	limit := max(tokens*3/4, 1)
	if old := r.limit(m); old > 0 {
		limit = min(limit, old)
	}
	return &learned{Model: m.ID, Limit: limit}
}

// tooLong returns the error of a request that doesn't fit and of which nothing is left
// to compact. It says which part has how many tokens. cause is the server's, nil if the
// request was not sent.
func (r *Round) tooLong(m model.Choice, request model.Request, cause error) error {
	last := len(request.Messages)
	only := func(system []model.Block, tools []model.Tool, messages []model.Message) int {
		return r.tokens(m, model.Request{Model: request.Model, System: system, Tools: tools, Messages: messages})
	}
	text := fmt.Sprintf("the conversation is longer than the model can read, and no earlier turn is left to replace: about %d tokens are instructions and tools, %d the request and messages",
		only(request.System, request.Tools, nil), only(nil, nil, request.Messages[:1]))
	if last > 1 {
		text += fmt.Sprintf(", %d the last answer and its results", only(nil, nil, request.Messages[1:]))
	}
	if limit := r.limit(m); limit > 0 {
		text += fmt.Sprintf("; a request may have about %d", limit)
	}
	if e, ok := errors.AsType[*model.Error](cause); ok && e.Reason != "" {
		text += "; its server says: " + e.Reason
	}
	return admin.Errorf(admin.CodeModelContext, "%s", text).Wrap(cause)
}

// room bounds the results of one turn.
type room struct {
	left  int  // tokens by guess; negative if nothing is left
	first bool // no result has been counted
	known bool // the limit of the model is known
}

// roomFor returns how much the results of an answer may have: a share of what a request
// may have, and no more than fits beside what a compaction can't replace.
func (r *Round) roomFor(m model.Choice, said []string, answer []model.Block) *room {
	limit := r.limit(m)
	if limit == 0 {
		return &room{}
	}
	all := r.compaction(m, r.Turns)
	request := r.request(m, said, all)
	request.Messages = append(request.Messages, model.Message{Role: model.Assistant, Content: answer})
	fits := min(turnShare*float64(limit), compactAt*float64(limit)-float64(r.tokens(m, request)))
	return &room{left: int(fits / r.density(m)), first: true, known: true}
}

// notRun begins the result of a call that was not run because its result doesn't fit.
// Package tool refuses to write it into a file.
const notRun = "(not run: this turn's results would be too long for your context window)"

// refuse returns "" if a result fits, or what tells the model how to ask for less.
func (f *room) refuse(name string, r tool.Result) string {
	need := resultGuess(r)
	if !f.known || need <= f.left {
		return ""
	}
	left := "Nothing is left for this turn"
	if kb := f.left * perToken >> 10; kb > 0 {
		left = fmt.Sprintf("About %d KB are left for this turn", kb)
	}
	less := "Ask for less: "
	switch name {
	case "read":
		less += "fewer lines, with from and lines"
	case "search":
		less += "a narrower pattern or path"
	default:
		less += "one file or folder, with path"
	}
	if !f.first {
		less += "; or call it again in your next turn"
	}
	return fmt.Sprintf("%s %s, and this result has %d KB. %s.", notRun, left, max(need*perToken>>10, 1), less)
}

// count takes a result's part of the room.
func (f *room) count(r tool.Result) { f.left, f.first = f.left-resultGuess(r), false }

func resultGuess(r tool.Result) int {
	b, err := json.Marshal(r.Text)
	if err != nil {
		b = []byte(r.Text)
	}
	return guess(b) + len(r.Pictures)*pictureTokens
}

// notes describes what a turn showed about the model's context window, for people.
func (c checkpoint) notes() []admin.AgentEvent {
	var events []admin.AgentEvent
	note := func(format string, args ...any) {
		events = append(events, admin.AgentEvent{Kind: admin.AgentEventNote, Text: fmt.Sprintf(format, args...)})
	}
	if c.Compacted != nil {
		note("turns 1 to %d were replaced by a summary, to make room in the model's context window", c.Compacted.Turns)
	}
	switch l := c.Learned; {
	case l == nil:
	case l.Cuts:
		note("the model's server seems to cut requests in silence: it reports no more tokens although they grow. From now on they have at most %d tokens. "+
			"Its context should be the one in the table of models; with Ollama, num_ctx sets it", l.Limit)
	default:
		note("the model's server refused a request as too long, or stopped its answer, although it should have fitted. From now on requests have at most %d tokens. Its context should be the one in the table of models", l.Limit)
	}
	return events
}

// next returns the next request, and its compaction: a new one if the request would be
// too long.
func (r *Round) next(m model.Choice, said []string) (*compaction, model.Request, error) {
	c := r.compacted
	request := r.request(m, said, c)
	limit := float64(r.limit(m))
	if limit == 0 {
		return c, request, nil
	}
	size := r.tokens(m, request)
	if float64(size) >= compactAt*limit {
		if c = r.compact(m, said, c, int(compactTo*limit)); c != r.compacted {
			request = r.request(m, said, c)
			size = r.tokens(m, request)
		}
	}
	// A server that cuts requests takes away their beginning: what was asked, and our
	// instructions. So such a request is not sent.
	if l := r.learned[m.ID]; l.Cuts && size > l.Limit*4/3 {
		return c, request, r.tooLong(m, request, nil)
	}
	return c, request, nil
}
