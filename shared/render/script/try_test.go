package script
import ("testing";"os";"regexp")
func BenchmarkFormulas(b *testing.B) {
	e := New()
	data, _ := os.ReadFile("/tmp/math/site/index.mdx")
	list := regexp.MustCompile(`\$\$(.*?)\$\$`).FindAllSubmatch(data, -1)
	e.drawFormula("x", true)
	i := 0
	for b.Loop() { e.drawFormula(string(list[i%3000][1]), false); i++ }
}
