package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Role says whose words a message is.
type Role string

// The roles of messages. They alternate, and a user's is the first.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// The types of blocks that this package knows. Of any other, Block.Raw is the
// whole block.
const (
	TypeText       = "text"
	TypeToolUse    = "tool_use"
	TypeToolResult = "tool_result"
	TypeThinking   = "thinking"
	TypeRedacted   = "redacted_thinking"
)

// Block is one part of a message. It marshals to and from the wire form; what
// a model answered can be sent back as it is.
type Block struct {
	// Type is one of those above; empty means TypeText.
	Type string
	// Text is that of TypeText. The API refuses an empty one.
	Text string
	// ID and Name are those of a call of a tool (TypeToolUse), Input its
	// arguments, which are a JSON object. See Fault for those that were not.
	ID, Name string
	Input    json.RawMessage
	// ToolUseID names the call that a TypeToolResult answers, Content what came
	// of it, and IsError that it failed.
	ToolUseID string
	Content   string
	IsError   bool
	// Pictures follow Content.
	Pictures []Picture
	// Thinking is the text of TypeThinking and Signature its seal: both have to
	// go back unchanged. Data is the sealed text of TypeRedacted.
	Thinking, Signature string
	Data                string
	// Raw is a whole block of a type that is not known here.
	Raw json.RawMessage
	// Cache asks that all of the prompt up to here is kept for the next
	// request. Only the last ones of a request count: see Request.
	Cache bool
}

// Picture is a picture of one of the types image/png, image/jpeg, image/gif and image/webp.
type Picture struct {
	Type string
	Data []byte
}

// Text returns a block of text.
func Text(text string) Block { return Block{Type: TypeText, Text: text} }

// ToolResult returns a block that answers the call of that id.
func ToolResult(id, content string, isError bool) Block {
	return Block{Type: TypeToolResult, ToolUseID: id, Content: content, IsError: isError}
}

// Message is what one side says at a time.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
}

// Tool is something that a model may call. InputSchema is the JSON schema of
// its arguments, an object.
type Tool struct {
	Name, Description string
	InputSchema       json.RawMessage
}

// Request is a whole conversation so far, and what may be answered. It marshals
// to and from the body of a request.
//
// Prompts are cached by prefix, in the order tools, system, messages. A
// breakpoint is set after the tools and after the system text, and after the
// last of the messages' blocks with Cache; the API takes four in all. A lookup
// goes back 20 blocks from a breakpoint, so that a caller who sets Cache on the
// last block of each message of the user finds the turn before even where this
// one made many calls. All that stands before a breakpoint has to stay the same
// from request to request, byte by byte.
type Request struct {
	// Model is the model's name for its server, as of Entry.Model.
	Model string
	// MaxTokens bounds the answer.
	MaxTokens int
	System    []Block
	Tools     []Tool
	Messages  []Message
	// Temperature, if not nil, is sent. Servers of API version 2026-10-21 and
	// newer models refuse it.
	Temperature   *float64
	StopSequences []string
	// Call names the tool that the answer must call, in place of whatever the table of
	// models says about that; empty leaves it to the model. Servers refuse it together
	// with thinking, and some ignore it.
	Call string
}

// maxBreakpoints is how many breakpoints of the cache a request may have.
const maxBreakpoints = 4

type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControl{"ephemeral"}

type wireBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	Data         *string         `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      json.RawMessage `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type wirePicture struct {
	Type   string      `json:"type"` // image
	Source imageSource `json:"source"`
}

