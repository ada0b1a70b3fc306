package highlight

import (
	"slices"
	"testing"
)

// BenchmarkRuns gives the cost of the distinct blocks of the corpora, for each
// family of languages, with the HTML written: ns/B of the source. "used" is what
// pages get, "grammar" chroma's grammars under the driver of this package, and
// "stock" those under chroma's driver. Nothing is remembered between blocks.
func BenchmarkRuns(b *testing.B) {
	families := map[string][]string{
		"typescript": {"TypeScript"},
		"tsx":        {"TSX", "react", "JavaScript"},
		"json":       {"JSON"},
		"shell":      {"Bash", "Bash Session"},
		"powershell": {"PowerShell"},
		"python":     {"Python"},
		"clike":      {"Rust", "Kotlin", "C#", "Ruby", "Go", "Java"},
		"yaml":       {"YAML"},
	}
	byFamily := map[string][]block{}
	labels := New(Options{})
	all, covered := 0, 0
	for _, block := range corpora(b) {
		all += len(block.code)
		lang := labels.languages.find(block.label)
		if lang == nil || lang.lexer == nil {
			continue
		}
		if lang.lex != nil {
			covered += len(block.code)
		}
		family := "other"
		for f, names := range families {
			if slices.Contains(names, lang.name) {
				family = f
			}
		}
		byFamily[family] = append(byFamily[family], block)
		byFamily["all"] = append(byFamily["all"], block)
	}
	b.Logf("own lexers read %.1f %% of the bytes of all blocks", 100*float64(covered)/float64(max(all, 1)))
	names := make([]string, 0, len(byFamily))
	for name := range byFamily {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, driver := range []string{"used", "grammar", "stock"} {
			b.Run(name+"/"+driver, func(b *testing.B) {
				h, stock := New(Options{}), newStock()
				var html []byte
				size := 0
				pass := func() {
					size = 0
					for _, block := range byFamily[name] {
						var runs []Run
						switch lang := h.languages.find(block.label); {
						case driver == "stock":
							runs = stock.runs(block.label, block.code)
						case driver == "used" && lang.lex != nil:
							runs, _ = lang.lex(block.code)
						default:
							runs = h.grammarRuns(lang, block.code)
						}
						html = AppendHTML(html[:0], block.code, runs)
						size += len(block.code)
					}
				}
				pass() // loads the grammars
				b.ReportAllocs()
				for b.Loop() {
					pass()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/B")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
