package page

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Islands shows what needs JavaScript; *island.Engine does.
type Islands interface {
	// Render shows a source as it is at first. An *island.Error says what is
	// wrong with it, for its author; an *island.Ended costs the page what the source
	// shows; island.ErrUnavailable ends the rendering of the page.
	Render(ctx context.Context, fsys fs.FS, source island.Source, components []string) (*island.Shown, error)
	// Script makes the script that brings sources to life, and returns the
	// words in it that may be names of classes.
	Script(ctx context.Context, fsys fs.FS, sources []island.Source, components []string, start []byte) ([]byte, []string, error)
}

// CodeScriptEnded is the code of what a page lacks because its JavaScript ended the
// process that runs it. A clock or the machine's memory decided that: another export
// may show it.
const CodeScriptEnded = "script-ended"

const (
	// maxIslands bounds the pieces of JavaScript on a page: each costs a few
	// milliseconds.
	maxIslands = 2000
	// maxIslandSteps bounds the work of all of them together, as island.Shown
	// counts it.
	maxIslandSteps = 1_000_000
)

// slowIslands lets one piece of JavaScript of a site run into the clock: each costs
// seconds of a processor, and a small site may have hundreds. Its zero value is ready.
type slowIslands struct {
	turn  sync.Mutex // an engine does one piece of work at a time
	ended *island.Ended
}

// render calls Render of islands. After one piece of JavaScript that took too long it
// returns an *island.Ended for all others and does not run them.
func (l *slowIslands) render(ctx context.Context, islands Islands, fsys fs.FS, source island.Source, components []string) (*island.Shown, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.ended != nil {
		return nil, &island.Ended{File: source.File, Line: source.Line, Reason: fmt.Sprintf("it was not run, because other JavaScript took too long (%s:%d)", l.ended.File, l.ended.Line), Clock: true}
	}
	shown, err := islands.Render(ctx, fsys, source, components)
	if ended, ok := errors.AsType[*island.Ended](err); ok && ended.Clock {
		l.ended = ended
	}
	return shown, err
}

// settle ends a trial of showing a node. Where the node needs an engine, and
// there is one, the result is what the engine shows; otherwise it is false, and
// what the trial said is reported. attrs are the node's attributes as they were
// written, children what it holds.
func (s *resolver) settle(t *trial, n *mdx.Node, attrs []mdx.Attr, children []*mdx.Node, sc *scope) ([]*mdx.Node, bool) {
	s.end(t)
	if t.needsEngine && s.r.Islands == nil {
		s.unrun = true
	} else if t.needsEngine {
		if shown, ok := s.island(t, n, attrs, children, sc); ok {
			return shown, true
		}
	}
	s.keep(t)
	return nil, false
}

// island shows what a node is in JavaScript: an element with its attributes, or
// an expression. children are what the element holds. When it can't be shown,
// the result is false, and the report says why in place of what the trial
// without an engine said.
func (s *resolver) island(t *trial, n *mdx.Node, attrs []mdx.Attr, children []*mdx.Node, sc *scope) ([]*mdx.Node, bool) {
	if n.Kind == mdx.Element && (isPart(n.Name) || len(children) > 0 && holdsParts(n.Name)) {
		return nil, false
	}
	if s.islands++; s.islands > maxIslands || s.islandSteps > maxIslandSteps {
		if s.islands == maxIslands+1 && s.islandSteps <= maxIslandSteps {
			s.report(sc.file, n.Pos, mdx.Warning, "script-failed", "the page has more than "+strconv.Itoa(maxIslands)+" places that need JavaScript; from here on only their content is shown")
		}
		return nil, false
	}
	s.ran = true
	source := island.Source{File: sc.file, Module: sc.module, Line: n.Pos.Line, Number: s.islands, Expression: s.islandSource(n, attrs, len(children) > 0)}
	props, names := islandProps(sc)
	source.Props, source.Names = props, names
	shown, err := s.r.slow.render(s.ctx, s.r.Islands, moduleFS{s.tree}, source, s.r.componentNames())
	var fault *island.Error
	if errors.As(err, &fault) && fault.Browser && s.mounts(n, sc) {
		s.reportFault(fault, n, t, sc, mdx.Notice, "script-browser", nameOf(n)+" is first shown in the browser: ")
		shown, err = &island.Shown{Live: true, Steps: fault.Steps}, nil
	}
	if err != nil {
		var ended *island.Ended
		switch {
		case s.ctx.Err() != nil:
			s.fail(s.ctx.Err())
		case errors.As(err, &ended):
			s.islands = maxIslands + 1 // no other is tried on this page
			begin := nameOf(n) + " is left out"
			if n.Kind == mdx.Expression {
				begin = "the expression is shown as it is written"
			}
			s.report(sc.file, n.Pos, mdx.Error, CodeScriptEnded, begin+": its JavaScript did not finish: "+ended.Reason+"; another export may show it, so that this bundle is never reused")
			*t = trial{outer: t.outer, before: t.before}
		case unknown(err):
			s.fail(err)
		case fault != nil:
			s.islandSteps += fault.Steps
			if fault.Limit { // no other is tried on this page
				s.islands = maxIslands + 1
			}
			begin := nameOf(n) + " can't be shown as it is meant: "
			if n.Kind == mdx.Expression {
				begin = writtenMessage(n.Value)
			}
			s.reportFault(fault, n, t, sc, mdx.Warning, "script-failed", begin)
			*t = trial{outer: t.outer, before: t.before}
		default:
			s.r.Log.LogAttrs(s.ctx, slog.LevelError, "a component could not be rendered", slog.String("file", sc.file), slog.Any("error", err))
		}
		return nil, false
	}
	s.islandSteps += shown.Steps
	tree := islandTree{resolver: s, at: n, scope: sc, children: children, live: shown.Live}
	list := tree.nodes(shown.Nodes, true)
	if tree.unmarked { // without its content it must not be drawn anew
		shown.Live = false
	}
	if tree.live && !tree.showed && len(children) > 0 {
		// It may be shown later. Until then it is here for readers without
		// JavaScript, for search and for the Markdown copy.
		held, _ := tree.content(nodes(children), n.Pos)
		kept := tree.element(contentTag, held)
		kept.Attrs = []mdx.Attr{{Kind: mdx.AttrBool, Name: "data-kept", Pos: n.Pos}}
		list = append(list, kept)
	}
	if !shown.Live {
		return s.inPlaceOf(n, list), true
	}
	box := tree.element(islandTag, list)
	box.Attrs = []mdx.Attr{{Kind: mdx.AttrString, Name: "data-island", Value: strconv.Itoa(len(s.live)), Pos: n.Pos}}
	box.Inline = n.Inline
	s.live = append(s.live, source)
	return []*mdx.Node{box}, true
}

