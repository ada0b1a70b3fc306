package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// TestIslandIDs: what two components of a page make with useId differs, so that
// each label is of its own field, also of one that comes after a click.
func TestIslandIDs(t *testing.T) {
	chromium := browse.Chromium(t)
	site := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name": "Ids", "theme": "mint", "colors": {"primary": "#336699"}, "navigation": {"pages": ["index"]}}`,
		"index.mdx": `---
title: Ids
---
export const Field = ({ name }) => {
  const id = useId();
  const [more, setMore] = useState(false);
  return <p><label htmlFor={id}>{name}</label><input id={id} name={name} /><button onClick={() => setMore(true)}>More</button>{more && <Field name={name + "+"} />}</p>;
};

<Field name="one" />

<Field name="two" />
`} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	archive, err := os.ReadFile(harness.ExportSite(t, site).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	harness.Extract(t, archive, dir)
	ctx, stop := browse.OpenFocused(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, "index.html"))); err != nil {
		t.Fatal(err)
	}
	const live = `document.querySelectorAll("bindery-island[data-live]").length === 2 && (document.querySelectorAll(".prose button").forEach(b => b.click()), true)`
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](live)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelectorAll(".prose label").length === 4`)); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".prose label")].map(l => l.innerText + " " + (l.control && l.control.name))`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one one", "one+ one+", "two two", "two+ two+"}, got); diff != "" {
		t.Errorf("labels and their fields: %s", diff)
	}
}
