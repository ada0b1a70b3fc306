package component

import "strconv"

func columnComponents() []*Component {
	attrs := []AttrSpec{{"cols", "number", "2", "Columns on a wide screen, 1 to 6."}}
	return []*Component{
		{Name: "Columns", Doc: "Content in columns.", Block: true, Attrs: attrs, HTML: columnsHTML},
		{Name: "CardGroup", Doc: "Cards side by side: another name of Columns.", Block: true, Attrs: attrs, HTML: columnsHTML},
		{Name: "Column", Doc: "One of several columns.", Block: true, HTML: func(w *Writer, e *Element) {
			w.open("div", e, "bdy-column").Raw(">").Children(e).Raw("</div>")
		}},
	}
}

func columnsHTML(w *Writer, e *Element) {
	cols := 2
	if n, ok := e.Number("cols"); ok && n >= 1 {
		cols = int(min(n, 6))
	}
	w.open("div", e, "bdy-columns", "bdy-cols-"+strconv.Itoa(cols), when(e.Node.Name == "CardGroup", "card-group bdy-card-group")).Raw(">").Children(e).Raw("</div>")
}
