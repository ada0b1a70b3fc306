package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/remote"
)

// StopReason is why an answer ended. Servers may have others than those below.
type StopReason string

// The reasons why an answer ends.
const (
	StopEndTurn   StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens"
	StopSequence  StopReason = "stop_sequence"
	StopRefusal   StopReason = "refusal"
	StopPauseTurn StopReason = "pause_turn"
	StopContext   StopReason = "model_context_window_exceeded"
)

// cutOff reports whether an answer that ended so may end in the middle of a
// call.
func (s StopReason) cutOff() bool {
	return s == StopMaxTokens || s == StopContext || s == StopRefusal
}

// Usage counts tokens. Each is in one of four figures: Input are those that the cache
// had no part in, CacheWrite were written to it, CacheRead were read from it.
type Usage struct {
	Input      int64 `json:"input"`
	CacheWrite int64 `json:"cacheWrite"`
	CacheRead  int64 `json:"cacheRead"`
	Output     int64 `json:"output"`
}

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheWrite + v.CacheWrite, u.CacheRead + v.CacheRead, u.Output + v.Output}
}

// Answer is a whole answer.
type Answer struct {
	// ID is the server's id of the answer, Model its name of the model.
	ID    string     `json:"id"`
	Model string     `json:"model"`
	Stop  StopReason `json:"stop"`
	// Content is to be sent back as the assistant's message. Unlike that, it may be
	// empty.
	Content []Block `json:"content"`
	Usage   Usage   `json:"usage"`
	// Wasted is the known usage of attempts that failed. It is not part of Usage, and
	// is also set with an error.
	Wasted Usage `json:"wasted"`
	// Refusal is the reason that comes with StopRefusal, if any; it is safe to
	// show.
	Refusal string `json:"refusal,omitempty"`
}

// Err returns an *Error of the code CodeRefused if the model refused to answer,
// nil otherwise.
func (a Answer) Err() error {
	if a.Stop != StopRefusal {
		return nil
	}
	return &Error{Kind: Refused, Reason: a.Refusal}
}

// CallError reports invalid arguments of a call. Its text is the result of that call
// for the model.
type CallError struct {
	// ID and Name are those of the call.
	ID, Name string
	// Cut reports that the answer ended in the middle of the call.
	Cut bool
	// Message describes what is wrong with the arguments.
	Message string
}

func (e *CallError) Error() string {
	if e.Cut {
		return fmt.Sprintf("the call of %q was cut off in its middle, because the answer reached its limit; nothing was done: call again with less text", e.Name)
	}
	return fmt.Sprintf("the arguments of the call of %q are not a JSON object, nothing was done: %s", e.Name, e.Message)
}

// spoiled is sent back instead of arguments that are not an object, since the API
// accepts nothing else. The API's documentation suggests the first name.
type spoiled struct {
	Invalid *string `json:"INVALID_JSON"`
	Reason  string  `json:"REASON"`
	Cut     bool    `json:"CUT_OFF,omitempty"`
}

// maxSpoiled is how much of arguments that are not valid is kept, in bytes: all
// of it would be paid for again with each further turn.
const maxSpoiled = 1 << 10

// Fault returns a *CallError if the block is a call whose arguments were cut
// off or are not a JSON object, and nil otherwise. It is read from Input, so
// that it is the same for a block that was stored in between.
func (b Block) Fault() error {
	if b.Type != TypeToolUse || !strings.HasPrefix(string(b.Input), `{"INVALID_JSON":`) {
		return nil
	}
	var s spoiled
	if err := json.Unmarshal(b.Input, &s); err != nil || s.Invalid == nil {
		return nil
	}
	return &CallError{ID: b.ID, Name: b.Name, Cut: s.Cut, Message: s.Reason}
}

// maxArguments bounds how deep arguments of a call are nested.
const maxArguments = 64

// arguments returns the arguments of a call, assembled from their parts.
func arguments(text string, stop StopReason, last bool) json.RawMessage {
	s := spoiled{}
	cut := last && stop.cutOff()
	switch v, err := basejson.Parse([]byte(text), basejson.Options{Depth: maxArguments, Values: 1 << 17}); {
	case strings.TrimSpace(text) == "" && !cut:
		return json.RawMessage("{}")
	case err != nil:
		s.Reason = err.Error()
		if e, ok := errors.AsType[*basejson.Error](err); ok {
			s.Reason = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Error())
			s.Cut = cut && e.Cut
		}
	case v.Kind != basejson.Object:
		s.Reason = "it is " + v.Kind.String()
	default:
		return json.RawMessage(text)
	}
	kept := strings.ToValidUTF8(text[:min(len(text), maxSpoiled)], "\ufffd")
	s.Invalid = &kept
	out, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`{"INVALID_JSON":"","REASON":"it can't be shown"}`)
	}
	return out
}

// wireUsage is the usage in an event. Figures are cumulative, and any may be absent.
type wireUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// maxTokens is more than any answer costs: a server's figures go into sums.
const maxTokens = 1 << 32

func (u *Usage) update(w wireUsage) {
	higher := func(have *int64, seen int64) { *have = max(*have, min(seen, maxTokens)) }
	higher(&u.Input, w.Input)
	higher(&u.CacheWrite, w.CacheWrite)
	higher(&u.CacheRead, w.CacheRead)
	higher(&u.Output, w.Output)
}

