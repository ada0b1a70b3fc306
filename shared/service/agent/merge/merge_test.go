package merge_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/service/agent/merge"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Lines are letters in this table: "abc" is a text of three lines.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name               string
		base, ours, theirs string
		want               string
		conflicts          string // "lines:lost"
	}{
		{name: "nobody changed it", base: "abc", ours: "abc", theirs: "abc", want: "abc"},
		{name: "we changed it", base: "abc", ours: "aXc", theirs: "abc", want: "aXc"},
		{name: "they changed it", base: "abc", ours: "abc", theirs: "aXc", want: "aXc"},
		{name: "both did the same", base: "abc", ours: "aXc", theirs: "aXc", want: "aXc"},
		{name: "two places", base: "abcde", ours: "Xbcde", theirs: "abcdY", want: "XbcdY"},
		{name: "we delete, they add elsewhere", base: "abcde", ours: "acde", theirs: "abcdeY", want: "acdeY"},
		{name: "the same line", base: "abc", ours: "aXc", theirs: "aYc", want: "aYc", conflicts: "2:X"},
		{name: "lines next to each other", base: "abcd", ours: "aXcd", theirs: "abYd", want: "abYd", conflicts: "2-3:Xc"},
		{name: "both add at the same place", base: "ab", ours: "aXb", theirs: "aYZb", want: "aYZb", conflicts: "2-3:X"},
		{name: "they deleted the line that we changed", base: "abc", ours: "aXc", theirs: "ac", want: "ac", conflicts: "2:X"},
		{name: "one of ours between two of theirs", base: "abcdef", ours: "aXYdef", theirs: "PbcQef", want: "PbcQef", conflicts: "1-4:aXYd"},
		{name: "a conflict and a clean place", base: "abcdefg", ours: "aXcdefP", theirs: "aYcdefg", want: "aYcdefP", conflicts: "2:X"},
		{name: "all is new", base: "", ours: "a", theirs: "b", want: "b", conflicts: "1:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, conflicts := merge.Text(text(c.base), text(c.ours), text(c.theirs))
			var said []string
			for _, x := range conflicts {
				said = append(said, x.String()+":"+strings.ReplaceAll(x.Lost, "\n", ""))
			}
			if string(got) != string(text(c.want)) || strings.Join(said, " ") != c.conflicts {
				t.Errorf("merged %q with %q, want %q with %q", got, said, c.want, c.conflicts)
			}
		})
	}
}

// text is a line for each letter.
func text(letters string) []byte {
	var b strings.Builder
	for _, r := range letters {
		fmt.Fprintf(&b, "%c\n", r)
	}
	return []byte(b.String())
}

// Git agrees on what conflicts, and on the text of what does not. Lines occur once, so
// that there is one way only to compare two texts.
func TestGitAgrees(t *testing.T) {
	git := outside.Program(t, "git")
	dir := t.TempDir()
	clean, conflicting := 0, 0
	proptest.Check(t, func(t *rapid.T) {
		base := make([]string, rapid.IntRange(0, 12).Draw(t, "lines"))
		for i := range base {
			base[i] = fmt.Sprintf("base %d\n", i)
		}
		ours, theirs := changed(t, base, "ours"), changed(t, base, "theirs")
		if rapid.IntRange(0, 5).Draw(t, "same") == 0 {
			theirs = strings.ReplaceAll(ours, "ours", "theirs")
		}
		got, conflicts := merge.Text([]byte(strings.Join(base, "")), []byte(ours), []byte(theirs))
		for name, text := range map[string]string{"base": strings.Join(base, ""), "ours": ours, "theirs": theirs} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		merged := func(more ...string) (string, bool) {
			cmd := exec.Command(git, append(append([]string{"merge-file", "-p", "-q"}, more...), "ours", "base", "theirs")...)
			cmd.Dir = dir
			out, err := cmd.Output()
			return string(out), err == nil
		}
		want, ok := merged()
		if ok != (len(conflicts) == 0) {
			t.Fatalf("git says it is clean: %t, we say %v\nbase %q\nours %q\ntheirs %q\ngit %q", ok, conflicts, base, ours, theirs, want)
		}
		if clean++; !ok {
			clean--
			conflicting++
			return
		}
		if want != string(got) {
			t.Fatalf("git says\n%q, we say\n%q", want, got)
		}
	})
	if clean < 3 || conflicting < 3 {
		t.Errorf("%d texts are clean and %d conflict: the test shows little", clean, conflicting)
	}
}

// changed is base with some lines replaced, deleted and added, as words of who did it.
func changed(t *rapid.T, base []string, who string) string {
	var b strings.Builder
	for i, line := range base {
		switch rapid.IntRange(0, 12).Draw(t, "what") {
		case 0:
			fmt.Fprintf(&b, "%s %d\n", who, i)
		case 1:
		case 2:
			fmt.Fprintf(&b, "%s before %d\n%s", who, i, line)
		default:
			b.WriteString(line)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "end") == 0 {
		fmt.Fprintf(&b, "%s end\n", who)
	}
	return b.String()
}

// Whatever the texts are: a side that changed nothing adds nothing, equal sides never
// conflict, both sides see the same conflicts, and no line comes from nowhere.
func FuzzText(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n", "a\nb\ny")
	f.Add("", "a", "\n")
	f.Add("a\na\na\nb\n", "a\nb\na\n", "b\na\na\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		b, o, th := []byte(base), []byte(ours), []byte(theirs)
		for _, same := range []struct {
			name               string
			base, ours, theirs []byte
			want               string
		}{{"ours alone", b, o, b, ours}, {"theirs alone", b, b, th, theirs}, {"both the same", b, o, o, ours}} {
			if got, conflicts := merge.Text(same.base, same.ours, same.theirs); string(got) != same.want || conflicts != nil {
				t.Fatalf("%s: %q, %v, want %q", same.name, got, conflicts, same.want)
			}
		}
		got, conflicts := merge.Text(b, o, th)
		other, mirrored := merge.Text(b, th, o)
		if len(conflicts) != len(mirrored) || len(conflicts) == 0 && string(got) != string(other) {
			t.Fatalf("%q with %v, and the other way round %q with %v", got, conflicts, other, mirrored)
		}
		count := strings.Count(string(got), "\n") + 1
		for _, c := range conflicts {
			if c.From < 1 || c.To < c.From-1 || c.To > count {
				t.Fatalf("the conflict %v lies outside of %d lines", c, count)
			}
		}
		known := "\n" + base + "\n" + ours + "\n" + theirs + "\n"
		for line := range strings.Lines(string(got)) {
			if !strings.Contains(known, "\n"+strings.TrimSuffix(line, "\n")+"\n") {
				t.Fatalf("nobody wrote the line %q", line)
			}
		}
	})
}
