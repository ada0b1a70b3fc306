package highlight

import (
	"slices"
	"testing"
)

// BenchmarkRuns gives the cost of the distinct blocks of the corpora, for each
// family of languages, under both drivers and with the HTML written: ns/B of
// the source. Nothing is remembered between blocks.
func BenchmarkRuns(b *testing.B) {
	families := map[string][]string{
		"typescript": {"TypeScript", "react", "JavaScript"},
		"json":       {"JSON"},
		"shell":      {"Bash", "PowerShell"},
		"python":     {"Python"},
		"clike":      {"Rust", "Kotlin", "C#", "Ruby", "Go", "Java"},
		"yaml":       {"YAML"},
	}
	byFamily := map[string][]block{}
	labels := New(Options{})
	for _, block := range corpora(b) {
		name, known := labels.Language(block.label)
		if !known || plainLanguages[name] || name == "Mermaid" {
			continue
		}
		family := "other"
		for f, names := range families {
			if slices.Contains(names, name) {
				family = f
			}
		}
		byFamily[family] = append(byFamily[family], block)
		byFamily["all"] = append(byFamily["all"], block)
	}
	names := make([]string, 0, len(byFamily))
	for name := range byFamily {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, driver := range []string{"own", "stock"} {
			b.Run(name+"/"+driver, func(b *testing.B) {
				h, stock := New(Options{}), newStock()
				var html []byte
				size := 0
				pass := func() {
					size = 0
					for _, block := range byFamily[name] {
						var runs []Run
						if driver == "stock" {
							runs = stock.runs(block.label, block.code)
						} else {
							runs = h.runs(h.languages.find(block.label), block.code)
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
