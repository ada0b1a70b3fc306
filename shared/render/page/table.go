package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// registerTables registers tables and what they are made of. The writers of a
// table write its rows and cells.
func registerTables(k *kinds) {
	k[mdx.Table] = kind{form: formBlock, html: (*htmlWriter).table, text: textWriter.children,
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) {
			rows := make([][]*tableCell, len(n.Children))
			for i, row := range n.Children {
				for _, cell := range row.Children {
					rows[i] = append(rows[i], &tableCell{node: cell, head: i == 0})
				}
			}
			w.writeTable(m, rows, n.Align)
		}}
	k[mdx.TableRow] = kind{form: formPart, text: textWriter.block}
	k[mdx.TableCell] = kind{form: formPart, text: func(w textWriter, t *component.Text, n *mdx.Node) {
		w.AddNodes(t, n.Children)
		t.Add(" ")
	}}
}

func (w *htmlWriter) table(out *component.Writer, n *mdx.Node) {
	w.scrollBox(out, "bdy-table-wrap", words.Table)
	out.Raw("<table>")
	head, columns, held := 0, 0, 0
	for i, row := range n.Children {
		if i == 0 {
			head = len(row.Children)
		}
		n := len(cells(row, head))
		columns, held = max(columns, n), held+n
	}
	filled := fillsUp(len(n.Children), columns, held)
	for i, row := range n.Children {
		tag := "td"
		cells := cells(row, head)
		if len(cells) > head {
			w.report(w.fileOf(row), row.Pos, mdx.Warning, "table-cells", fmt.Sprintf(
				"this row has %d cells, the table's head %d; a | that is part of a cell is written \\|, also in code", len(cells), head))
		}
		switch i {
		case 0:
			tag = "th"
			out.Raw("<thead>")
		case 1:
			out.Raw("<tbody>\n")
		}
		out.Raw("<tr>")
		for j, cell := range cells {
			class := ""
			if j < len(n.Align) {
				class = [...]string{"", "bdy-align-left", "bdy-align-center", "bdy-align-right"}[n.Align[j]]
			}
			switch n := textLen(cell.Children); {
			case n > longCell:
				class = strings.TrimSpace(class + " bdy-long")
			case n <= shortCell && unbroken(w.plain(cell.Children)):
				class = strings.TrimSpace(class + " bdy-short")
			}
			out.Raw("<").Raw(tag).AttrIf("class", class).Raw(">")
			w.nodes(out, cell.Children).Raw("</").Raw(tag).Raw(">")
		}
		// A row that ends early is filled up, so that borders and tints do
		// not end early too.
		for j := len(cells); filled && j < columns; j++ {
			out.Raw("<td></td>")
		}
		out.Raw("</tr>\n")
		if i == 0 {
			out.Raw("</thead>")
		}
	}
	if len(n.Children) > 1 {
		out.Raw("</tbody>")
	}
	out.Raw("</table></div>\n")
}

// longCell is the length in bytes from which a cell's text is kept from being
// squeezed into a column of single words.
const longCell = 48

// shortCell is the length in bytes up to which a cell of one word, such as a
// date or a number, is kept from being broken at its hyphens.
const shortCell = 24

// unbroken reports whether a text is one word that a browser might break.
func unbroken(text string) bool {
	return strings.ContainsAny(text, "-/") && !strings.ContainsAny(text, " \t\n")
}

// textLen is the length in bytes of the text in inline content.
func textLen(list []*mdx.Node) int {
	n := 0
	for _, c := range list {
		n += len(c.Value) + textLen(c.Children)
	}
	return n
}

