package export

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// listedOn are the targets of a contents page's list, as files.
func listedOn(name, doc string) (out []string) {
	_, doc, _ = strings.Cut(doc, `class="prose mdx-content">`)
	doc, _, _ = strings.Cut(doc, "</article>")
	for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(doc, -1) {
		if to := path.Join(path.Dir(name), m[1]); !strings.HasPrefix(to, "bindery/contents/") {
			out = append(out, to)
		}
	}
	return out
}

// largeSite is a site of files with one group.
func largeSite(pages int) fstest.MapFS {
	files := fstest.MapFS{}
	names := make([]string, pages)
	for i := range names {
		names[i] = fmt.Sprintf("part-%d/page-%d", i%7, i)
		files[names[i]+".mdx"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\ntitle: Page %d\ndescription: About %d.\n---\n\nText.\n", i, i)}
	}
	nav, _ := json.Marshal(names)
	files["docs.json"] = &fstest.MapFile{Data: []byte(`{"name":"Large","navigation":{"groups":[{"group":"All","pages":` + string(nav) + `}]}}`)}
	return files
}

// The contents are in the bundle, the same however the work was shared, and in
// no list for machines.
func TestContentsPagesInTheBundle(t *testing.T) {
	outside.Long(t, "exports many sites")
	w := newWorld(t)
	w.publish(t, largeSite(400))
	one := unpacked(t, w.exported(t, func(o *Options) { o.Shards = 1 }))
	five := unpacked(t, w.exported(t, func(o *Options) { o.Shards = 5 }))
	const name = "bindery/contents/" + "pages.html"
	if one[name] == "" || one[name] != five[name] {
		t.Fatalf("the contents have %d bytes of one shard and %d of five", len(one[name]), len(five[name]))
	}
	for _, to := range listedOn(name, one[name]) {
		if _, ok := one[to]; !ok {
			t.Errorf("%s is listed, but not there", to)
		}
	}
	if n := len(listedOn(name, one[name])); n != 400 {
		t.Errorf("%d pages are listed", n)
	}
	for _, list := range []string{"sitemap.xml", "llms.txt"} {
		if strings.Contains(one[list], "bindery/contents/") {
			t.Errorf("%s names contents pages", list)
		}
	}
}
