package highlight

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendHTML(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		runs       []Run
		want       string
	}{
		{"nothing", "", nil, ""},
		{"no runs", "a<b", nil, "a&lt;b"},
		{"plain has no span", "a", []Run{{Plain, 0, 1}}, "a"},
		{"escaped", `<&>"'`, []Run{{String, 0, 5}}, `<span class="s">&lt;&amp;&gt;&quot;'</span>`},
		{"neighbours of one class", "ab", []Run{{Keyword, 0, 1}, {Keyword, 1, 2}}, `<span class="k">ab</span>`},
		{"blanks between words of one class", "a \tb c", []Run{{Keyword, 0, 1}, {Plain, 1, 3}, {Keyword, 3, 4}, {Plain, 4, 5}, {Number, 5, 6}}, "<span class=\"k\">a \tb</span> <span class=\"n\">c</span>"},
		{"a line's end between words of one class", "a \nb", []Run{{Keyword, 0, 1}, {Plain, 1, 3}, {Keyword, 3, 4}}, "<span class=\"k\">a</span> \n<span class=\"k\">b</span>"},
		{"two classes", "ab", []Run{{Keyword, 0, 1}, {Number, 1, 2}}, `<span class="k">a</span><span class="n">b</span>`},
		{"over a line's end", "a\nb", []Run{{Comment, 0, 3}}, "<span class=\"c\">a</span>\n<span class=\"c\">b</span>"},
		{"empty lines have no span", "a\n\n\n", []Run{{Comment, 0, 4}}, "<span class=\"c\">a</span>\n\n\n"},
		{"line ends of Windows", "a\r\nb", []Run{{Comment, 0, 4}}, "<span class=\"c\">a</span>\r\n<span class=\"c\">b</span>"},
		{"gaps are plain", "abc", []Run{{Keyword, 1, 2}}, `a<span class="k">b</span>c`},
		{"runs that overlap", "abc", []Run{{Keyword, 0, 2}, {Number, 1, 3}}, `<span class="k">ab</span><span class="n">c</span>`},
		{"runs out of bounds", "ab", []Run{{Keyword, -5, 1}, {Number, 1, 99}}, `<span class="k">a</span><span class="n">b</span>`},
		{"no such class", "ab", []Run{{Class(200), 0, 2}}, `ab`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(AppendHTML(nil, tt.code, tt.runs)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := string(AppendHTML([]byte("x"), tt.code, tt.runs)); got != "x"+tt.want {
				t.Errorf("appended to x: %s", got)
			}
		})
	}
}

func TestAppendLines(t *testing.T) {
	h := New(Options{})
	for _, tt := range []struct {
		name, code string
		want       []string
	}{
		{"nothing", "", nil},
		{"one line", "1", []string{`<span class="n">1</span>`}},
		{"a last line's end", "1\n", []string{`<span class="n">1</span>`}},
		{"an empty line", "1\n\n2", []string{`<span class="n">1</span>`, "", `<span class="n">2</span>`}},
		{"line ends of Windows", "1\r\n2\r\n", []string{`<span class="n">1</span>`, `<span class="n">2</span>`}},
		{"a comment of two lines", "/*a\nb*/", []string{`<span class="c">/*a</span>`, `<span class="c">b*/</span>`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range h.AppendLines(nil, "js", tt.code) {
				got = append(got, string(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLinesAreHTML: lines joined are the HTML of the whole.
func TestLinesAreHTML(t *testing.T) {
	h := New(Options{})
	for label, code := range samples(t) {
		var lines []string
		for _, line := range h.AppendLines(nil, label, code) {
			lines = append(lines, string(line))
		}
		want := string(AppendHTML(nil, code, h.Runs(label, code)))
		if got := strings.Join(lines, "\n") + "\n"; got != want {
			t.Errorf("%s: lines differ from the whole:\n%s", label, cmp.Diff(want, got))
		}
	}
}