type imageSource struct {
	Type      string `json:"type"` // base64
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type wireTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// toolChoice forces the call of one tool.
type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type wireRequest struct {
	Model         string      `json:"model"`
	MaxTokens     int         `json:"max_tokens"`
	System        []Block     `json:"system,omitempty"`
	Tools         []wireTool  `json:"tools,omitempty"`
	ToolChoice    *toolChoice `json:"tool_choice,omitempty"`
	Messages      []Message   `json:"messages"`
	Temperature   *float64    `json:"temperature,omitempty"`
	StopSequences []string    `json:"stop_sequences,omitempty"`
	Stream        bool        `json:"stream"`
}

// cacheable reports whether the API takes a breakpoint on the block.
func (b Block) cacheable() bool {
	switch b.Type {
	case "", TypeText:
		return b.Text != ""
	case TypeToolUse, TypeToolResult:
		return true
	}
	return false
}

// MarshalJSON returns the block as the API takes it.
func (b Block) MarshalJSON() ([]byte, error) {
	w := wireBlock{Type: b.Type}
	if b.Cache && b.cacheable() {
		w.CacheControl = ephemeral
	}
	switch b.Type {
	case "", TypeText:
		w.Type, w.Text = TypeText, &b.Text
	case TypeToolUse:
		w.ID, w.Name, w.Input = b.ID, b.Name, b.Input
		if len(b.Input) == 0 {
			w.Input = json.RawMessage("{}")
		}
	case TypeToolResult:
		w.ToolUseID, w.IsError = b.ToolUseID, b.IsError
		content, err := b.content()
		if err != nil {
			return nil, err
		}
		w.Content = content
	case TypeThinking:
		w.Thinking, w.Signature = &b.Thinking, &b.Signature
	case TypeRedacted:
		w.Data = &b.Data
	default:
		if len(b.Raw) == 0 {
			return nil, fmt.Errorf("a block of the unknown type %q has no text", b.Type)
		}
		return b.Raw, nil
	}
	return json.Marshal(w)
}

// content returns the content of a tool's result: a text, or a list of blocks if it has
// pictures.
func (b Block) content() (json.RawMessage, error) {
	if len(b.Pictures) == 0 {
		if b.Content == "" {
			return nil, nil
		}
		return json.Marshal(b.Content)
	}
	var all []any
	if b.Content != "" {
		all = append(all, Text(b.Content))
	}
	for _, p := range b.Pictures {
		all = append(all, wirePicture{"image", imageSource{"base64", p.Type, p.Data}})
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads a block as the API writes it.
func (b *Block) UnmarshalJSON(src []byte) error {
	var w wireBlock
	var of struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(src, &of); err != nil {
		return err
	}
	switch of.Type {
	case TypeText, TypeToolUse, TypeToolResult, TypeThinking, TypeRedacted:
	default:
		*b = Block{Type: of.Type, Raw: bytes.Clone(src)}
		return nil
	}
	if err := json.Unmarshal(src, &w); err != nil {
		return err
	}
	*b = Block{Type: w.Type, Cache: w.CacheControl != nil}
	switch w.Type {
	case TypeText:
		b.Text = value(w.Text)
	case TypeToolUse:
		b.ID, b.Name, b.Input = w.ID, w.Name, w.Input
	case TypeToolResult:
		b.ToolUseID, b.IsError = w.ToolUseID, w.IsError
		return b.result(w.Content)
	case TypeThinking:
		b.Thinking, b.Signature = value(w.Thinking), value(w.Signature)
	case TypeRedacted:
		b.Data = value(w.Data)
	}
	return nil
}

// result reads the content of a tool's result, a text or a list of blocks, of
// which the texts and pictures count.
func (b *Block) result(content json.RawMessage) error {
	if len(content) == 0 {
		return nil
	}
	if content[0] == '"' {
		return json.Unmarshal(content, &b.Content)
	}
	var blocks []Block
	err := json.Unmarshal(content, &blocks)
	var text strings.Builder
	for _, inner := range blocks {
		text.WriteString(inner.Text)
		var p wirePicture
		if inner.Raw != nil && json.Unmarshal(inner.Raw, &p) == nil && p.Type == "image" && p.Source.Type == "base64" {
			b.Pictures = append(b.Pictures, Picture{p.Source.MediaType, p.Source.Data})
		}
	}
	b.Content = text.String()
	return err
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// MarshalJSON returns the body of a request, with its breakpoints.
func (r Request) MarshalJSON() ([]byte, error) {
	w := wireRequest{
		Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, StopSequences: r.StopSequences, Stream: true,
		System: slices.Clone(r.System), Messages: make([]Message, len(r.Messages)),
	}
	if r.Call != "" {
		w.ToolChoice = &toolChoice{Type: "tool", Name: r.Call}
	}
	left := maxBreakpoints
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, wireTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	if n := len(w.Tools); n > 0 {
		w.Tools[n-1].CacheControl = ephemeral
		left--
	}
	for i := range w.System {
		w.System[i].Cache = i == len(w.System)-1
	}
	if len(w.System) > 0 {
		left--
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		m.Content = append([]Block{}, m.Content...)
		for k := len(m.Content) - 1; k >= 0; k-- {
			b := &m.Content[k]
			if b.Cache = b.Cache && b.cacheable() && left > 0; b.Cache {
				left--
			}
		}
		w.Messages[i] = m
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the body of a request.
func (r *Request) UnmarshalJSON(src []byte) error {
	var w wireRequest
	if err := json.Unmarshal(src, &w); err != nil {
		return err
	}
	*r = Request{
		Model: w.Model, MaxTokens: w.MaxTokens, System: w.System, Messages: w.Messages,
		Temperature: w.Temperature, StopSequences: w.StopSequences,
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	if w.ToolChoice != nil && w.ToolChoice.Type == "tool" {
		r.Call = w.ToolChoice.Name
	}
	return nil
}

// ours are the members of a body that Request sets.
var ours = []string{"model", "max_tokens", "system", "tools", "messages", "temperature", "stop_sequences", "stream"}

// body returns the text of a request, with further members.
func (r Request) body(more map[string]json.RawMessage) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1]
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if name == "tool_choice" && r.Call != "" {
			continue
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(append(text, ','), quoted...), ':'), more[name]...)
	}
	return append(text, '}'), nil
}
