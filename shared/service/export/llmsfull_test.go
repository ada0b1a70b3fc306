package export

import (
	"fmt"
	"strings"
	"testing"
)

// TestLLMsFull: the file has the text of each page that search engines may know,
// once, with its address, however the site is cut.
func TestLLMsFull(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(120))
	first := ""
	for _, shards := range []int{1, 3} {
		files := unpacked(t, w.exported(t, func(o *Options) { o.Shards = shards }))
		text := files["llms-full.txt"]
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%d shards give other text", shards)
		}
	}
	if !strings.HasPrefix(first, "# Sample\n\n# Page 0\n\nSource: https://docs.example/guides/part-00/page-000\n\n> What page 0 is for.\n\n## First heading\n\n") {
		t.Errorf("it begins with\n%.300s", first)
	}
	for i := range 120 {
		if n := strings.Count(first, fmt.Sprintf("\n# Page %d\n\nSource: https://docs.example/guides/part-%02d/page-%03d\n", i, i%7, i)); n != 1 {
			t.Errorf("page %d stands there %d times", i, n)
		}
	}
	if strings.Contains(first, "Off the map") {
		t.Error("a hidden page stands there")
	}
	if strings.Contains(first, "This file has the first") {
		t.Error("it says that pages are missing")
	}

	// The site's own file wins.
	site := sampleSite(3)
	site["LLMS-full.txt"] = site["style.css"]
	w.publish(t, site)
	if files := unpacked(t, w.exported(t, nil)); files["llms-full.txt"] != "" || files["LLMS-full.txt"] == "" {
		t.Error("the site's own llms-full.txt is not there alone")
	}
}

// TestFullSums: pages come in until one has no room; none behind it does, so that
// what is there is one run.
func TestFullSums(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int
		want  fullSums
	}{
		"all":               {[]int{10, 0, 20}, fullSums{30, 2, 0}},
		"too far behind":    {[]int{10, -1, 0, 5}, fullSums{10, 1, 2}},
		"exactly":           {[]int{llmsFullBytes - 1, 1}, fullSums{llmsFullBytes, 2, 0}},
		"one too many":      {[]int{llmsFullBytes - 1, 2, 1}, fullSums{llmsFullBytes - 1, 1, 2}},
		"the first too big": {[]int{llmsFullBytes + 1, 1}, fullSums{0, 0, 2}},
	} {
		var f fullSums
		for _, n := range c.sizes {
			f.add(n)
		}
		if f != c.want {
			t.Errorf("%s: %+v, want %+v", name, f, c.want)
		}
	}
}

// TestFullEnd: pages that lie behind many sources are not looked at.
func TestFullEnd(t *testing.T) {
	s := pagesSite("a", "b", "c", "d")
	if got := fullEnd(s); got != 4 {
		t.Errorf("of a small site all pages count, not %d", got)
	}
	s.Pages[0].Size, s.Pages[0].NoIndex = maxSourceShare*llmsFullBytes+1, true // not listed
	s.Pages[1].Size = maxSourceShare * llmsFullBytes
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
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
