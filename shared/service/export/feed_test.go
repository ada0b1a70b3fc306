package export

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFeeds: a page of updates has a feed beside it; a page that search engines
// should not know, one without updates, and one in whose feed's place the site
// has a file have none of ours.
func TestFeeds(t *testing.T) {
	w := newWorld(t)
	files := fstest.MapFS{}
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
	put("docs.json", `{"name":"Sample & co","navigation":{"pages":["index","changelog","quiet/index","own","plain","asked"]}}`)
	const updates = `
<Update label="May 4th, 2026" description="Version 2 <3" tags={["API", "A & B"]}>
## New
A *word* & <Badge>another</Badge>.

### Deeper
More.
</Update>

<Update label="v1" description="April 2026" rss={{ title: "The first", description: "What is <new>" }}>
Text that feeds don't show.
</Update>

<Update label="Last">
Its own text.
</Update>

Text behind the updates.

<Update description="no label">
Text.
</Update>
`
	put("index.mdx", "---\ntitle: Home\n---\n"+updates)
	put("changelog.mdx", "---\ntitle: Changes\ndescription: All **changes**\nrss: true\n---\n"+updates)
	put("quiet/index.mdx", "---\ntitle: Quiet\nnoindex: true\n---\n"+updates)
	put("asked.mdx", "---\ntitle: Asked for\nnoindex: true\nrss: true\n---\n"+updates)
	put("own.mdx", "---\ntitle: Own\n---\n"+updates)
	put("Own/RSS.xml", "<rss/>")
	put("plain.mdx", "---\ntitle: Plain\n---\n## Nothing new\n")
	files["changelog.mdx"].ModTime = w.now // of a commit
	w.publish(t, files)
	got := unpacked(t, w.exported(t, nil))
	for _, name := range []string{"quiet/rss.xml", "own/rss.xml", "plain/rss.xml"} {
		if _, ok := got[name]; ok {
			t.Errorf("there is a %s", name)
		}
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>Changes - Sample &amp; co</title>
    <link>https://docs.example/changelog</link>
    <atom:link href="https://docs.example/changelog/rss.xml" rel="self" type="application/rss+xml"></atom:link>
    <description>All changes</description>
    <lastBuildDate>Mon, 04 May 2026 03:02:01 +0000</lastBuildDate>
    <item>
      <title>May 4th, 2026: New</title>
      <link>https://docs.example/changelog#new</link>
      <guid isPermaLink="false">https://docs.example/changelog#may-4th-2026 New</guid>
      <pubDate>Mon, 04 May 2026 00:00:00 +0000</pubDate>
      <category>API</category>
      <category>A &amp; B</category>
      <description>A word &amp; another.&#xA;&#xA;Deeper&#xA;More.</description>
    </item>
    <item>
      <title>The first</title>
      <link>https://docs.example/changelog#v1</link>
      <guid isPermaLink="true">https://docs.example/changelog#v1</guid>
      <pubDate>Wed, 01 Apr 2026 00:00:00 +0000</pubDate>
      <description>What is &lt;new&gt;</description>
    </item>
    <item>
      <title>Last</title>
      <link>https://docs.example/changelog#last</link>
      <guid isPermaLink="true">https://docs.example/changelog#last</guid>
      <description>Its own text.</description>
    </item>
  </channel>
</rss>
`
	if got["changelog/rss.xml"] != want {
		t.Errorf("got\n%s\nwant\n%s", got["changelog/rss.xml"], want)
	}
	if n := strings.Count(got["asked/rss.xml"], "<item>"); n != 3 {
		t.Errorf("a feed that its author asks for has %d entries", n)
	}
	if !strings.Contains(got["rss.xml"], "<link>https://docs.example/</link>") {
		t.Errorf("the feed of the first page:\n%s", got["rss.xml"])
	}
	for name, text := range got {
		if strings.HasSuffix(name, ".xml") {
			if err := readable(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, href := range map[string]string{"changelog.html": "changelog/rss.xml", "index.html": "rss.xml", "plain.html": "", "own.html": "", "quiet/index.html": ""} {
		link := `<link rel="alternate" type="application/rss+xml" href="` + href
		if has := strings.Contains(got[name], link+`">`); has != (href != "") {
			t.Errorf("%s has the link %s: %t", name, link, has)
		}
	}
	// Only a page that asks for it shows the feed to readers.
	if !strings.Contains(got["changelog.html"], `class="bdy-feed" type="application/rss+xml" href="changelog/rss.xml"><svg`) || strings.Contains(got["index.html"], `class="bdy-feed"`) {
		t.Error("the link to the feed on the page")
	}
}

// readable tells whether a text is XML.
func readable(text string) error {
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := dec.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
