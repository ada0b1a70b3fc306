package frame

import (
	"strings"
	"testing"
)

// TestFullSums: pages come in until one has no room; none after it does, so that
// what is there is one run.
func TestFullSums(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int
		want  FullSums
	}{
		"all":               {[]int{10, 0, 20}, FullSums{30, 2, 0}},
		"too far down":      {[]int{10, -1, 0, 5}, FullSums{10, 1, 2}},
		"exactly":           {[]int{FullBytes - 1, 1}, FullSums{FullBytes, 2, 0}},
		"one too many":      {[]int{FullBytes - 1, 2, 1}, FullSums{FullBytes - 1, 1, 2}},
		"the first too big": {[]int{FullBytes + 1, 1}, FullSums{0, 0, 2}},
	} {
		var f FullSums
		for _, n := range c.sizes {
			f.Add(n)
		}
		if f != c.want {
			t.Errorf("%s: %+v, want %+v", name, f, c.want)
		}
	}
}

// TestFullEnd: pages that come after many sources are not looked at.
func TestFullEnd(t *testing.T) {
	s := pagesSite("a", "b", "c", "d")
	if got := fullEnd(s); got != 4 {
		t.Errorf("of a small site all pages count, not %d", got)
	}
	s.Pages[0].Size, s.Pages[0].NoIndex = maxSourceShare*FullBytes+1, true // not listed
	s.Pages[1].Size = maxSourceShare * FullBytes
	s.Pages[2].Size = 1
	if got := fullEnd(s); got != 3 {
		t.Errorf("the end is %d, want 3", got)
	}
}

func TestAppendFull(t *testing.T) {
	for in, want := range map[string]string{
		"# A\n\ntext\n":       "# A\n\nSource: u\n\ntext\n\n",
		"# A":                 "# A\n\nSource: u\n\n",
		"text\n\n# not first": "Source: u\n\ntext\n\n# not first\n\n",
		"":                    "Source: u\n\n",
	} {
		if got := string(appendFull(nil, "u", []byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// What is appended of a page is said in bytes, and the head says what is missing.
func TestFull(t *testing.T) {
	s := pagesSite("a", "b", "c")
	s.Config.Name = "x"
	s.Pages[1].NoIndex = true
	f := &Full{views: &Views{site: s}, end: 2}
	text, sums := []byte(f.Head(FullSums{})), FullSums{}
	for i, want := range []int{len("Source: https://docs.example/a\n\nt\n\n"), 0, -1} {
		var size int
		if text, size = f.Append(text, i, []byte("t")); size != want {
			t.Errorf("page %d has %d bytes, want %d", i, size, want)
		}
		sums.Add(size)
	}
	if got, want := string(text), "# x\n\nSource: https://docs.example/a\n\nt\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if head := f.Head(sums); !strings.Contains(head, "the first 1 pages of 2,") {
		t.Errorf("the head says nothing of the last page: %s", head)
	}
	s.Files = []string{"LLMS-full.txt"}
	if (&Views{site: s}).Full() != nil {
		t.Error("the site's own file is written over")
	}
}