// cells are a row's cells; empty ones past the head's end come of a stray bar.
func cells(row *mdx.Node, head int) []*mdx.Node {
	list := row.Children
	for len(list) > head && len(list[len(list)-1].Children) == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// fillsUp reports whether the rows of a table that end early are filled up with
// empty cells. A table with very many columns and very many rows of one cell
// would become thousands of times as long as its source: there they are not.
func fillsUp(rows, columns, held int) bool {
	const always, most = 1000, 10 // cells; times those that are there
	return rows*columns-held <= max(always, most*held)
}

func markdownTable(m *component.Markdown, rows [][]string, align []mdx.Align) {
	width, held := 0, 0
	for _, row := range rows {
		width, held = max(width, len(row)), held+len(row)
	}
	filled := fillsUp(len(rows), width, held)
	if width == 0 {
		return
	}
	m.Block()
	for i, row := range rows {
		if i > 0 {
			m.Write("\n")
		}
		columns := width
		if i > 0 && !filled {
			columns = max(len(row), 1)
		}
		for j := range columns {
			cell := ""
			if j < len(row) {
				cell = row[j]
			}
			m.Write("| " + cell + " ")
		}
		m.Write("|")
		if i > 0 {
			continue
		}
		m.Write("\n")
		for j := range width {
			rule := "---"
			if j < len(align) {
				rule = [...]string{"---", ":--", ":-:", "--:"}[min(align[j], mdx.AlignRight)]
			}
			m.Write("| " + rule + " ")
		}
		m.Write("|")
	}
}

// cell returns content on one line in which no bar ends the cell.
func (w *markdownWriter) cell(list []*mdx.Node) string {
	before := w.inTable
	w.inTable = true
	text := strings.Join(strings.Fields(w.phrase(list)), " ")
	w.inTable = before
	return strings.ReplaceAll(text, "|", `\|`)
}

// tableCell is a cell that Markdown has to hold.
type tableCell struct {
	node       *mdx.Node
	head       bool
	rows, cols string // what it spans, "" for one
}

// span returns how many rows or columns a cell spans, "" for one.
func (w *markdownWriter) span(n *mdx.Node, names ...string) string {
	for _, name := range names {
		if v, ok := w.element(n, nil).Number(name); ok && v > 1 && v <= 1000 {
			return strconv.Itoa(int(v))
		}
	}
	return ""
}

// htmlTable writes a table of HTML, its caption first.
func (w *markdownWriter) htmlTable(m *component.Markdown, n *mdx.Node) {
	for _, c := range n.Children {
		if c.Kind == mdx.Element && c.Name == "caption" {
			w.blocks(m, c.Children)
		}
	}
	w.writeTable(m, w.htmlRows(nil, n), nil)
}

// htmlRows collects the cells of an HTML table.
func (w *markdownWriter) htmlRows(rows [][]*tableCell, n *mdx.Node) [][]*tableCell {
	for _, c := range n.Children {
		if c.Kind != mdx.Element {
			continue
		}
		if c.Name != "tr" {
			rows = w.htmlRows(rows, c)
			continue
		}
		var row []*tableCell
		for _, cell := range c.Children {
			if cell.Kind == mdx.Element && (cell.Name == "td" || cell.Name == "th") {
				row = append(row, &tableCell{node: cell, head: cell.Name == "th",
					rows: w.span(cell, "rowSpan", "rowspan"), cols: w.span(cell, "colSpan", "colspan")})
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// writeTable writes a table with bars. One with cells that bars can't hold, such as lists,
// code or cells over several rows, is HTML with Markdown between the tags.
func (w *markdownWriter) writeTable(m *component.Markdown, rows [][]*tableCell, align []mdx.Align) {
	texts := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range row {
			list := component.Phrasing(c.node.Children)
			if c.rows != "" || c.cols != "" || w.hasBlock(list) {
				w.tableOfTags(m, rows)
				return
			}
			texts[i] = append(texts[i], w.cell(list))
		}
	}
	markdownTable(m, texts, align)
}

// tableOfTags writes a table as HTML. Blank lines around what is in a cell make it Markdown.
func (w *markdownWriter) tableOfTags(m *component.Markdown, rows [][]*tableCell) {
	defer m.SetTight(m.SetTight(false))
	tags := []string{"<table>"}
	for _, row := range rows {
		tags = append(tags, "<tr>")
		for _, c := range row {
			name := "td"
			if c.head {
				name = "th"
			}
			open := "<" + name
			if c.rows != "" {
				open += ` rowspan="` + c.rows + `"`
			}
			if c.cols != "" {
				open += ` colspan="` + c.cols + `"`
			}
			open += ">"
			if list := component.Phrasing(c.node.Children); !w.hasBlock(list) {
				if text := w.cell(list); !strings.ContainsAny(text, "<>&*_[]`\\~|$!{}#:@") {
					tags = append(tags, open+text+"</"+name+">")
					continue
				}
			}
			m.Paragraph(strings.Join(append(tags, open), "\n"))
			w.blocks(m, c.node.Children)
			tags = []string{"</" + name + ">"}
		}
		tags = append(tags, "</tr>")
	}
	m.Paragraph(strings.Join(append(tags, "</table>"), "\n"))
}
