package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// called is how to call the program once more: by its name, and as go run does where
// that has built it.
func called() string {
	file, err := os.Executable()
	if err != nil {
		return "bindery"
	}
	return calledFrom(file)
}

// calledFrom is called for a program in a file.
func calledFrom(file string) string {
	if strings.Contains(filepath.ToSlash(file), "/go-build") {
		return "go run ./infra/cmd/bindery"
	}
	return "bindery"
}

// Colours, as a terminal counts them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	gray   = "90"
	blue   = "34"
	bold   = "1"
)

// paint colours text where a person looks and does not mind.
func (a *app) paint(w io.Writer, colour, text string) string {
	if a.env.NoColor || !isTerminal(w) {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// say prints a line for people. With --json standard output is for the
// result alone.
func (a *app) say(format string, args ...any) {
	w := a.stdout
	if a.json {
		w = a.stderr
	}
	fmt.Fprintf(w, format+"\n", args...)
}

// warn prints what people should know beside the result.
func (a *app) warn(text string) {
	fmt.Fprintf(a.stderr, "%s %s\n", a.paint(a.stderr, yellow, "warning:"), visible(text))
}

// visible makes each line of a text remote.Visible. Texts of the API are so as
// they come; this is for all others, such as what a bundle's lists say.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = remote.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// print writes a result as JSON, or lets people do it their way.
func (a *app) print(result any, people func(w io.Writer)) error {
	// Through a buffer, so that a disk that is full is an error: what is
	// printed may be a key that is never shown again.
	var w bytes.Buffer
	if a.json {
		out := json.NewEncoder(&w)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		if err := out.Encode(result); err != nil {
			return err
		}
	} else {
		people(&w)
	}
	_, err := io.WriteString(a.stdout, visible(w.String()))
	return err
}

// table writes rows in columns under a head.
func table(w io.Writer, head string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ToUpper(strings.ReplaceAll(head, " ", "\t")))
	for _, row := range rows {
		for i, cell := range row {
			if cell == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush()
}

// facts writes names and values, one pair a line.
func facts(w io.Writer, pairs ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", pairs[i], pairs[i+1])
		}
	}
	_ = t.Flush()
}

// size writes bytes as people read them.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n)/1000, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if value < 999.95 {
			break
		}
		value, unit = value/1000, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// thousands formats a number with commas: 5,443.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// meter shows how far something is: a bar on a terminal, a line for each step
// elsewhere.
type meter struct {
	a     *app
	label string
	// note follows the bar. The bar's own goroutine reads it, also while
	// set waits for that goroutine: no lock may be held between the two.
	note atomic.Value

	mu       sync.Mutex
	progress *mpb.Progress
	bar      *mpb.Bar
	last     string
}

func (a *app) meter(label string) *meter {
	m := &meter{a: a, label: label}
	m.note.Store("")
	if isTerminal(a.stderr) {
		m.progress = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(40))
	}
	return m
}

// set sets how much of total is done. note follows the bar; elsewhere a
// line is written when it changes and is not empty.
func (m *meter) set(done, total int64, note string) {
	if m.progress == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if note != "" && note != m.last {
			m.last = note
			fmt.Fprintf(m.a.stderr, "%s: %s\n", m.label, visible(note))
		}
		return
	}
	m.note.Store(remote.Visible(note))
	bar := m.theBar(total)
	bar.SetTotal(total, false)
	bar.SetCurrent(done)
}

// theBar makes the bar when it is first needed.
func (m *meter) theBar(total int64) *mpb.Bar {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar == nil {
		style := mpb.BarStyle().Lbound("").Rbound("").Filler("█").Tip("█").Padding("░")
		m.bar = m.progress.New(total, style,
			mpb.PrependDecorators(decor.Name(m.label, decor.WC{W: 12, C: decor.DindentRight})),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + m.note.Load().(string) })))
	}
	return m.bar
}

// end leaves what was shown last. set must not be called any more.
func (m *meter) end() {
	if m.progress == nil {
		return
	}
	m.mu.Lock()
	bar := m.bar
	m.mu.Unlock()
	if bar != nil {
		bar.Abort(false)
	}
	m.progress.Wait()
}
