package forge

import (
	"encoding/json"
	"strings"
	"testing"
)

// logEntry reads any commit, also one with an invalid date or text.
func TestLogEntry(t *testing.T) {
	for _, c := range []struct {
		data, when, subject string
		parents             int
	}{
		{"tree t\nparent a\nparent b\nauthor A <a> 1 +0000\ncommitter B C <b@c> 1760000000 +0200\n\nOne\nline\n\nMore\n", "2025-10-09T08:53:20Z", "One line", 2},
		{"tree t\ncommitter B <b> 253402300800 +0000\n\nThe year 10000\n", "0001-01-01T00:00:00Z", "The year 10000", 0},
		{"tree t\ncommitter B <b> -5 +0000\n\nBefore 1970\n", "0001-01-01T00:00:00Z", "Before 1970", 0},
		{"tree t\ncommitter B <b> never +0000\n\n\n\n\xff\n", "0001-01-01T00:00:00Z", "\ufffd", 0},
		{"", "0001-01-01T00:00:00Z", "", 0},
	} {
		e := logEntry("id", []byte(c.data))
		if when := e.When.Format("2006-01-02T15:04:05Z07:00"); when != c.when || e.Subject != c.subject || len(e.Parents) != c.parents {
			t.Errorf("%q is %s, %+v", c.data, when, e)
		}
	}
}

// Every commit can be stored, and has a subject of one line.
func FuzzLogEntry(f *testing.F) {
	f.Add([]byte("tree t\nparent a\ncommitter B <b> 253402300800 +0000\n\nSubject\n\nBody"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := logEntry("id", data)
		if _, err := json.Marshal(e); err != nil || strings.ContainsAny(e.Subject, "\r\n") {
			t.Errorf("%q is %+v, %v", data, e, err)
		}
	})
}
