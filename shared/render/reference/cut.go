package reference

import "cmp"

func (c *slicer) param(p place) Param {
	out := Param{
		Name: c.first(p.v, "name"), In: c.first(p.v, "in"), Description: c.first(p.v, "description"),
		Required: p.v.get("required").isTrue(), Deprecated: p.v.get("deprecated").isTrue(), Style: c.first(p.v, "style"),
		Labels: c.pills(p.v),
	}
	if out.Style == "" {
		out.Style = "simple"
		if out.In == "query" || out.In == "cookie" {
			out.Style = "form"
		}
	}
	out.Explode = out.Style == "form"
	if e := p.v.get("explode"); e != nil {
		out.Explode = e.isTrue()
	}
	media := c.media(p.get("content"))
	if len(media) > 0 {
		out.Schema = media[0].Schema
		if isJSON(media[0].Type) {
			out.Style, out.Explode = "json", false
		}
	} else if s := p.get("schema"); s.v != nil {
		out.Schema = c.schema(s, 0)
	}
	examples := c.examples(p)
	if len(examples) == 0 && len(media) > 0 {
		examples = media[0].Examples
	}
	for _, e := range examples {
		if e.Value != nil {
			out.Examples = append(out.Examples, e.Value)
		}
	}
	return out
}

// body reads what a call sends; nil where it sends nothing.
func (c *slicer) body(p place) *Body {
	if p.v == nil {
		return nil
	}
	p, ok := c.r.follow(p)
	if !ok {
		return nil
	}
	return &Body{Description: c.first(p.v, "description"), Required: p.v.get("required").isTrue(), Media: c.media(p.get("content"))}
}

func (c *slicer) media(p place) []Media {
	var out []Media
	c.each(p, func(kind string, at place) {
		media := Media{Type: kind, Examples: c.examples(at)}
		schema := at.get("schema")
		if schema.v == nil {
			schema = at.get("itemSchema")
		}
		if schema.v != nil {
			media.Schema = c.schema(schema, 0)
		}
		for _, e := range at.v.get("encoding").fields() {
			if !c.room(at) {
				break
			}
			if c.hidden.names[e.key] {
				continue
			}
			if part := c.part(e.key, place{doc: at.doc, v: e.val}); part.Type != "" || part.Style != "" || part.Headers != nil {
				media.Parts = append(media.Parts, part)
			}
		}
		out = append(out, media)
	})
	return out
}

// part reads how a field of a form is sent.
func (c *slicer) part(name string, p place) Part {
	out := Part{Name: c.words(name), Type: c.first(p.v, "contentType"), Style: c.first(p.v, "style")}
	if out.Style == "" && p.v.get("explode") != nil {
		out.Style = "form"
	}
	out.Explode = out.Style == "form"
	if e := p.v.get("explode"); e != nil {
		out.Explode = e.isTrue()
	}
	out.Headers = c.headers(p)
	return out
}

// headers reads the headers of an answer, or of a part of a form.
func (c *slicer) headers(p place) []Param {
	var out []Param
	c.each(p.get("headers"), func(name string, at place) {
		h := c.param(at)
		h.Name, h.In = name, "header"
		out = append(out, h)
	})
	return out
}

func (c *slicer) examples(p place) []Example {
	var out []Example
	c.each(p.get("examples"), func(name string, at place) {
		if len(out) == 20 {
			return
		}
		value := cmp.Or(at.v.get("value"), at.v.get("dataValue"))
		e := Example{Name: c.first(at.v, "summary"), Description: c.first(at.v, "description"), Value: c.value(value, p.get("schema"), maxExample)}
		e.Name = cmp.Or(e.Name, name)
		if c.hidden.in(name) || c.hidden.in(e.Name) { // it is of what is hidden
			return
		}
		if e.Value == nil {
			e.URL = c.first(at.v, "externalValue")
		}
		if e.Value != nil || e.URL != "" {
			out = append(out, e)
		}
	})
	if len(out) == 0 {
		if raw := c.value(p.v.get("example"), p.get("schema"), maxExample); raw != nil {
			out = append(out, Example{Value: raw})
		}
	}
	return out
}

func (c *slicer) response(status string, p place) Response {
	out := Response{Status: status, Description: c.first(p.v, "description"), Media: c.media(p.get("content"))}
	out.Headers = c.headers(p)
	c.each(p.get("links"), func(name string, at place) {
		if !c.barsLink(at) {
			out.Links = append(out.Links, c.link(name, at))
		}
	})
	return out
}

// barsLink reports whether a link leads to an operation that is left out.
func (c *slicer) barsLink(p place) bool {
	if c.r.barredIDs[p.v.get("operationId").str()] {
		return true
	}
	ref := p.v.get("operationRef").str()
	if ref == "" || ref[0] != '#' {
		return false
	}
	_, problem := c.r.resolve(p.doc, ref)
	return problem == restrictedPart
}

// link reads what can be called with what an answer holds.
func (c *slicer) link(name string, p place) Link {
	out := Link{Name: name, Operation: c.first(p.v, "operationId", "operationRef"), Description: c.first(p.v, "description")}
	for _, m := range p.v.get("parameters").fields() {
		if !c.room(place{doc: p.doc, v: m.val}) {
			break
		}
		if key, text := c.words(m.key), c.words(expression(m.val)); !c.hidden.in(key) && !c.hidden.in(text) {
			out.Params = append(out.Params, LinkParam{key, text})
		}
	}
	if body := p.v.get("requestBody"); body != nil {
		if text := c.words(expression(body)); !c.hidden.in(text) {
			out.Params = append(out.Params, LinkParam{"", text})
		}
	}
	return out
}

// expression is a value that a link fills in: an expression, or a value as JSON.
func expression(v *value) string {
	if v.kind == stringValue {
		return v.text
	}
	raw, _ := v.json(maxScalar) // nothing of what is larger
	return string(raw)
}
