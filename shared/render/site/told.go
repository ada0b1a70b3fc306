package site

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// tell reports that a field has no effect, as the table of capabilities says it,
// once a site. values, if any, are those of the field that have none.
func (r *configReader) tell(at *value, kind capability.Kind, name string, values ...string) {
	row := capability.Find(kind, name)
	key := string(kind) + " " + name
	if row == nil || row.State != capability.Told || r.told[key] {
		return
	}
	if r.told == nil {
		r.told = make(map[string]bool)
	}
	r.told[key] = true
	severity := mdx.Notice
	switch {
	case row.Loses:
		severity = mdx.Warning
	case row.Code == "config-unsupported":
		severity = mdx.Info
	}
	of := ""
	if len(values) > 0 {
		of = " for " + strings.Join(values, ", ")
	}
	r.report(at, severity, row.Code, "%q has no effect%s: %s", name, of, row.Rule)
}

// tellSettings reports the fields of docs.json that have no effect whatever
// their value is.
func (r *configReader) tellSettings(config *value) {
	for row := range capability.All(capability.Setting) {
		if row.State != capability.Told || row.Elsewhere {
			continue
		}
		v := config
		for name := range strings.SplitSeq(row.Name, ".") {
			v = v.get(name)
		}
		if v != nil {
			v.open = true
			r.tell(v, row.Kind, row.Name)
		}
	}
}

// tellEntry reports the fields of an entry of the navigation that have no
// effect.
func (r *configReader) tellEntry(entry *value) {
	for row := range capability.All(capability.Entry) {
		if row.State != capability.Told {
			continue
		}
		if v := entry.get(row.Name); v != nil {
			v.open = true
			r.tell(v, row.Kind, row.Name)
		}
	}
}

// tellHead reports the fields of a page's head that have no effect, and notes
// those that nobody knows.
func (r *configReader) tellHead(source string, yaml []byte, head map[string]field) {
	for key, f := range head {
		row := capability.Find(capability.Head, key)
		switch {
		case row == nil:
			if at, known := r.custom[key]; !known || source < at.file {
				if r.custom == nil {
					r.custom = make(map[string]*value)
				}
				r.custom[key] = headField(source, yaml, key)
			}
		case row.State == capability.Told && f.present && f.text != "false":
			if at := r.headTold[key]; at == nil || source < at.file {
				if r.headTold == nil {
					r.headTold = make(map[string]*value)
				}
				r.headTold[key] = headField(source, yaml, key)
			}
		}
	}
}

// headField is the place of a field of a page's head.
func headField(source string, yaml []byte, key string) *value {
	at := &value{file: source, line: 1, column: 1}
	if i := regexp.MustCompile(`(?m)^["']?` + regexp.QuoteMeta(key) + `["']?[ \t]*:`).FindIndex(yaml); i != nil {
		at.line = 2 + strings.Count(string(yaml[:i[0]]), "\n") // the head begins on the page's second line
	}
	return at
}

// headsTold reports what tellHead noted. Fields of the author's own are allowed:
// those that look like another's name are reported one by one, all others
// together.
func (r *configReader) headsTold() {
	for _, key := range slices.Sorted(maps.Keys(r.headTold)) {
		r.tell(r.headTold[key], capability.Head, key)
	}
	var known, own []string
	for row := range capability.All(capability.Head) {
		known = append(known, row.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(r.custom)) {
		if near := Nearest(key, known); near != "" && len(key) > 3 {
			r.report(r.custom[key], mdx.Warning, "front-matter-unknown", "pages have no field %q: did you mean %q?", key, near)
			continue
		}
		own = append(own, key)
	}
	if len(own) > 0 {
		const most = 20
		more := ""
		if len(own) > most {
			more = fmt.Sprintf(" and %d more", len(own)-most)
		}
		r.report(r.custom[own[0]], mdx.Notice, "front-matter-unknown", "heads of pages have fields of their author's own, which have no effect: %s%s", strings.Join(own[:min(len(own), most)], ", "), more)
	}
}