// mounts reports whether the browser can render a node that the export can't: a
// component of the site, or an expression that makes one.
func (s *resolver) mounts(n *mdx.Node, sc *scope) bool {
	if n.Kind == mdx.Expression {
		return strings.Contains(n.Value, "<")
	}
	first, _, _ := strings.Cut(n.Name, ".")
	_, own := sc.names.Lookup(first)
	return own && isCapital(n.Name)
}

// nameOf names an element or an expression in a message.
func nameOf(n *mdx.Node) string {
	if n.Kind == mdx.Expression {
		return "{" + excerpt(n.Value) + "}"
	}
	return "<" + n.Name + ">"
}

// reportFault reports what is wrong with a node's JavaScript. begin is how the
// message begins.
func (s *resolver) reportFault(fault *island.Error, n *mdx.Node, t *trial, sc *scope, severity mdx.Severity, code, begin string) {
	message := begin + fault.Message
	if len(fault.Stack) > 1 {
		message += "; called from " + strings.Join(fault.Stack[1:], ", ")
	}
	if fault.File != sc.file {
		message += "; shown at " + sc.file + ":" + strconv.Itoa(n.Pos.Line)
	}
	s.report(fault.File, s.placeOfFault(fault, n, t, sc), severity, code, message)
}

// placeOfFault returns the place of a fault. The engine gives the line. On the node's own
// line, the evaluation without an engine gives the column.
func (s *resolver) placeOfFault(fault *island.Error, n *mdx.Node, t *trial, sc *scope) mdx.Pos {
	at := mdx.Pos{Line: fault.Line, Column: 1}
	if fault.File != sc.file {
		return at
	}
	for _, d := range t.said.list {
		if d.File == fault.File && d.Line == fault.Line && d.Code == "script-needed" {
			at.Column = d.Column
			return at
		}
	}
	if n.Pos.Line == fault.Line {
		at.Column = n.Pos.Column
	}
	return at
}

// unknown reports whether an error leaves open what is shown: another try, or
// another machine, might show something else.
func unknown(err error) bool { return errors.Is(err, island.ErrUnavailable) }

// isPart reports the elements that browsers know only directly within certain
// others: no mark can stand around them.
func isPart(name string) bool {
	switch name {
	case "caption", "col", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th", "option", "optgroup", "summary", "legend", "source", "track",
		"circle", "ellipse", "g", "line", "path", "polygon", "polyline", "rect", "text", "tspan", "use":
		return true
	}
	return false
}

// holdsParts reports the elements that no mark can stand in.
func holdsParts(name string) bool {
	switch name {
	case "table", "colgroup", "thead", "tbody", "tfoot", "tr", "select", "optgroup", "datalist", "details", "fieldset", "textarea",
		"video", "audio", "picture", "svg", "g", "text":
		return true
	}
	return false
}

