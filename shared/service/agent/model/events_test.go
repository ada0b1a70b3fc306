package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// read returns the events of a stream that comes in such chunks.
func read(stream []byte, size int) ([]string, error) {
	var all []string
	e := events{emit: func(name string, data []byte) error {
		all = append(all, fmt.Sprintf("%s|%s", name, data))
		return nil
	}}
	for len(stream) > 0 {
		n := min(size, len(stream))
		if err := e.feed(stream[:n]); err != nil {
			return all, err
		}
		stream = stream[n:]
	}
	return all, nil
}

func TestEventsFollowTheStandard(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		want   []string
	}{
		"line feeds":                {"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []string{"a|1", "b|2"}},
		"carriage returns":          {"event: a\rdata: 1\r\revent: b\rdata: 2\r\r", []string{"a|1", "b|2"}},
		"both":                      {"event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", []string{"a|1", "b|2"}},
		"mixed":                     {"event: a\rdata: 1\n\revent: b\ndata: 2\r\n\n", []string{"a|1", "b|2"}},
		"a byte order mark":         {"\ufeffdata: 1\n\n", []string{"message|1"}},
		"one mark only":             {"\ufeff\ufeffdata: 1\n\ndata: 2\n\n", []string{"message|2"}},
		"a mark later":              {"data: 1\n\n\ufeffdata: 2\n\n", []string{"message|1"}},
		"comments":                  {": hello\ndata: 1\n:\n:data: 2\n\n", []string{"message|1"}},
		"many lines of data":        {"data: 1\ndata: 2\ndata\ndata:\n\n", []string{"message|1\n2\n\n"}},
		"one space is not data":     {"data:1\n\ndata:  2\n\n", []string{"message|1", "message| 2"}},
		"a field without a colon":   {"data\n\n", []string{"message|"}},
		"fields that mean nothing":  {"id: 7\nretry: 10\nDATA: 1\nnope\ndata: 2\n\n", []string{"message|2"}},
		"an event without data":     {"event: a\n\ndata: 1\n\n", []string{"message|1"}},
		"the last type counts":      {"event: a\nevent: b\ndata: 1\n\n", []string{"b|1"}},
		"colons in data":            {"data: a:b: c\n\n", []string{"message|a:b: c"}},
		"what does not end is none": {"data: 1\n\ndata: 2\n", []string{"message|1"}},
		"nothing":                   {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(tt.stream)+1; size++ {
				if got, err := read([]byte(tt.stream), size); err != nil || !slices.Equal(got, tt.want) {
					t.Fatalf("in chunks of %d: %q, %v; want %q", size, got, err, tt.want)
				}
			}
		})
	}
}

// TestEventsAreGivenAtOnce: an event that ends with a carriage return does not
// wait for the byte after it.
func TestEventsAreGivenAtOnce(t *testing.T) {
	if got, _ := read([]byte("data: 1\r\r"), 1); !slices.Equal(got, []string{"message|1"}) {
		t.Errorf("got %q", got)
	}
}

func TestEventsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, stream := range map[string]string{
		"a line":         "data: " + strings.Repeat(long, 9),
		"a comment":      ":" + strings.Repeat(long, 9),
		"lines of data":  strings.Repeat("data: "+long+"\n", 9),
		"a line's field": strings.Repeat(long, 9),
	} {
		if _, err := read([]byte(stream), 32<<10); !errors.Is(err, errLongEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEventsStopWithAnError: nothing follows what could not be used.
func TestEventsStopWithAnError(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	e := events{emit: func(string, []byte) error { calls++; return broken }}
	if err := e.feed([]byte("data: 1\n\ndata: 2\n\n")); err != broken || calls != 1 {
		t.Errorf("%v after %d events", err, calls)
	}
}

// reference reads a whole stream by the letter of the standard.
func reference(stream string) []string {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	lines := strings.Split(stream, "\n")
	var all []string
	var name, data string
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				if name == "" {
					name = "message"
				}
				all = append(all, name+"|"+strings.TrimSuffix(data, "\n"))
			}
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data":
			data += value + "\n"
		}
	}
	return all
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"event: a\ndata: 1\n\n", "\ufeffdata: 1\r\n\r\n", "data\rdata\n\r\r\n", ":\n\ndata: x\n\n", "event: a\n\nevent\ndata:  \n\n", "\r\n\r\r\n", answerStream,
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		want := reference(string(stream))
		for _, n := range []int{int(size)%7 + 1, len(stream) + 1} {
			if got, err := read(stream, n); err != nil || !slices.Equal(got, want) {
				t.Fatalf("in chunks of %d: %q, %v; want %q", n, got, err, want)
			}
		}
	})
}
