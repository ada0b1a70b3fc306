package model

import (
	"bytes"
	"errors"
)

// maxEvent bounds an event and each of its lines, in bytes. The largest is a
// whole file in one call of a tool.
const maxEvent = 8 << 20

var errLongEvent = errors.New("an event of the stream is too long")

// events reads a stream of server-sent events as it comes in, by the rules of
// the HTML Standard (9.2.5 "Parsing an event stream", 9.2.6 "Interpreting an
// event stream"). The fields id and retry mean nothing here.
type events struct {
	// emit takes an event's type ("message" if it names none) and data, which it
	// must not keep. Its error ends the reading.
	emit func(name string, data []byte) error

	line    []byte // of which the end has not come
	name    string
	data    []byte
	hasData bool
	begun   bool // a line was read: no byte order mark follows
	skipLF  bool // the byte before was a CR, which has ended its line
}

// feed reads the next bytes of a stream, however it is cut.
func (e *events) feed(chunk []byte) error {
	for len(chunk) > 0 {
		if e.skipLF && chunk[0] == '\n' {
			chunk = chunk[1:]
		}
		e.skipLF = false
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			e.line = append(e.line, chunk...)
			if len(e.line) > maxEvent {
				return errLongEvent
			}
			return nil
		}
		e.skipLF = chunk[end] == '\r'
		line := chunk[:end]
		if len(e.line) > 0 {
			e.line = append(e.line, line...)
			line = e.line
		}
		chunk = chunk[end+1:]
		err := e.take(line)
		e.line = e.line[:0]
		if err != nil {
			return err
		}
	}
	return nil
}

// take interprets one line.
func (e *events) take(line []byte) error {
	if !e.begun {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		e.begun = true
	}
	if len(line) == 0 {
		return e.dispatch()
	}
	field, text, _ := bytes.Cut(line, []byte(":")) // a comment is a field without a name
	text = bytes.TrimPrefix(text, []byte(" "))
	switch string(field) {
	case "event":
		e.name = string(text)
	case "data":
		if len(e.data)+len(text) > maxEvent {
			return errLongEvent
		}
		if e.hasData {
			e.data = append(e.data, '\n')
		}
		e.data, e.hasData = append(e.data, text...), true
	}
	return nil
}

// dispatch ends an event. One without a line of data is none.
func (e *events) dispatch() error {
	name, has := e.name, e.hasData
	e.name, e.hasData = "", false
	defer func() { e.data = e.data[:0] }()
	if !has {
		return nil
	}
	if name == "" {
		name = "message"
	}
	return e.emit(name, e.data)
}
