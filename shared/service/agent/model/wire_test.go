package model

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestBlocksKeepTheirForm(t *testing.T) {
	for _, tt := range []struct {
		block Block
		want  string
	}{
		{Block{Text: "Hi"}, `{"type":"text","text":"Hi"}`},
		{Block{Type: TypeText, Text: "Hi", Cache: true}, `{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}`},
		{Block{Type: TypeText, Cache: true}, `{"type":"text","text":""}`},
		{Block{Type: TypeToolUse, ID: "t1", Name: "read"}, `{"type":"tool_use","id":"t1","name":"read","input":{}}`},
		{Block{Type: TypeToolUse, ID: "t1", Name: "read", Input: json.RawMessage(`{ "b": 1, "a": 2.50 }`)}, `{"type":"tool_use","id":"t1","name":"read","input":{"b":1,"a":2.50}}`},
		{Block{Type: TypeToolResult, ToolUseID: "t1"}, `{"type":"tool_result","tool_use_id":"t1"}`},
		{Block{Type: TypeToolResult, ToolUseID: "t1", Content: `"x"`, IsError: true}, `{"type":"tool_result","tool_use_id":"t1","content":"\"x\"","is_error":true}`},
		{Block{Type: TypeToolResult, ToolUseID: "t1", Content: "x", Pictures: []Picture{{"image/png", []byte{1, 2, 3}}}},
			`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}]}`},
		{Block{Type: TypeThinking, Signature: "s", Cache: true}, `{"type":"thinking","thinking":"","signature":"s"}`},
		{Block{Type: TypeThinking, Thinking: "Hm", Signature: "s"}, `{"type":"thinking","thinking":"Hm","signature":"s"}`},
		{Block{Type: TypeRedacted, Data: "d"}, `{"type":"redacted_thinking","data":"d"}`},
		{Block{Type: "new", Raw: json.RawMessage(`{"type":"new","text":7,"cache_control":1}`)}, `{"type":"new","text":7,"cache_control":1}`},
	} {
		got, err := json.Marshal(tt.block)
		if err != nil || string(got) != tt.want {
			t.Errorf("%+v: %s, %v", tt.block, got, err)
		}
		var back Block
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != tt.want {
			t.Errorf("%+v: back and again %s, %v", back, again, err)
		}
	}
	if _, err := json.Marshal(Block{Type: "new"}); err == nil {
		t.Error("a block without a form was written")
	}
	var b Block
	if err := json.Unmarshal([]byte(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), &b); err != nil || b.Content != "ab" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestRequestKeepsItsForm(t *testing.T) {
	warm := 0.5
	r := Request{
		Model: "m", MaxTokens: 100, Temperature: &warm, StopSequences: []string{"END"}, Call: "read",
		System: []Block{{Type: TypeText, Text: "You write."}},
		Tools:  []Tool{{"read", "Reads a file.", json.RawMessage(`{"type":"object"}`)}},
		Messages: []Message{
			{User, []Block{{Type: TypeText, Text: "Do", Cache: true}}},
			{Assistant, []Block{{Type: TypeToolUse, ID: "t1", Name: "read", Input: json.RawMessage(`{}`)}}},
			{User, []Block{{Type: TypeToolResult, ToolUseID: "t1", Content: "x"}}},
		},
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Request
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	r.System[0].Cache = true // set by the form
	if !reflect.DeepEqual(back, r) {
		t.Errorf("%+v\nwant %+v", back, r)
	}
	if want := `"tool_choice":{"type":"tool","name":"read"}`; !strings.Contains(string(text), want) {
		t.Errorf("%s\nlacks %s", text, want)
	}
	// A forced call goes before the operator's choice.
	body, err := r.body(map[string]json.RawMessage{"tool_choice": json.RawMessage(`{"type":"auto"}`), "z": json.RawMessage(`1`), "anthropic_version": json.RawMessage(`"x"`)})
	if want := strings.TrimSuffix(string(text), "}") + `,"anthropic_version":"x","z":1}`; err != nil || string(body) != want {
		t.Errorf("%s, %v\nwant %s", body, err, want)
	}
}

// TestBreakpoints: four at most, the tools' and the system's before the last of
// the messages', and a caller's blocks stay as they are.
func TestBreakpoints(t *testing.T) {
	message := func(role Role, cache ...bool) Message {
		m := Message{Role: role}
		for _, c := range cache {
			m.Content = append(m.Content, Block{Text: "x", Cache: c})
		}
		return m
	}
	tool, system := Tool{Name: "t", InputSchema: json.RawMessage(`{}`)}, Block{Text: "s"}
	many := []Message{message(User, true, true), message(Assistant, true), message(User, false, true), message(Assistant, false), message(User, true, false)}
	for name, tt := range map[string]struct {
		r    Request
		want string // a digit for each block of tools, system and messages
	}{
		"all":         {Request{Tools: []Tool{tool, tool}, System: []Block{system, system}, Messages: many}, "01 01 00 0 01 0 10"},
		"no system":   {Request{Tools: []Tool{tool}, Messages: many}, "1  00 1 01 0 10"},
		"messages":    {Request{Messages: many}, "  01 1 01 0 10"},
		"system only": {Request{System: []Block{{Text: "s", Cache: true}, system}, Messages: []Message{message(User, false)}}, " 01 0"},
		"thoughts": {Request{Messages: []Message{message(User, true), {Assistant, []Block{
			{Type: TypeThinking, Signature: "s", Cache: true}, {Type: TypeToolUse, ID: "i", Name: "n", Cache: true},
		}}}}, "  1 01"},
	} {
		before, _ := json.Marshal(tt.r.Messages)
		text, err := json.Marshal(tt.r)
		if err != nil {
			t.Fatal(err)
		}
		if after, _ := json.Marshal(tt.r.Messages); string(after) != string(before) {
			t.Errorf("%s: the caller's blocks have changed", name)
		}
		var body struct {
			Tools, System []map[string]any
			Messages      []struct{ Content []map[string]any }
		}
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		digits := func(blocks []map[string]any) string {
			s := ""
			for _, b := range blocks {
				if b["cache_control"] != nil {
					s += "1"
				} else {
					s += "0"
				}
			}
			return s
		}
		parts := []string{digits(body.Tools), digits(body.System)}
		for _, m := range body.Messages {
			parts = append(parts, digits(m.Content))
		}
		if got := strings.Join(parts, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
