package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

// answerStream is an answer with a thought, a text and two calls, as the vendor
// sends it.
const answerStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":1,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I should "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"look."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":null}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me loo"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"k."}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{},"caller":{"type":"direct"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":".mdx\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

`

func wholeAnswer() Answer {
	return Answer{
		ID: "msg_1", Model: "m-1", Stop: StopToolUse, Usage: Usage{25, 100, 2000, 89},
		Content: []Block{
			{Type: TypeThinking, Thinking: "I should look.", Signature: "EqQB="},
			{Type: TypeText, Text: "Let me look."},
			{Type: TypeToolUse, ID: "toolu_1", Name: "read", Input: json.RawMessage(`{"path": "a.mdx"}`)},
			{Type: TypeToolUse, ID: "toolu_2", Name: "list", Input: json.RawMessage(`{}`)},
		},
	}
}

// assembled returns the answer of a stream.
func assembled(t *testing.T, stream io.Reader) (Answer, *Error) {
	t.Helper()
	a := &assembly{tell: func(Progress) {}, hide: func(s string) string { return s }, at: map[int]*building{}, calls: map[string]bool{}}
	return a.receive(t.Context(), stream, func() {})
}

func TestAnswerIsTheSameHoweverItComes(t *testing.T) {
	readers := map[string]io.Reader{
		"whole": strings.NewReader(answerStream), "bytes": iotest.OneByteReader(strings.NewReader(answerStream)),
		"halves":           iotest.HalfReader(strings.NewReader(answerStream)),
		"its end with it":  iotest.DataErrReader(strings.NewReader(answerStream)),
		"carriage returns": strings.NewReader(strings.ReplaceAll(answerStream, "\n", "\r\n")),
		"without names":    strings.NewReader(regexpEvent.ReplaceAllString(answerStream, "")),
	}
	for name, r := range readers {
		got, err := assembled(t, r)
		if err != nil || !reflect.DeepEqual(got, wholeAnswer()) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestAnswerThatIsCutIsNone: whatever is missing at the end, there is no answer.
func TestAnswerThatIsCutIsNone(t *testing.T) {
	for n := range len(answerStream) {
		got, err := assembled(t, strings.NewReader(answerStream[:n]))
		if err == nil || err.Kind != Broken || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		if got.Content != nil {
			t.Fatalf("after %d bytes: %+v", n, got)
		}
	}
}

// stream returns events by their data, with names if they have a type.
func stream(events ...string) string {
	var b strings.Builder
	for _, data := range events {
		var e struct{ Type string }
		if json.Unmarshal([]byte(data), &e) == nil && e.Type != "" {
			b.WriteString("event: " + e.Type + "\n")
		}
		b.WriteString("data: " + data + "\n\n")
	}
	return b.String()
}

const (
	begin  = `{"type":"message_start","message":{"id":"i","model":"m","usage":{"input_tokens":5,"output_tokens":1}}}`
	end    = `{"type":"message_stop"}`
	text   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`
	ended  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`
	limit  = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}}`
	called = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}`
	call   = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"edit","input":{}}}`
)

func part(json string) string {
	quoted, _ := jsonString(json)
	return `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + quoted + `}}`
}

func jsonString(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

func TestAnswersOfServers(t *testing.T) {
	hi := []Block{{Type: TypeText, Text: "Hi"}}
	usage := Usage{Input: 5, Output: 3}
	for name, tt := range map[string]struct {
		stream string
		want   Answer
	}{
		"a text in its start": {stream(begin, text, ended, end), Answer{Stop: StopEndTurn, Content: hi}},
		"nothing":             {stream(begin, ended, end), Answer{Stop: StopEndTurn, Content: []Block{}}},
		"a text of spaces": {
			stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"\n\n"}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: []Block{}},
		},
		"events that are not known": {
			stream(begin, `{"type":"vendor_note","index":"x"}`, "[DONE]", text, ended, end), Answer{Stop: StopEndTurn, Content: hi},
		},
		"one that is not known, and not JSON": {
			stream(begin) + "event: note\ndata: {\n\n" + stream(text, ended, end), Answer{Stop: StopEndTurn, Content: hi},
		},
		"a block that is not known, whole": {
			stream(begin, text, `{"type":"content_block_start","index":1,"content_block":{"type":"fallback","text":{"a":1}}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: append(hi, Block{Type: "fallback", Raw: json.RawMessage(`{"type":"fallback","text":{"a":1}}`)})},
		},
		"a block that is not known, in parts": {
			stream(begin, text, `{"type":"content_block_start","index":1,"content_block":{"type":"audio"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"audio_delta","data":"x"}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: hi},
		},
		"a part that is not known": {
			stream(begin, text, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: hi},
		},
		"a sealed thought": {
			stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"abc"}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: []Block{{Type: TypeRedacted, Data: "abc"}}},
		},
		"a thought that is not told": {
			stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}}`, ended, end),
			Answer{Stop: StopEndTurn, Content: []Block{{Type: TypeThinking, Signature: "s"}}},
		},
		"arguments in a call's start": {
			stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"edit","input":{"a":1}}}`, called, end),
			Answer{Stop: StopToolUse, Content: []Block{{Type: TypeToolUse, ID: "t1", Name: "edit", Input: json.RawMessage(`{"a":1}`)}}},
		},
		"a call and the end of a turn": {
			stream(begin, call, part(`{}`), ended, end),
			Answer{Stop: StopToolUse, Content: []Block{{Type: TypeToolUse, ID: "t1", Name: "edit", Input: json.RawMessage(`{}`)}}},
		},
		"a refusal": {
			stream(begin, text, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"No\u202e."}},"usage":{"output_tokens":3}}`, end),
			Answer{Stop: StopRefusal, Content: hi, Refusal: `cyber: No\u202e.`},
		},
		"a reason that is not known": {
			stream(begin, text, `{"type":"message_delta","delta":{"stop_reason":"tired"},"usage":{"output_tokens":3}}`, end),
			Answer{Stop: "tired", Content: hi},
		},
		"figures that go back": {
			stream(begin, text, ended, `{"type":"message_delta","delta":{},"usage":{"input_tokens":0,"output_tokens":-2}}`, end),
			Answer{Stop: StopEndTurn, Content: hi},
		},
	} {
		tt.want.ID, tt.want.Model, tt.want.Usage = "i", "m", usage
		got, err := assembled(t, strings.NewReader(tt.stream))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, tt.want)
		}
	}
}