// event is any event of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message *struct {
		ID    string    `json:"id"`
		Model string    `json:"model"`
		Usage wireUsage `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string     `json:"type"`
		Text        string     `json:"text"`
		PartialJSON string     `json:"partial_json"`
		Thinking    string     `json:"thinking"`
		Signature   string     `json:"signature"`
		StopReason  StopReason `json:"stop_reason"`
		StopDetails *struct {
			Category    string `json:"category"`
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage wireUsage  `json:"usage"`
	Error *wireError `json:"error"`
}

// Bounds on an answer.
const (
	maxAnswer = 64 << 20 // bytes of a whole stream
	maxBlocks = 1 << 10
)

// building is a block that is not complete yet.
type building struct {
	block                    Block
	text, partial, signature strings.Builder
	unknown                  bool // deltas came that are not known here
}

// assembly puts an answer together from the events of one stream.
type assembly struct {
	answer  Answer
	begun   bool
	whole   bool // message_stop came
	blocks  []*building
	at      map[int]*building
	calls   map[string]bool
	attempt int
	tell    func(Progress)
	hide    func(string) string // see Client.hide
}

// malformed is the error for a stream that breaks the protocol.
func malformed(format string, args ...any) error {
	return &Error{Kind: Broken, Reason: fmt.Sprintf(format, args...)}
}

// take reads one event. It ignores unknown events, as the protocol demands. It returns
// an *Error.
func (a *assembly) take(name string, data []byte) error {
	switch name {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error":
	case "message": // unnamed: some servers leave the name to the data
		if len(data) == 0 || data[0] != '{' {
			return nil
		}
	default:
		return nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return malformed("an event is not valid JSON")
	}
	if name == "message" {
		name = e.Type
	}
	switch name {
	case "error":
		if e.Error == nil {
			e.Error = &wireError{}
		}
		e.Error.Message = a.hide(e.Error.Message)
		return e.Error.inStream()
	case "message_start":
		if a.begun || e.Message == nil {
			return malformed("the stream does not begin as one")
		}
		a.begun = true
		a.answer.ID, a.answer.Model = e.Message.ID, e.Message.Model
		a.answer.Usage.update(e.Message.Usage)
		a.report(Progress{})
		return nil
	case "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if !a.begun {
			return malformed("the stream does not begin as one")
		}
	}
	switch name {
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.delta(e)
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.answer.Stop = e.Delta.StopReason
		}
		if d := e.Delta.StopDetails; d != nil {
			a.answer.Refusal = clean(a.hide(strings.Trim(d.Category+": "+d.Explanation, ": ")))
		}
		a.answer.Usage.update(e.Usage)
		a.report(Progress{})
	case "message_stop":
		return a.finish()
	}
	return nil
}

func (a *assembly) report(p Progress) {
	p.Attempt, p.Usage = a.attempt, a.answer.Usage
	a.tell(p)
}

func (a *assembly) start(e event) error {
	b := &building{}
	if err := json.Unmarshal(e.ContentBlock, &b.block); err != nil || b.block.Type == "" {
		return malformed("a block is not one")
	}
	b.block.Cache = false
	if len(a.blocks) >= maxBlocks || a.at[e.Index] != nil {
		return malformed("block %d begins twice, or is one too many", e.Index)
	}
	b.text.WriteString(b.block.Text + b.block.Thinking)
	b.signature.WriteString(b.block.Signature)
	if b.block.Type == TypeToolUse {
		id := b.block.ID
		if id == "" || b.block.Name == "" || a.calls[id] {
			return malformed("a call has no name of its own")
		}
		a.calls[id] = true
		a.report(Progress{Tool: b.block.Name})
	}
	a.blocks, a.at[e.Index] = append(a.blocks, b), b
	return nil
}

func (a *assembly) delta(e event) error {
	b := a.at[e.Index]
	if b == nil {
		return malformed("block %d has not begun", e.Index)
	}
	fits := b.block.Type
	switch e.Delta.Type {
	case "text_delta":
		fits = TypeText
		b.text.WriteString(e.Delta.Text)
		a.report(Progress{Text: e.Delta.Text})
	case "thinking_delta":
		fits = TypeThinking
		b.text.WriteString(e.Delta.Thinking)
	case "signature_delta":
		fits = TypeThinking
		b.signature.WriteString(e.Delta.Signature)
	case "input_json_delta":
		fits = TypeToolUse
		b.partial.WriteString(e.Delta.PartialJSON)
	default:
		b.unknown = true
	}
	switch {
	case b.block.Raw != nil:
		b.unknown = true
	case fits != b.block.Type:
		return malformed("block %d has parts of another", e.Index)
	}
	return nil
}

// finish makes the answer of the blocks.
func (a *assembly) finish() error {
	if a.answer.Stop == "" {
		return malformed("the answer does not say why it ended")
	}
	if len(a.calls) > 0 && a.answer.Stop == StopEndTurn {
		a.answer.Stop = StopToolUse // as some servers of other models forget
	}
	a.answer.Content = []Block{}
	for i, b := range a.blocks {
		switch b.block.Type {
		case TypeText:
			b.block.Text = b.text.String()
			if strings.TrimSpace(b.block.Text) == "" {
				continue // which the API would not take back
			}
		case TypeThinking:
			b.block.Thinking, b.block.Signature = b.text.String(), b.signature.String()
		case TypeRedacted:
		case TypeToolUse:
			// Servers that don't stream arguments put them where a block begins.
			partial := b.partial.String()
			if given := string(b.block.Input); partial == "" && given != "" && given != "null" && given != "{}" {
				partial = given
			}
			b.block.Input = arguments(partial, a.answer.Stop, i == len(a.blocks)-1)
		default:
			if b.unknown {
				continue // what is not whole can't go back
			}
		}
		a.answer.Content = append(a.answer.Content, b.block)
	}
	a.whole = true
	return nil
}

// clean makes a server's text safe to show: one short line without credentials in
// addresses and without anything that may be a key.
func clean(text string) string {
	const most = 300
	text = remote.Visible(remote.Shown(strings.Join(strings.Fields(text), " ")))
	text = keyLike().ReplaceAllString(text, "…")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}
