package diagram

import (
	"testing"
	"time"
)

// TestDates: dates by the formats of authors.
func TestDates(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{"YYYY-MM-DD", "2026-02-03", "2026-02-03T00:00:00Z"},
		{"DD/MM/YY", "3/2/26", "2026-02-03T00:00:00Z"},
		{"D MMM YYYY", "3 feb 2026", "2026-02-03T00:00:00Z"},
		{"MMMM Do, YYYY", "February 3rd, 2026", "2026-02-03T00:00:00Z"},
		{"YYYY-MM-DD HH:mm:ss.SSS", "2026-02-03 17:04:05.006", "2026-02-03T17:04:05.006Z"},
		{"h:mm a", "12:30 am", "2000-01-01T00:30:00Z"},
		{"h:mm A", "12:30 PM", "2000-01-01T12:30:00Z"},
		{"[week] DD.MM.YYYY", "week 03.02.2026", "2026-02-03T00:00:00Z"},
		{"X", "1770076800", "2026-02-03T00:00:00Z"},
		{"x", "1770076800000", "2026-02-03T00:00:00Z"},
		{"YYYY", "2026", "2026-01-01T00:00:00Z"},
		{"DD.MM.", "2026-02-03", "2026-02-03T00:00:00Z"},
		{"DD.MM.", "2026", "2026-01-01T00:00:00Z"},
		{"YYYY-MM-DD", "2026-02-30", ""},
		{"YYYY-MM-DD", "2026-13-01", ""},
		{"YYYY-MM-DD", "tomorrow", ""},
		{"HH:mm", "25:00", ""},
		{"X", "99999999999999", ""},
		{"", "", ""},
	} {
		got, ok := dateOf(tt.format, tt.text)
		if text := got.Format(time.RFC3339Nano); ok != (tt.want != "") || ok && text != tt.want {
			t.Errorf("%q by %q is %s (%v), want %q", tt.text, tt.format, text, ok, tt.want)
		}
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC)
	for format, want := range map[string]string{
		"%Y-%m-%d": "2026-02-03", "%-d/%-m %y": "3/2 26", "%e": " 3", "%a %A %b %B": "Tue Tuesday Feb February", "%H:%M:%S.%L": "04:05:06.007",
		"%I %p": "04 AM", "%j %U %W %V %w": "034 05 05 06 2", "%q%%": "1%", "%": "%", "%!": "%!",
	} {
		if got := strftime(format, at); got != want {
			t.Errorf("%s is %q, want %q", format, got, want)
		}
	}
}

// TestFormatDate: a date is written as it would be read.
func TestFormatDate(t *testing.T) {
	at := time.Date(2026, 3, 5, 16, 7, 9, 8e6, time.UTC)
	for format, want := range map[string]string{
		"YYYY-MM-DD": "2026-03-05", "D.M.YY": "5.3.26", "MMM Do": "Mar 5", "MMMM": "March", "dddd ddd": "Thursday Thu", "HH:mm:ss.SSS": "16:07:09.008",
		"hh:mm A": "04:07 PM", "h:m:s a": "4:7:9 pm", "X": "1772726829", "x": "1772726829008", "[at] H": "at 16",
	} {
		if got := formatDate(format, at); got != want {
			t.Errorf("%s is %q, want %q", format, got, want)
		}
	}
}

// TestTasks: when tasks begin and end.
func TestTasks(t *testing.T) {
	const head = "gantt\ndateFormat YYYY-MM-DD\n"
	for _, tt := range []struct{ name, src, start, end string }{
		{"a duration", "A: 2026-01-05, 2w", "2026-01-05", "2026-01-19"},
		{"months and years", "A: 2026-01-31, 1M", "2026-01-31", "2026-03-03"},
		{"an end", "A: x, 2026-01-05, 2026-01-07", "2026-01-05", "2026-01-07"},
		{"an end that counts", "inclusiveEndDates\nA: 2026-01-05, 2026-01-07", "2026-01-05", "2026-01-08"},
		{"after the one before", "A: 2026-01-05, 2d\nB: 1d", "2026-01-07", "2026-01-08"},
		{"after the last of some", "A: a, 2026-01-05, 2d\nB: b, 2026-01-05, 9d\nC: after a b, 1d", "2026-01-14", "2026-01-15"},
		{"after a later one", "C: c, after a, 1d\nA: a, 2026-01-05, 2d\nD: after c, 1d", "2026-01-08", "2026-01-09"},
		{"until the first of some", "A: a, 2026-01-15, 2d\nB: b, 2026-01-12, 9d\nC: 2026-01-05, until a b", "2026-01-05", "2026-01-12"},
		{"over a weekend", "excludes weekends\nA: 2026-01-09, 3d", "2026-01-09", "2026-01-14"},
		{"over a weekend of another land", "excludes weekends\nweekend friday\nA: 2026-01-08, 3d", "2026-01-08", "2026-01-13"},
		{"over a holiday", "excludes 2026-01-06, monday\nA: 2026-01-05, 2d", "2026-01-05", "2026-01-08"},
		{"over a weekend that counts", "excludes weekends\nincludes 2026-01-10\nA: 2026-01-09, 3d", "2026-01-09", "2026-01-13"},
		{"over a weekend to an end", "excludes weekends\nA: 2026-01-09, 2026-01-11", "2026-01-09", "2026-01-11"},
		{"a moment", "A: milestone, 2026-01-09, 0", "2026-01-09", "2026-01-09"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := parseSource(head + tt.src)
			g, err := parseGantt(&src)
			if err != nil {
				t.Fatal(err)
			}
			last := g.tasks[len(g.tasks)-1]
			if start, end := last.start.Format(time.DateOnly), last.end.Format(time.DateOnly); start != tt.start || end != tt.end {
				t.Errorf("from %s to %s, want %s to %s", start, end, tt.start, tt.end)
			}
		})
	}
}
