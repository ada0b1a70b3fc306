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