// says reports whether nodes show anything.
func says(list []*mdx.Node) bool {
	return slices.ContainsFunc(list, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Text:
			return strings.TrimSpace(n.Value) != ""
		case mdx.Element:
			return isCapital(n.Name) || n.Name == "img" || says(n.Children)
		}
		return len(n.Children) == 0 || says(n.Children)
	})
}

// islandSource writes a node as the source of what is shown.
func (s *resolver) islandSource(n *mdx.Node, attrs []mdx.Attr, holds bool) string {
	if n.Kind == mdx.Expression {
		return "{" + n.Value + "}"
	}
	b := []byte("<" + n.Name)
	for _, a := range attrs {
		b = append(b, ' ')
		switch a.Kind {
		case mdx.AttrSpread:
			b = append(b, "{..."+strings.TrimPrefix(strings.TrimSpace(a.Value), "...")+"}"...)
			continue
		case mdx.AttrBool:
			b = append(b, a.Name...)
			continue
		case mdx.AttrString:
			text, _ := json.Marshal(a.Value) // a string has a JSON
			b = append(b, a.Name+"={"+string(text)+"}"...)
		default:
			b = append(b, a.Name+"={"+a.Value+"}"...)
		}
	}
	if !holds {
		return string(append(b, " />"...))
	}
	return string(append(b, ">{$children}</"+n.Name+">"...))
}

// islandProps returns the properties of a snippet that a script can have.
func islandProps(sc *scope) (props string, names []string) {
	var b strings.Builder
	for _, p := range sc.props {
		src, ok := literalSource(p.Value)
		if !ok || !isPath(p.Key) || strings.Contains(p.Key, ".") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(p.Key) + ":" + src)
		names = append(names, p.Key)
	}
	if b.Len() == 0 {
		return "", nil
	}
	return "{" + b.String() + "}", names
}

// componentNames are those of the built-in components, sorted.
func (r *Renderer) componentNames() []string {
	all := r.Registry.All()
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return names
}

// islandTree turns what a script shows into nodes of the page.
type islandTree struct {
	*resolver
	at       *mdx.Node
	scope    *scope
	children []*mdx.Node
	live     bool
	// showed is set when the children were shown.
	showed bool
	// within is the element whose content is made; unmarked is set when the
	// children were shown where no mark can stand.
	within   string
	unmarked bool
}

// The elements that mark places for islands.js. None of them has a box.
const (
	islandTag  = "bindery-island"  // what lives, with its number on the page
	frameTag   = "bindery-frame"   // a built-in component, with the name of its frame
	holeTag    = "bindery-hole"    // what of a built-in component is drawn anew
	contentTag = "bindery-content" // what the element holds in the page
)

func (t *islandTree) element(name string, children []*mdx.Node) *mdx.Node {
	n := &mdx.Node{Kind: mdx.Element, Name: name, Pos: t.at.Pos, End: t.at.Pos, Children: children}
	t.from(n, t.scope)
	return n
}

// nodes makes the nodes. In a frame whose parts belong to each other, framed is
// false: nothing there is drawn anew.
func (t *islandTree) nodes(list []island.Node, framed bool) []*mdx.Node {
	var out []*mdx.Node
	words := false
	for _, shown := range list {
		if t.size += 1 + len(shown.Text)/bytesPerNode; t.size > t.parts() {
			break
		}
		switch {
		case shown.Tag == "":
			words = words || strings.TrimSpace(shown.Text) != ""
			out = append(out, &mdx.Node{Kind: mdx.Text, Value: shown.Text, Pos: t.at.Pos, End: t.at.Pos})
		case shown.Tag == island.Children:
			t.showed = true
			t.unmarked = t.unmarked || t.live && framed && holdsParts(t.within)
			held, _ := t.content(nodes(t.children), t.at.Pos)
			if t.live && framed && !t.unmarked {
				held = []*mdx.Node{t.element(contentTag, held)}
			}
			out = append(out, held...)
		default:
			out = append(out, t.node(&shown, framed))
		}
	}
	if words {
		for _, c := range out {
			c.Inline = c.Inline || c.Kind == mdx.Element && !isBlockTag(c.Name) && !isCapital(c.Name)
		}
	}
	return out
}

