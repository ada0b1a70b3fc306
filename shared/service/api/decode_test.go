package api

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestRequests reads the bodies in testdata/requests.txtar. A file's name is
// the operation and what is special; its first line is what comes of it: "ok",
// or how the message begins.
func TestRequests(t *testing.T) {
	cases, err := txtar.ParseFile(filepath.Join("testdata", "requests.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range cases.Files {
		t.Run(f.Name, func(t *testing.T) {
			want, body, _ := strings.Cut(string(f.Data), "\n")
			body = unquote(strings.TrimSuffix(body, "\n"))
			var err error
			switch operation, _, _ := strings.Cut(f.Name, "/"); operation {
			case "start":
				_, err = decodeStartExport([]byte(body))
			case "agent":
				_, err = decodeStartAgentJob([]byte(body))
			case "message":
				_, err = decodeMessage([]byte(body))
			case "live":
				_, err = decodeSetLive([]byte(body))
			case "create":
				_, err = decodeCreateSnapshot([]byte(body))
			default:
				t.Fatalf("unknown operation %s", operation)
			}
			got := "ok"
			if err != nil {
				e, _ := err.(*admin.Error)
				if e == nil || e.Code() != admin.CodeInvalid || !strings.HasPrefix(e.SafeMessage(), e.Field+": ") {
					t.Fatalf("error is %v", err)
				}
				got = e.SafeMessage()
			}
			if !strings.HasPrefix(got, want) || (want == "ok") != (err == nil) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// unquote turns <hh> into a byte, so that a text file can hold any.
func unquote(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		code, after, _ := strings.Cut(rest, ">")
		n, err := strconv.ParseUint(code, 16, 8)
		if err != nil {
			panic(err)
		}
		b.WriteByte(byte(n))
		s = after
	}
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "7": 7, "7.0": 7, "7e2": 700, "1.5e1": 15, "-3": -3,
		"9223372036854775807": 1<<63 - 1, "9223372036854775808": 1<<63 - 1, "1e999": 1<<63 - 1, "-1e999": -1 << 63,
	} {
		if got, whole := wholeNumber(text); got != want || !whole {
			t.Errorf("%s is %d (%v), want %d", text, got, whole, want)
		}
	}
	for _, text := range []string{"0.5", "1e-1", "-7.25"} {
		if got, whole := wholeNumber(text); whole {
			t.Errorf("%s is %d", text, got)
		}
	}
}

// FuzzRequests: no body makes a decoder panic or answer without a field.
func FuzzRequests(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "requests.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range txtar.Parse(b).Files {
		_, body, _ := strings.Cut(string(c.Data), "\n")
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err1 := decodeStartExport(b)
		_, err2 := decodeCreateSnapshot(b)
		_, err3 := decodeSetLive(b)
		for _, err := range []error{err1, err2, err3} {
			if e, ok := err.(*admin.Error); err != nil && (!ok || e.Code() != admin.CodeInvalid || e.Field == "" || !utf8.ValidString(e.SafeMessage())) {
				t.Errorf("%q: error is %v", b, err)
			}
		}
		if err1 == nil && err2 == nil || err3 == nil && (err1 == nil || err2 == nil) {
			t.Errorf("%q is two requests", b)
		}
	})
}
