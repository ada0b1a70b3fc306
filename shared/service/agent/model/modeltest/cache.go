package modeltest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
)

// perToken is how many bytes are counted as one token, unless a Handler says otherwise.
const perToken = 4

func (h *Handler) perToken() int64 { return int64(cmp.Or(h.PerToken, perToken)) }

// sizeOf returns the bytes of a prompt's blocks.
func sizeOf(raw []byte) (size int64) {
	for _, b := range prompt(raw) {
		size += int64(len(bytes.ReplaceAll(b, breakpoint, nil)))
	}
	return size
}

// cutFront returns a request without what does not fit into the context: its beginning.
func (h *Handler) cutFront(r model.Request) model.Request {
	r.System = nil
	for len(r.Messages) > 1 {
		text, err := json.Marshal(model.Request{Messages: r.Messages})
		if err != nil || int64(len(text))/h.perToken() <= int64(h.Context) {
			break
		}
		r.Messages = r.Messages[1:]
	}
	return r
}

// lookback is how many blocks before a breakpoint a kept prompt is looked for.
const lookback = 20

var breakpoint = []byte(`,"cache_control":{"type":"ephemeral"}`)

// prompt is a request's body by its blocks, in the order of a prompt: tools,
// system, messages.
func prompt(raw []byte) []json.RawMessage {
	var body struct {
		Tools    []json.RawMessage `json:"tools"`
		System   []json.RawMessage `json:"system"`
		Messages []struct {
			Content []json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	all := append(body.Tools, body.System...)
	for _, m := range body.Messages {
		all = append(all, m.Content...)
	}
	return all
}

// tokens returns what a prompt costs, and keeps it as its breakpoints ask.
func (h *Handler) tokens(raw []byte) model.Usage {
	blocks := prompt(raw)
	prefixes := make([][sha256.Size]byte, len(blocks)) // digests of all up to each block
	sizes := make([]int64, len(blocks))
	marked := make([]bool, len(blocks))
	running, size := sha256.New(), int64(0)
	for i, b := range blocks {
		marked[i] = bytes.Contains(b, breakpoint)
		b = bytes.ReplaceAll(b, breakpoint, nil)
		running.Write(b)
		size += int64(len(b))
		running.Sum(prefixes[i][:0])
		sizes[i] = size / h.perToken()
	}
	var read, last int64
	for i := range blocks {
		if !marked[i] {
			continue
		}
		last = sizes[i]
		for k := i; k >= 0 && k > i-lookback; k-- {
			if h.cache[prefixes[k]] {
				read = max(read, sizes[k])
				break
			}
		}
	}
	for i := range blocks {
		if marked[i] {
			h.cache[prefixes[i]] = true
		}
	}
	return model.Usage{Input: size/h.perToken() - last, CacheWrite: last - read, CacheRead: read}
}

// output returns the tokens of an answer.
func (s Step) output() int64 {
	size := 0
	for i, b := range s.Blocks {
		size += len(b.Text) + len(b.Thinking) + len(b.Name) + len(s.arguments[i])
	}
	return cmp.Or(s.tokens, int64(size/perToken)+1)
}