func (t *islandTree) node(shown *island.Node, framed bool) *mdx.Node {
	n := t.element(shown.Tag, nil)
	props := make([]prop, 0, len(shown.Attrs))
	for _, a := range shown.Attrs {
		p := prop{name: a.Name, pos: t.at.Pos}
		if a.Shown != nil {
			p.value = nodes(t.nodes(a.Shown, false))
		} else {
			p.value = jsonValue(a.Value)
		}
		if !shown.Builtin {
			switch p.name {
			case "defaultValue":
				p.name = "value"
			case "defaultChecked":
				p.name = "checked"
			}
			t.known(p.value)
		}
		props = append(props, p)
	}
	frame := t.live && framed && shown.Builtin
	hole := frame && keepsHole(shown)
	outer := t.within
	t.within = shown.Tag
	children := t.nodes(shown.Children, framed && (!shown.Builtin || hole))
	t.within = outer
	if hole && len(children) > 0 {
		children = []*mdx.Node{t.element(holeTag, children)}
	}
	n.Children = children
	t.setAttrs(n, props, t.scope)
	if !frame {
		return n
	}
	box := t.element(frameTag, []*mdx.Node{n})
	box.Attrs = []mdx.Attr{{Kind: mdx.AttrString, Name: "data-frame", Value: shown.Key, Pos: t.at.Pos}}
	return box
}

// known keeps how an address is written on this page, for what is drawn anew.
func (t *islandTree) known(v any) {
	address, ok := v.(string)
	if !t.live || !ok || !strings.HasPrefix(address, "/") && !strings.HasPrefix(address, ".") {
		return
	}
	if to := t.target(address); to.Kind == site.ToPage || to.Kind == site.ToFile || to.Kind == site.ToAnchor {
		put(&t.addresses, address, to.Href)
	}
}

// keepsHole reports the components whose content may be drawn anew within them.
// Of the others the parts belong to each other, or are read as a text.
func keepsHole(n *island.Node) bool {
	switch n.Tag {
	case "Card", "Note", "Tip", "Info", "Check", "Warning", "Danger", "Error", "Callout", "Accordion", "Expandable", "Frame", "Panel",
		"ResponseField", "ParamField", "Update", "Badge", "Column", "Banner":
		return true
	}
	return false
}

// jsonValue reads JSON with the order of its members; nil for what is not JSON.
func jsonValue(raw json.RawMessage) any {
	v, err := readJSON(json.NewDecoder(bytes.NewReader(raw)))
	if err != nil {
		return nil
	}
	return v
}

func readJSON(dec *json.Decoder) (any, error) {
	first, err := dec.Token()
	delim, ok := first.(json.Delim)
	if err != nil || !ok {
		return first, err
	}
	list, members := []any{}, mdx.Object{}
	for dec.More() {
		var key json.Token
		if delim == '{' {
			if key, err = dec.Token(); err != nil {
				return nil, err
			}
		}
		v, err := readJSON(dec)
		if err != nil {
			return nil, err
		}
		if name, ok := key.(string); ok {
			members = append(members, mdx.Member{Key: name, Value: v})
		} else {
			list = append(list, v)
		}
	}
	if _, err = dec.Token(); delim == '{' {
		return members, err
	}
	return list, err
}

// scriptPath is where the script of the page at an address lies. Pages of one
// script have a file each: another page may change the one alone. An address to
// which nothing can be added, as file systems and bundles bound names, is told
// by its digest.
func scriptPath(address string, script []byte) string {
	const maxName, maxAddress = 200, 900 // bytes
	if len(address) > maxAddress || len(path.Base(address)) > maxName {
		address = "page-" + island.Digest([]byte(address))
	}
	return "bindery/islands/" + address + "." + island.Digest(script) + ".js"
}

// islandScript makes the script that brings the page's islands to life.
func (t *tree) islandScript(ctx context.Context, result *Result, said *report) error {
	if len(t.live) == 0 {
		return nil
	}
	type start struct {
		Root      string            `json:"root"`
		Addresses map[string]string `json:"addresses,omitempty"`
		Props     []json.RawMessage `json:"props"`
	}
	p := &t.r.Site.Pages[t.page]
	st := start{Root: strings.Repeat("../", strings.Count(p.Output, "/")), Addresses: t.addresses}
	for _, l := range t.live {
		st.Props = append(st.Props, json.RawMessage(cmp.Or(l.Props, "{}")))
	}
	data, err := json.Marshal(st)
	var script []byte
	var words []string
	var ended *island.Ended
	if err == nil {
		script, words, err = t.r.Islands.Script(ctx, moduleFS{t}, t.live, t.r.componentNames(), data)
	}
	switch {
	case err == nil:
		result.Script, result.MaybeClasses, result.ScriptPath = script, words, scriptPath(p.Address, script)
	case ctx.Err() != nil:
		return ctx.Err()
	case unknown(err):
		return err
	case errors.As(err, &ended):
		said.add(mdx.Diagnostic{
			Severity: mdx.Error, Code: CodeScriptEnded, File: t.source, Line: 1, Column: 1,
			Message: "the components of this page stay as they are at first: making their script ended the process that does it: " + ended.Reason + "; this bundle is never reused",
		})
	default:
		// Each of them was rendered, so this is ours; readers see what they showed.
		t.r.Log.LogAttrs(ctx, slog.LevelError, "a page's components stay as they are at first", slog.String("file", t.source), slog.Any("error", err))
	}
	return nil
}
