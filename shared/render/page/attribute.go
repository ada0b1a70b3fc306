package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// attributes appends an element's attributes: React's names become HTML's,
// addresses are resolved, and what only a script could serve is left out.
func (w *htmlWriter) attributes(out *component.Writer, n *mdx.Node, tag string) {
	styled := joinClasses(w.modes[n], w.styleClass(n))
	for i, a := range n.Attrs {
		name := w.attrName(a.Name)
		if name == "" || repeated(n.Attrs, i) {
			continue
		}
		if isHandler(a.Name) {
			w.report(w.fileOf(n), a.Pos, mdx.Warning, "script-needed", handlerMessage(n, a.Name))
			continue
		}
		v, ok := component.AttrValue(a)
		if !ok || v == nil || name == "style" { // a style became a class
			continue
		}
		var value string
		switch v := v.(type) {
		case bool:
			writeSwitch(out, name, v, a.Kind)
			continue
		case string:
			value = v
		case float64:
			value, _ = display(v)
		default:
			continue
		}
		if name == "class" {
			w.classNames(a)
			value, styled = joinClasses(value, styled), ""
			ok = value != ""
		} else {
			value, ok = w.attribute(n, tag, name, a.Pos, value)
		}
		if ok {
			out.Attr(name, value)
		}
	}
	out.AttrIf("class", styled)
}

// writeSwitch appends an attribute whose value is true or false: as a word
// where HTML wants one, else by being there or not.
func writeSwitch(out *component.Writer, name string, on bool, kind mdx.AttrKind) {
	named := strings.HasPrefix(name, "aria-") || strings.HasPrefix(name, "data-")
	switch {
	case named && kind != mdx.AttrBool:
		out.Attr(name, strconv.FormatBool(on))
	case on && name != "id" && name != "class":
		out.Raw(" ").Raw(name)
	}
}

// attribute returns the value that an attribute has on the page, and false for
// one that is left out. pos is where its author wrote it.
func (w *htmlWriter) attribute(n *mdx.Node, tag, name string, pos mdx.Pos, value string) (string, bool) {
	switch name {
	case "id":
		// Ids that are taken already have none here.
		value = w.ids[n]
		w.emitted(value)
	case "name":
		if tag == "a" { // a place of links, as an id is
			w.emitted(value)
		}
	case "href", "xlink:href":
		value = w.refer(n, pos, value, tag == "image")
	case "src", "poster":
		value = w.asset(n, pos, value)
	case "data":
		if tag != "object" {
			return value, true
		}
		value = w.asset(n, pos, value)
	case "srcset", "imagesrcset":
		return w.srcset(n, pos, value), true
	case "action", "formaction":
		value = w.link(n, pos, value)
	case "background", "cite", "longdesc", "ping":
		// Nothing that a page shows; what else reads pages may follow them.
		if !html.SafeURL(value) {
			w.reportUnsafe(n, pos, value)
			return "", false
		}
	case "srcdoc":
		w.report(w.fileOf(n), pos, mdx.Warning, "script-dropped", "srcdoc is left out: a page in a page may run scripts")
		return "", false
	default:
		return value, true
	}
	return value, value != ""
}

// repeated reports whether a later attribute has the same name.
func repeated(attrs []mdx.Attr, i int) bool {
	return slices.ContainsFunc(attrs[i+1:], func(a mdx.Attr) bool { return strings.EqualFold(a.Name, attrs[i].Name) })
}

// attrName returns the name that an attribute has in HTML, "" for one that only
// means something to React, or that is not a name.
func (w *htmlWriter) attrName(name string) string {
	switch name {
	case "className", "class":
		return "class"
	case "htmlFor":
		return "for"
	case "key", "ref", "children", "dangerouslySetInnerHTML", "innerHTML", "suppressHydrationWarning", "suppressContentEditableWarning", "noAnchor", "noanchor", "":
		return ""
	case "defaultValue":
		return "value"
	case "defaultChecked":
		return "checked"
	case "xlinkHref":
		return "xlink:href"
	}
	upper := false
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			upper = true
		case 'a' <= c && c <= 'z', c == '_', c == ':':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.'):
		default:
			return ""
		}
	}
	switch {
	case !upper:
		return name
	case w.svg == 0 && name != "viewBox" && name != "preserveAspectRatio" && !strings.HasPrefix(name, "stroke") && !strings.HasPrefix(name, "fill"):
		return strings.ToLower(name)
	case keepsCase(name):
		return name
	}
	return kebab(name)
}

// keepsCase reports whether an attribute of SVG has capitals in its own name;
// React writes all others so instead of with hyphens.
func keepsCase(name string) bool {
	switch name {
	case "attributeName", "attributeType", "baseFrequency", "calcMode", "clipPathUnits", "diffuseConstant", "edgeMode",
		"filterUnits", "gradientTransform", "gradientUnits", "kernelMatrix", "kernelUnitLength", "keyPoints", "keySplines",
		"keyTimes", "lengthAdjust", "limitingConeAngle", "markerHeight", "markerUnits", "markerWidth", "maskContentUnits",
		"maskUnits", "numOctaves", "pathLength", "patternContentUnits", "patternTransform", "patternUnits", "pointsAtX",
		"pointsAtY", "pointsAtZ", "preserveAlpha", "preserveAspectRatio", "primitiveUnits", "refX", "refY", "repeatCount",
		"repeatDur", "requiredExtensions", "specularConstant", "specularExponent", "spreadMethod", "startOffset",
		"stdDeviation", "stitchTiles", "surfaceScale", "systemLanguage", "tableValues", "targetX", "targetY", "textLength",
		"viewBox", "xChannelSelector", "yChannelSelector", "zoomAndPan":
		return true
	}
	return false
}

// classNames records the classes of an attribute.
func (w *htmlWriter) classNames(a mdx.Attr) {
	text, _ := attrText(a)
	for class := range strings.FieldsSeq(text) {
		put(&w.classes, class, struct{}{})
	}
}

// srcset resolves every address of a list of pictures.
func (w *htmlWriter) srcset(n *mdx.Node, pos mdx.Pos, value string) string {
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		address, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		if address == "" {
			continue
		}
		if address = w.asset(n, pos, address); address != "" {
			out = append(out, strings.TrimSpace(address+" "+strings.TrimSpace(rest)))
		}
	}
	return strings.Join(out, ", ")
}
