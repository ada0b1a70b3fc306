package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// strict is the policy that a site may send with every page that holds nothing
// but its own content.
const strict = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'"

// TestComponentsInABrowser uses components as a reader does, on the pages that
// document them: by links, keys and clicks, under a strict content security
// policy. Each step is a script that gives what is wrong, "" for nothing.
func TestComponentsInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "infra", "docs"))
	server := browse.Policed(t, dir, strict)

	ctx, stop := browse.Open(t, chromium)
	defer stop()
	complaints := browse.Listen(ctx, server.URL)
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	const helpers = `
		const $ = s => document.querySelector(s), $$ = s => [...document.querySelectorAll(s)];
		const key = (el, k) => el.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
		const shown = el => el.getClientRects().length > 0;
		const tab = (n, name) => [...$$(".bdy-tablist")[n].children].find(b => b.textContent.trim() == name);
	`
	steps := []struct{ name, page, script string }{
		{"a fragment opens an accordion", "accordions.html#what-is-folded",
			`return $("#what-is-folded").open ? "" : "it is closed"`},
		{"an opened accordion is in the address", "accordions.html",
			`$(".bdy-accordion:not([open]) > summary").click(); return location.hash == "#what-is-folded" ? "" : location.hash`},
		{"a fragment shows a tab", "tabs.html#windows",
			`return shown($("#windows")) && !shown($("#macos")) ? "" : "another tab is shown"`},
		{"the default tab is shown", "tabs.html",
			`return tab(0, "macOS").getAttribute("aria-selected") == "true" ? "" : "another tab is shown"`},
		{"arrow keys, Home and End move between tabs", "tabs.html", `
			tab(2, "Linux").focus();
			for (const [k, want] of [["ArrowRight", "macOS"], ["ArrowRight", "Linux"], ["End", "macOS"], ["Home", "Linux"], ["ArrowLeft", "macOS"]]) {
				key(document.activeElement, k);
				if (document.activeElement.textContent.trim() != want) return k + " leads to " + document.activeElement.textContent;
				if ($$(".bdy-tablist")[2].querySelectorAll("[tabindex='0']").length != 1) return "not one tab takes the focus";
			}
			return tab(0, "macOS").getAttribute("aria-selected") == "true" ? "" : "tabs that don't sync moved others"`},
		{"tabs of one title move together, groups aside", "tabs.html", `
			tab(0, "Linux").click();
			if (tab(1, "Linux").getAttribute("aria-selected") == "true") return "another group moved";
			return location.hash == "#linux" ? "" : location.hash`},
		{"a choice of tabs is remembered", "tabs.html",
			`return tab(0, "Linux").getAttribute("aria-selected") == "true" ? "" : "forgotten"`},
		{"a choice among blocks of code is remembered", "code.html",
			`[...$(".bdy-code-group .bdy-tablist").children].find(b => b.textContent == "Node.js").click(); return ""`},
		{"on the next visit too", "code.html", `
			const picked = $(".bdy-code-group [aria-selected=true]");
			if (picked.textContent != "Node.js") return picked.textContent;
			const select = $("select.bdy-code-select"), blocks = [...select.parentNode.querySelectorAll(".bdy-code-block")];
			select.selectedIndex = 1; select.dispatchEvent(new Event("change"));
			return shown(blocks[1]) && !shown(blocks[0]) ? "" : "the list picks nothing"`},
		{"views are picked", "views.html", `
			const [js, python] = $$(".bdy-view");
			if (!shown(js) || shown(python)) return "not the first view alone";
			$$(".bdy-choice button")[1].click();
			if (shown(js) || !shown(python)) return "not the second view alone";
			return $$(".bdy-choice [aria-pressed=true]").length == 1 ? "" : "not one button is pressed"`},
		{"and remembered", "views.html", `return shown($$(".bdy-view")[1]) ? "" : "forgotten"`},
		{"a fragment shows a view", "views.html#javascript", `return shown($("#javascript")) ? "" : "hidden"`},
		{"tags pick updates, in the contents too", "updates.html", `
			[...$$(".bdy-choice button")].find(b => b.textContent == "API").click();
			const [first, second] = $$(".bdy-update"), entries = $$("#bindery-contents li").filter(shown);
			if (!shown(first) || shown(second)) return "other entries are shown";
			if (entries.length != 1) return entries.length + " entries in the contents";
			const tags = [...$$(".bdy-choice button")];
			if (new URLSearchParams(location.search).get("tags") != "API") return "the address has " + location.search;
			tags.find(b => b.textContent == "CLI").click();
			if (!shown(first) || shown(second)) return "an entry without both tags is shown";
			tags.find(b => b.textContent == "API").click();
			if (!shown(first) || !shown(second)) return "an entry with the tag that is left is not shown";
			tags[0].click();
			return shown(first) && shown(second) && !location.search ? "" : "all are not shown again"`},
		{"the address picks tags", "updates.html?tags=API", `
			const [first, second] = $$(".bdy-update");
			return shown(first) && !shown(second) && $$(".bdy-choice [aria-pressed=true]").length == 1 ? "" : "other entries are shown"`},
		{"a tip comes with the focus and goes with Escape", "tooltips.html", `
			const words = $(".bdy-tooltip"), tip = $(".bdy-tooltip-tip");
			if (words.getAttribute("aria-describedby") != tip.id) return "it describes nothing";
			words.focus();
			if (!shown(tip)) return "it does not come";
			tip.querySelector("a").focus();
			if (!shown(tip)) return "its link can't be reached";
			key(tip.querySelector("a"), "Escape");
			return shown(tip) ? "it stays" : ""`},
		{"a picture opens with the keyboard and gives the focus back", "frames.html", `
			const img = $(".bdy-frame img");
			if (img.getAttribute("role") != "button" || !img.getAttribute("aria-label").includes("manifest")) return "it is no button with a name";
			img.focus(); key(img, "Enter");
			const dialog = $("dialog.bdy-zoomed");
			if (!dialog || !dialog.open) return "it does not open";
			dialog.close();
			await new Promise(r => setTimeout(r, 50));
			if ($("dialog.bdy-zoomed")) return "it stays in the page";
			return document.activeElement == img ? "" : "the focus is lost"`},
		{"one that must not, does not", "frames.html",
			`return $("img[data-bindery-zoom=off]").classList.contains("bdy-zoomable") ? "it can be opened" : ""`},
		{"arrows walk through a tree", "trees.html", `
			const [docs, snippets] = $$(".bdy-tree summary");
			docs.focus(); key(docs, "ArrowDown");
			if (document.activeElement != snippets) return "down leads elsewhere";
			key(snippets, "ArrowRight");
			if (!snippets.parentNode.open) return "right opens nothing";
			key(snippets, "ArrowLeft");
			return snippets.parentNode.open ? "left closes nothing" : ""`},
		{"a fragment opens what a field stands in", "fields.html#response-code", `
			const field = $("#response-code");
			field.closest("details").open = false;
			location.hash = ""; location.hash = "response-code";
			await new Promise(r => setTimeout(r, 50));
			return shown(field) ? "" : "hidden"`},
		{"examples stand beside the text and take the contents' place", "examples.html", `
			const text = $(".prose > p").getBoundingClientRect(), box = $(".bdy-beside").getBoundingClientRect();
			if (box.left < text.right) return "they stand in the text";
			if (box.right > innerWidth) return "they leave the window";
			return $(".bdy-contents") && shown($(".bdy-contents")) ? "the contents are there too" : ""`},
		{"an author's colours are shown", "icons.html",
			`const c = getComputedStyle($(".bdy-icon-inline[class*=bdy-st-]")).color; return c == "rgb(220, 38, 38)" ? "" : c`},
		{"swatches follow the appearance", "colors.html", `
			document.documentElement.classList.remove("dark");
			const light = $$(".bdy-color-swatch").filter(shown).map(e => getComputedStyle(e).backgroundColor);
			document.documentElement.classList.add("dark");
			const dark = $$(".bdy-color-swatch").filter(shown).map(e => getComputedStyle(e).backgroundColor);
			return light.includes("rgb(255, 255, 255)") && dark.includes("rgb(11, 16, 20)") && light[0] == "rgb(15, 118, 110)" ? "" : light + " and " + dark`},
		{"what is copied is without removed lines", "code.html", `
			const texts = [];
			document.execCommand = () => { texts.push(document.activeElement.value); return true; };
			Object.defineProperty(navigator, "clipboard", { value: undefined });
			for (const e of $$(".bdy-code-block:has(.bdy-line-removed) > .bdy-copy")) if (shown(e)) e.click();
			return texts.length && texts.every(s => s.includes('const format = "tar.gz";') && !s.includes('"zip"') && !s.includes("\n\n")) ? "" : JSON.stringify(texts)`},
		{"what is copied is the prompt", "prompts.html", `
			const texts = [];
			document.execCommand = () => { texts.push(document.activeElement.value); return true; };
			Object.defineProperty(navigator, "clipboard", { value: undefined });
			$(".bdy-prompt .bdy-copy").click();
			return texts.length == 1 && texts[0].startsWith("# Write a page\n\nWrite") ? "" : JSON.stringify(texts)`},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			// From another page: a new fragment alone would load nothing.
			err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900), chromedp.Navigate("about:blank"),
				browse.Navigate(server.URL+"/components/"+step.page))
			if err != nil {
				t.Fatal(err)
			}
			wrong, err := chromedp.Run(ctx, chromedp.Evaluate[string]("(async () => {"+helpers+step.script+"})()", chromedp.EvalAwaitPromise))
			if err != nil || wrong != "" {
				t.Errorf("%s %v", wrong, err)
			}
		})
	}
	stop()
	for _, complaint := range complaints() {
		t.Error(complaint)
	}
}

// TestComponentsWithoutScripts reads every component's page with JavaScript
// off: nothing is hidden but what opens by itself.
func TestComponentsWithoutScripts(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "infra", "docs"))
	pages, err := filepath.Glob(filepath.Join(dir, "components", "*.html"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages of components, %v", len(pages), err)
	}
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`http-equiv="refresh"`)) {
			continue // an old address: the browser leaves it at once
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900), chromedp.Navigate("file://"+page)); err != nil {
			t.Fatal(err)
		}
		hidden, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
			document.querySelectorAll(".prose details").forEach(d => d.open = true);
			const hidden = [];
			for (const e of document.querySelectorAll(".prose *")) {
				if (e.closest(".bdy-tooltip-tip, .only-dark, .only-light, .bdy-anchor, svg, [data-mode]")) continue;
				const own = [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
				if (own && !e.getClientRects().length) hidden.push(e.className + ": " + e.textContent.trim().slice(0, 40));
			}
			return hidden.join("; ");
		})()`))
		if err != nil || hidden != "" {
			t.Errorf("%s: hidden: %s %v", filepath.Base(page), hidden, err)
		}
	}
}
