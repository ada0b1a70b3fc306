package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
)

// asked is a request's body as the API reads it. It is read without package model,
// so that neither hides a fault of the other.
type asked struct {
	Model         string            `json:"model"`
	MaxTokens     int               `json:"max_tokens"`
	Stream        bool              `json:"stream"`
	System        []json.RawMessage `json:"system"`
	Tools         []askedTool       `json:"tools"`
	Messages      []askedMessage    `json:"messages"`
	Temperature   *float64          `json:"temperature"`
	StopSequences []string          `json:"stop_sequences"`

	// What servers take beside that.
	Thinking         json.RawMessage `json:"thinking"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
	OutputConfig     json.RawMessage `json:"output_config"`
	Metadata         json.RawMessage `json:"metadata"`
	AnthropicVersion string          `json:"anthropic_version"`
}

type askedTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type askedMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// askedBlock has the members of every type of block; members says which.
type askedBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	Thinking     *string         `json:"thinking"`
	Signature    *string         `json:"signature"`
	Data         string          `json:"data"`
	CacheControl json.RawMessage `json:"cache_control"`
}

var members = map[string][]string{
	model.TypeText:       {"type", "text", "cache_control"},
	model.TypeToolUse:    {"type", "id", "name", "input", "cache_control"},
	model.TypeToolResult: {"type", "tool_use_id", "content", "is_error", "cache_control"},
	model.TypeThinking:   {"type", "thinking", "signature"},
	model.TypeRedacted:   {"type", "data"},
}

// maxBreakpoints is how many breakpoints of the cache the API takes.
const maxBreakpoints = 4

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// checker collects what is wrong with a request.
type checker struct{ faults []string }

func (c *checker) expect(ok bool, format string, args ...any) bool {
	if !ok {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
	return ok
}

// check returns a request, and what the API would refuse it for. paused says
// that the last answer was to be gone on with.
func check(r *http.Request, raw []byte, paused bool) (model.Request, []string) {
	var c checker
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	c.expect(r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"), "%s %s is not the call of messages", r.Method, r.URL.Path)
	c.expect(kind == "application/json", "the body's type is %q", kind)
	c.expect(r.Header.Get("Anthropic-Version") != "", "anthropic-version: header is required")
	c.expect(len(raw) <= maxRequest, "the request is over %d bytes", maxRequest)

	var body asked
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var request model.Request
	if err := dec.Decode(&body); !c.expect(err == nil, "the body can't be read: %v", err) {
		return request, c.faults
	}
	err := json.Unmarshal(raw, &request)
	c.expect(err == nil, "the body can't be read: %v", err)
	c.expect(body.Stream, "stream is not set")
	c.expect(body.Model != "", "model is missing")
	c.expect(body.MaxTokens > 0, "max_tokens is missing")
	points := c.tools(body.Tools)
	c.choice(body)
	for i, text := range body.System {
		b := c.block(fmt.Sprintf("system.%d", i), text)
		c.expect(b.Type == model.TypeText, "system.%d is not a text", i)
		points += point(b.CacheControl)
	}
	points += c.messages(body.Messages, paused)
	c.expect(points <= maxBreakpoints, "a maximum of 4 blocks with cache_control may be provided, found %d", points)
	return request, c.faults
}

func point(control json.RawMessage) int {
	if len(control) == 0 {
		return 0
	}
	return 1
}

func (c *checker) tools(tools []askedTool) (points int) {
	var names []string
	for i, t := range tools {
		c.expect(toolName.MatchString(t.Name), "tools.%d.name %q is not one", i, t.Name)
		c.expect(!slices.Contains(names, t.Name), "tools.%d.name %q is there twice", i, t.Name)
		var schema map[string]any
		err := json.Unmarshal(t.InputSchema, &schema)
		c.expect(err == nil && schema["type"] == "object", "tools.%d.input_schema is not that of an object", i)
		names, points = append(names, t.Name), points+point(t.CacheControl)
	}
	return points
}

// choice checks that a forced tool exists, and that the request has nothing beside it
// that servers refuse.
func (c *checker) choice(body asked) {
	if len(body.ToolChoice) == 0 {
		return
	}
	var choice struct{ Type, Name string }
	err := json.Unmarshal(body.ToolChoice, &choice)
	if !c.expect(err == nil && choice.Type != "", "tool_choice has no type") || choice.Type != "tool" {
		return
	}
	known := slices.ContainsFunc(body.Tools, func(t askedTool) bool { return t.Name == choice.Name })
	c.expect(known, "tool_choice: there is no tool %q", choice.Name)
	c.expect(len(body.Thinking) == 0, "thinking may not be enabled when tool_choice forces tool use")
}

// block reads one block strictly.
func (c *checker) block(at string, text json.RawMessage) askedBlock {
	var b askedBlock
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil || json.Unmarshal(text, &b) != nil {
		c.expect(false, "%s is not a block", at)
		return b
	}
	known, ok := members[b.Type]
	for name := range all {
		c.expect(!ok || slices.Contains(known, name), "%s.%s.%s: Extra inputs are not permitted", at, b.Type, name)
	}
	switch b.Type {
	case model.TypeText:
		c.expect(b.Text != nil && strings.TrimSpace(*b.Text) != "", "%s: text content blocks must contain non-whitespace text", at)
	case model.TypeToolUse:
		var input map[string]json.RawMessage
		err := json.Unmarshal(b.Input, &input)
		c.expect(err == nil && input != nil, "%s.input: Input should be a valid dictionary", at)
		c.expect(b.ID != "" && toolName.MatchString(b.Name), "%s: the call has no id or name", at)
	case model.TypeThinking:
		c.expect(b.Thinking != nil && b.Signature != nil && *b.Signature != "", "%s: thinking comes back without its signature", at)
	case "":
		c.expect(false, "%s has no type", at)
	}
	return b
}

func (c *checker) messages(messages []askedMessage, paused bool) (points int) {
	c.expect(len(messages) > 0, "messages is empty")
	var open []string // calls that have no result yet
	seen := map[string]bool{}
	for i, m := range messages {
		want := "user"
		if i%2 == 1 {
			want = "assistant"
		}
		c.expect(m.Role == want, "messages.%d: the role is %q, and roles must alternate, the user's first", i, m.Role)
		c.expect(len(m.Content) > 0, "messages.%d: content is empty", i)
		var answered, called []string
		other := false
		for k, text := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, k)
			b := c.block(at, text)
			points += point(b.CacheControl)
			switch b.Type {
			case model.TypeToolUse:
				c.expect(m.Role == "assistant", "%s: a user calls a tool", at)
				c.expect(!seen[b.ID], "%s: the id %q is there twice", at, b.ID)
				seen[b.ID] = true
				called = append(called, b.ID)
				continue
			case model.TypeToolResult:
				c.expect(slices.Contains(open, b.ToolUseID), "%s: unexpected tool_use_id %q: no such call in the message before", at, b.ToolUseID)
				c.expect(!slices.Contains(answered, b.ToolUseID), "%s: the call %q has two results", at, b.ToolUseID)
				c.expect(!other, "%s: results of tools must come first in a message", at)
				answered = append(answered, b.ToolUseID)
				continue
			}
			other = true
		}
		for _, id := range open {
			c.expect(slices.Contains(answered, id), "messages.%d: the call %q has no result", i, id)
		}
		open = called
	}
	if n := len(messages); n > 0 && messages[n-1].Role != "user" {
		c.expect(paused, "the last message must be the user's")
	}
	return points
}

// conversation is a prompt that was seen: what comes before all messages, and
// the messages, without breakpoints.
type conversation struct {
	before   string
	messages []string
}

func conversationOf(raw []byte) (c conversation) {
	var body struct {
		Tools    json.RawMessage   `json:"tools"`
		System   json.RawMessage   `json:"system"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(bytes.ReplaceAll(raw, breakpoint, nil), &body) == nil {
		c.before = string(body.Tools) + string(body.System)
	}
	for _, m := range body.Messages {
		c.messages = append(c.messages, string(m))
	}
	return c
}

// opening returns the first message of a request, by which conversations are
// told apart.
func opening(raw []byte) string { return conversationOf(raw).messages[0] }

// followed reports a prompt that begins as one before and then differs from it:
// a cache would know none of it. Each request has to repeat an earlier one of
// its conversation, or to add an answer and what the user says to it.
func (h *Handler) followed(raw []byte) []string {
	now := conversationOf(raw)
	first := now.messages[0]
	earlier := h.told[first]
	h.told[first] = append(earlier, now)
	if len(earlier) == 0 || len(now.messages) == 1 {
		return nil
	}
	same := false
	for _, past := range earlier {
		if past.before != now.before {
			continue
		}
		same = true
		if n := len(now.messages) - len(past.messages); n >= 0 && n <= 2 && slices.Equal(past.messages, now.messages[:len(past.messages)]) {
			return nil
		}
	}
	if !same {
		return []string{"the tools or the system text changed within a conversation: nothing of the prompt is in the cache"}
	}
	return []string{fmt.Sprintf("the conversation of %d messages continues none of the %d requests before: its prefix changed", len(now.messages), len(earlier))}
}