func TestStreamsThatMakeNoSense(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		kind   Kind
	}{
		"no beginning":           {stream(text, ended, end), Broken},
		"two beginnings":         {stream(begin, begin, text, ended, end), Broken},
		"no message":             {stream(`{"type":"message_start"}`), Broken},
		"no reason for the end":  {stream(begin, text, end), Broken},
		"an event cut in two":    {stream(begin) + "event: message_delta\ndata: {\"type\n\n", Broken},
		"a block twice":          {stream(begin, text, text), Broken},
		"a part of no block":     {stream(begin, part(`{}`)), Broken},
		"a part of another type": {stream(begin, text, call, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta"}}`), Broken},
		"a block of no type":     {stream(begin, `{"type":"content_block_start","index":0,"content_block":{}}`), Broken},
		"no block":               {stream(begin, `{"type":"content_block_start","index":0,"content_block":null}`), Broken},
		"a call without an id":   {stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"x"}}`), Broken},
		"a call twice":           {stream(begin, call, strings.Replace(call, `"index":1`, `"index":2`, 1)), Broken},
		"an overload":            {stream(begin, text, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), Overloaded},
		"a limit":                {stream(begin, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`), RateLimited},
		"a failure":              {stream(`{"type":"error","error":{"type":"api_error","message":"x"}}`), Failed},
		"a failure of a new kind": {
			stream(begin, `{"type":"error","error":{"type":"weather_error","message":"x"}}`), Failed,
		},
		"an error that is not said":  {stream(begin, `{"type":"error"}`), Failed},
		"a key":                      {stream(begin, `{"type":"error","error":{"type":"authentication_error","message":"x"}}`), Key},
		"a long conversation":        {stream(begin, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`), TooLong},
		"a request that is not good": {stream(begin, `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`), Invalid},
	} {
		got, err := assembled(t, strings.NewReader(tt.stream+stream(ended, end)))
		if err == nil || err.Kind != tt.kind || err.Status != 0 || got.Content != nil {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	drip := strings.Repeat(":"+strings.Repeat(" still here", 9000)+"\n\n", maxAnswer/99000+1)
	_, err := assembled(t, io.MultiReader(strings.NewReader(stream(begin)), strings.NewReader(drip)))
	if err == nil || err.temporary() {
		t.Errorf("a stream without an end: %v", err)
	}
	_, err = assembled(t, strings.NewReader(stream(begin)+"data: "+strings.Repeat("x", maxEvent+1)))
	if err == nil || err.temporary() {
		t.Errorf("an event without an end: %v", err)
	}
}

func TestArguments(t *testing.T) {
	for name, tt := range map[string]struct {
		text, ended string
		input       string // empty: refused
		cut         bool
		message     string
	}{
		"an object":               {`{"a": [1, {"b": "c"}]}`, called, `{"a": [1, {"b": "c"}]}`, false, ""},
		"nothing":                 {``, called, `{}`, false, ""},
		"spaces":                  {"  \n", called, `{}`, false, ""},
		"a list":                  {`[1]`, called, "", false, "it is an array"},
		"a text":                  {`"x"`, called, "", false, "it is a string"},
		"null":                    {`null`, called, "", false, "it is null"},
		"a comma too many":        {"{\n \"a\": 1,}", called, "", false, "line 2, column 8"},
		"a name twice":            {`{"a": 1, "a": 2}`, called, "", false, "a: is there twice"},
		"half a character":        {`{"a": "\ud83d"}`, called, "", false, "column"},
		"two objects":             {`{}{}`, called, "", false, "there is more"},
		"nested without end":      {strings.Repeat(`{"a":`, 100), called, "", false, "nested too deeply"},
		"an end too early":        {`{"a": "b`, called, "", false, "does not end"},
		"cut off":                 {`{"a": "b`, limit, "", true, "cut off"},
		"cut off before anything": {``, limit, "", true, "cut off"},
		"whole at the limit":      {`{"a": 1}`, limit, `{"a": 1}`, false, ""},
		"wrong before the limit":  {`{"a" 1`, limit, "", false, "a colon was expected"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := assembled(t, strings.NewReader(stream(begin, call, part(tt.text), tt.ended, end)))
			if err != nil || len(got.Content) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			b := got.Content[0]
			// What is stored in between says the same.
			stored, merr := json.Marshal(b)
			var back Block
			if uerr := json.Unmarshal(stored, &back); merr != nil || uerr != nil {
				t.Fatal(merr, uerr)
			}
			for _, b := range []Block{b, back} {
				fault := b.Fault()
				if tt.input != "" {
					if fault != nil {
						t.Fatalf("%s: %v", b.Input, fault)
					}
					continue
				}
				var e *CallError
				if !errors.As(fault, &e) || e.Cut != tt.cut || e.ID != "t1" || e.Name != "edit" || !strings.Contains(e.Error(), tt.message) {
					t.Errorf("%s: %+v", b.Input, fault)
				}
				if v, err := basejson.Parse(b.Input, basejson.Options{Depth: 1}); err != nil || v.Kind != basejson.Object {
					t.Errorf("%s can't go back", b.Input)
				}
			}
			if tt.input != "" && string(b.Input) != tt.input {
				t.Errorf("%s, want %s", b.Input, tt.input)
			}
		})
	}
}

// TestOnlyTheLastCallIsCut: what an answer's limit cut off is at its end.
func TestOnlyTheLastCallIsCut(t *testing.T) {
	second := strings.NewReplacer(`"index":1`, `"index":2`, `"t1"`, `"t2"`).Replace(call)
	got, err := assembled(t, strings.NewReader(stream(begin, call, part(`{"a": `), second, limit, end)))
	if err != nil {
		t.Fatal(err)
	}
	var first, last *CallError
	if !errors.As(got.Content[0].Fault(), &first) || !errors.As(got.Content[1].Fault(), &last) || first.Cut || !last.Cut {
		t.Errorf("%v, %v", first, last)
	}
}

func TestSpoiledArgumentsAreKeptShort(t *testing.T) {
	input := arguments(strings.Repeat("é", 1<<20), StopToolUse, true)
	if len(input) > 2*maxSpoiled || !json.Valid(input) {
		t.Errorf("%d bytes, valid: %v", len(input), json.Valid(input))
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"messages.12.content.3.tool_result.content.0.text.text: too long": "messages.12.content.3.tool_result.content.0.text.text: too long",
		" two\n lines ":                 "two lines",
		"key sk-ant-api03-abcdefghijkl": "key …",
		"token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9AAAAAAAA.x": "token ….x",
		"see https://me:pass@host.example/a?b=c":               "see https://host.example/a?…",
		"\x1b[31mred\u202e":                                    `\u001b[31mred\u202e`,
		strings.Repeat("é ", 400):                              strings.Repeat("é ", 150) + "…",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answerStream), uint8(0))
	f.Add([]byte(stream(begin, call, part(`{"a`), limit, end)), uint8(1))
	f.Add([]byte(stream(begin, text, ended, end)), uint8(7))
	f.Add([]byte(stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"x","y":[1]}}`, ended, end)), uint8(2))
	f.Add([]byte(stream(begin, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`)), uint8(3))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		got, err := assembled(t, bytes.NewReader(stream))
		var again Answer
		var err2 *Error
		if size == 0 {
			again, err2 = assembled(t, iotest.OneByteReader(bytes.NewReader(stream)))
		} else {
			again, err2 = assembled(t, &chunks{stream, int(size)})
		}
		if (err == nil) != (err2 == nil) || err == nil && !reflect.DeepEqual(got, again) {
			t.Fatalf("%+v, %v\nin chunks: %+v, %v", got, err, again, err2)
		}
		if err != nil {
			if err.Code() == "" || err.SafeMessage() == "" {
				t.Fatalf("%+v says nothing", err)
			}
			return
		}
		// What was answered can go back, and back again.
		text, merr := json.Marshal(got.Content)
		if merr != nil {
			t.Fatal(merr)
		}
		var back []Block
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if twice, err := json.Marshal(back); err != nil || !bytes.Equal(twice, text) {
			t.Fatalf("%s\n%s, %v", text, twice, err)
		}
		for _, b := range got.Content {
			if b.Type == TypeToolUse && (!json.Valid(b.Input) || b.Input[bytes.IndexAny(b.Input, "{")] != '{') {
				t.Fatalf("%s is not an object", b.Input)
			}
		}
	})
}

// chunks reads that many bytes at a time.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// regexpEvent matches the lines that name events.
var regexpEvent = regexp.MustCompile(`(?m)^event: .*\n`)
