package tool

import (
	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/render/edit"
)

// redirectList returns the list of redirects and the file that contains it; the list
// is nil if there is none yet.
func (t *Tree) redirectList() (*document, *json.Value, error) {
	file := t.configFile()
	documents := t.configDocuments()
	d := documents[file]
	if d == nil {
		return nil, nil, refuse("the site has no docs.json for redirects, or it can't be read")
	}
	list := member(d.root, "redirects")
	if ref := member(list, "$ref"); ref != nil {
		if d = documents[refFile(file, ref.Text)]; d == nil {
			return nil, nil, refuse("the file of redirects, %s, can't be read", ref.Text)
		}
		list = d.root
	}
	if list != nil && list.Kind != json.Array || d.root.Kind != json.Object && list == nil {
		return nil, nil, refuse("%s: redirects is not a list", d.file)
	}
	return d, list, nil
}

// redirect adds redirects to the configuration, changes where those from the same
// addresses lead, and takes out those from the addresses gone. made is told each.
func (t *Tree) redirect(wanted [][2]string, gone map[string]bool, made func(source, to string)) error {
	d, list, err := t.redirectList()
	if err != nil {
		return err
	}
	if list == nil {
		c := d.insert(d.root, len(d.root.Members), "redirects", []any{})
		if err := t.put(d.file, edit.Splice(d.src, []edit.Change{c})); err != nil {
			return err
		}
		if d, list, err = t.redirectList(); err != nil {
			return err
		}
	}
	changes, met := settle(d, list, wanted, gone, made)
	if err := t.put(d.file, edit.Splice(d.src, changes)); err != nil {
		return err
	}
	changes = nil
	for _, w := range wanted {
		if met[redirect.Parse(w[0]).Path] {
			continue
		}
		made(w[0], w[1])
		if len(changes) == 0 {
			if d, list, err = t.redirectList(); err != nil {
				return err
			}
		}
		changes = append(changes, d.insert(list, len(list.Items), "", pairs{{"source", w[0]}, {"destination", w[1]}}))
		if len(list.Items) > 0 {
			continue // all go to the end of the same list
		}
		if err := t.put(d.file, edit.Splice(d.src, changes)); err != nil {
			return err
		}
		changes = nil
	}
	if len(changes) == 0 {
		return nil
	}
	return t.put(d.file, edit.Splice(d.src, changes))
}

// settle returns the changes of redirects that are there already, and the paths
// of those wanted that need no new one.
func settle(d *document, list *json.Value, wanted [][2]string, gone map[string]bool, made func(source, to string)) (changes []edit.Change, met map[string]bool) {
	leads := map[string]string{}
	for _, w := range wanted {
		leads[redirect.Parse(w[0]).Path] = w[1]
	}
	met = map[string]bool{}
	removed := 0
	for i, item := range list.Items {
		source, to := member(item, "source"), member(item, "destination")
		if source == nil || to == nil {
			continue
		}
		from := redirect.Parse(source.Text)
		if from.Query != "" || from.Fragment != "" {
			continue
		}
		want, again := leads[from.Path]
		switch {
		case again && !met[from.Path]: // of two from one source the first counts
			changes = append(changes, edit.Change{Span: edit.Span{From: to.Offset, To: to.End}, Text: quote(want)})
			made(source.Text, want)
			met[from.Path] = true
		case !again && gone[from.Path] && removed+1 < len(list.Items):
			changes = append(changes, d.remove(list, i))
			removed++
		}
	}
	return changes, met
}
