package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
)

// Step is one answer of a script. Its methods return changed copies.
type Step struct {
	// Blocks are what is answered, and Stop why it ends there. Calls without an
	// ID get one.
	Blocks []model.Block
	Stop   model.StopReason
	// Refusal is the explanation that comes with model.StopRefusal.
	Refusal string
	// Usage, if not nil, is reported instead of what the request would cost.
	Usage *model.Usage

	status                              int // of an error in place of an answer
	errorType, errorMessage             string
	retryAfter                          string
	arguments                           map[int]string // of calls, by block, as they are sent
	stream                              string         // in place of all events
	cut, cutEvents, chunk               int
	isCut, stalls, errorInside, tooLong bool
	pause                               time.Duration
	tokens                              int64 // of the answer; 0: by its length
	times                               int   // 0: once; below: for ever
	when                                func(model.Request) error
	answer                              func(model.Request) Step
}

// Call is one call of a tool.
type Call struct {
	Name string
	// Input is marshalled to the arguments.
	Input any
	// Raw, if not empty, is sent as the arguments in place of Input.
	Raw string
}

// Text answers with a text, and ends the turn.
func Text(text string) Step {
	return Step{Blocks: []model.Block{model.Text(text)}, Stop: model.StopEndTurn}
}

// Calls answers with calls of tools.
func Calls(calls ...Call) Step {
	s := Step{Stop: model.StopToolUse, arguments: map[int]string{}}
	for i, c := range calls {
		s.arguments[i] = c.Raw
		if c.Raw == "" {
			s.arguments[i] = marshal(c.Input)
		}
		s.Blocks = append(s.Blocks, model.Block{Type: model.TypeToolUse, Name: c.Name})
	}
	return s
}

// CutCall answers with a call of which only the first bytes of the arguments
// come: the answer has reached its limit of tokens.
func CutCall(name string, input any, bytes int) Step {
	s := Calls(Call{Name: name, Input: input})
	s.arguments[0] = s.arguments[0][:bytes]
	s.Stop = model.StopMaxTokens
	return s
}

// Refusal answers that the model will not.
func Refusal(explanation string) Step {
	return Step{Stop: model.StopRefusal, Refusal: explanation}
}

// Status answers with an error of HTTP.
func Status(status int, errorType, message string) Step {
	return Step{status: status, errorType: errorType, errorMessage: message}
}

// RateLimited answers 429; retryAfter is the header's value, none if empty.
func RateLimited(retryAfter string) Step {
	s := Status(http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your rate limit.")
	s.retryAfter = retryAfter
	return s
}

// Overloaded answers 529.
func Overloaded() Step { return Status(529, "overloaded_error", "Overloaded") }

// Failing answers 500.
func Failing() Step {
	return Status(http.StatusInternalServerError, "api_error", "Internal server error")
}

// TooLong answers that the conversation is over the model's limit.
// What is asked next may leave out some of it.
func TooLong() Step {
	s := Status(http.StatusBadRequest, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
	s.tooLong = true
	return s
}

// Broken begins an answer and ends it with an event of an error.
func Broken(errorType, message string) Step {
	s := Text("Let me")
	s.errorType, s.errorMessage, s.errorInside = errorType, message, true
	return s
}

// Stream sends a text as the stream, as it is.
func Stream(text string) Step { return Step{stream: text} }

// Func answers all requests that follow, or as many as Times says, each with what
// fn returns for it: a dialogue. fn is called for one request at a time.
func Func(fn func(model.Request) Step) Step { return Step{answer: fn, times: -1} }

// Saying puts a text before the answer.
func (s Step) Saying(text string) Step {
	return s.before(model.Text(text))
}

// Thinking puts thoughts before the answer, with their signature.
func (s Step) Thinking(text, signature string) Step {
	return s.before(model.Block{Type: model.TypeThinking, Thinking: text, Signature: signature})
}

func (s Step) before(b model.Block) Step {
	s.Blocks = append([]model.Block{b}, s.Blocks...)
	moved := map[int]string{}
	for i, text := range s.arguments {
		moved[i+1] = text
	}
	s.arguments = moved
	return s
}

// Stopping ends the answer for another reason.
func (s Step) Stopping(reason model.StopReason) Step { s.Stop = reason; return s }

// Costing says another usage than the request's.
func (s Step) Costing(u model.Usage) Step { s.Usage = &u; return s }

// Long says that the answer has so many tokens.
func (s Step) Long(tokens int64) Step { s.tokens = tokens; return s }

// Times makes the step answer n requests.
func (s Step) Times(n int) Step { s.times = n; return s }

// Forever makes the step answer all requests that follow.
func (s Step) Forever() Step { s.times = -1; return s }

// Cut breaks the connection after that many bytes of the stream. One that has
// fewer is sent whole.
func (s Step) Cut(bytes int) Step { s.cut, s.isCut = bytes, true; return s }

// CutAfter breaks the connection after that many events of the stream.
func (s Step) CutAfter(events int) Step {
	s.isCut, s.cutEvents = true, events
	return s
}

// Events returns how many events the stream of the answer has.
func (s Step) Events() int { return strings.Count(s.text("", "", model.Usage{}), eventEnd) }

// eventEnd ends an event of a stream.
const eventEnd = "\n\n"

// Stalling keeps the connection open after the bytes of Cut, and sends no more.
func (s Step) Stalling(bytes int) Step {
	s = s.Cut(bytes)
	s.stalls = true
	return s
}

// Dripping sends the stream in pieces of that many bytes, with a pause after
// each.
func (s Step) Dripping(bytes int, pause time.Duration) Step {
	s.chunk, s.pause = bytes, pause
	return s
}

// When expects that the request satisfies fn, whose error says what is wrong
// with it.
func (s Step) When(fn func(model.Request) error) Step { s.when = fn; return s }

// text returns the stream of an answer. id makes it differ from all others.
func (s Step) text(id, name string, usage model.Usage) string {
	if s.stream != "" {
		return s.stream
	}
	if s.Usage != nil {
		usage = *s.Usage
	}
	var b strings.Builder
	event := func(kind string, members map[string]any) {
		members["type"] = kind
		fmt.Fprintf(&b, "event: %s\ndata: %s"+eventEnd, kind, marshal(members))
	}
	tokens := func(output int64) map[string]any {
		return map[string]any{
			"input_tokens": usage.Input, "cache_creation_input_tokens": usage.CacheWrite,
			"cache_read_input_tokens": usage.CacheRead, "output_tokens": output,
		}
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": name, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": tokens(1),
	}})
	event("ping", map[string]any{})
	for i, block := range s.Blocks {
		empty, deltas := s.parts(i, block, id)
		event("content_block_start", map[string]any{"index": i, "content_block": empty})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		if s.errorInside {
			event("error", map[string]any{"error": map[string]any{"type": s.errorType, "message": s.errorMessage}})
			return b.String()
		}
		event("content_block_stop", map[string]any{"index": i})
	}
	ended := map[string]any{"stop_reason": s.Stop, "stop_sequence": nil}
	if s.Stop == model.StopRefusal {
		ended["stop_details"] = map[string]any{"type": "refusal", "category": nil, "explanation": s.Refusal}
	}
	event("message_delta", map[string]any{"delta": ended, "usage": tokens(usage.Output)})
	event("message_stop", map[string]any{})
	return b.String()
}

// parts returns how block i begins, and what is added to it.
func (s Step) parts(i int, b model.Block, id string) (empty any, deltas []map[string]any) {
	add := func(kind, member, text string) {
		for _, part := range pieces(text) {
			deltas = append(deltas, map[string]any{"type": kind, member: part})
		}
	}
	switch b.Type {
	case "", model.TypeText:
		add("text_delta", "text", b.Text)
		return map[string]any{"type": model.TypeText, "text": ""}, deltas
	case model.TypeThinking:
		add("thinking_delta", "thinking", b.Thinking)
		add("signature_delta", "signature", b.Signature)
		return map[string]any{"type": model.TypeThinking, "thinking": "", "signature": ""}, deltas
	case model.TypeToolUse:
		text, ok := s.arguments[i]
		if !ok {
			text = string(b.Input)
		}
		add("input_json_delta", "partial_json", text)
		if b.ID == "" {
			b.ID = fmt.Sprintf("toolu_%s_%d", id, i)
		}
		return map[string]any{"type": model.TypeToolUse, "id": b.ID, "name": b.Name, "input": map[string]any{}}, deltas
	}
	return b, nil
}

// pieces cuts a text as a model's tokens would.
func pieces(text string) []string {
	const most = 24
	all := []string{""}
	for _, r := range text {
		last := len(all) - 1
		if len(all[last]) >= most {
			all, last = append(all, ""), last+1
		}
		all[last] += string(r)
	}
	return all
}

// marshal returns v as JSON. What a script holds can be marshalled, or the script
// is wrong.
func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
