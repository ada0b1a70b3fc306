package reference

import (
	"slices"
	"strings"
)

// A file of Swagger 2.0 is read as OpenAPI 3.0: its tree is changed before anything
// else looks at it. Values keep their lines, and each value is converted once, so
// that the work grows with the file.

// swagger converts one file.
type swagger struct {
	root *value
	// done are the values that were converted, by what they were and the types of
	// content that hold for them.
	done map[converted]*value
	// seen are the schemas that were looked at.
	seen map[*value]bool
}

type converted struct {
	v                  *value
	produces, consumes string
}

// isSwagger reports whether a file is Swagger 2.0.
func isSwagger(root *value) bool {
	return root.get("openapi") == nil && strings.HasPrefix(root.first("swagger"), "2.")
}

// fromSwagger makes OpenAPI 3.0 of a file of Swagger 2.0.
func fromSwagger(root *value) *value {
	s := &swagger{root: root, done: map[converted]*value{}, seen: map[*value]bool{}}
	produces, consumes := root.get("produces"), root.get("consumes")
	out := &value{kind: objectValue, line: root.line}
	out.set("openapi", textAt("3.0.3", root.get("swagger").line))
	components := &value{kind: objectValue, line: root.line}
	for _, m := range root.members {
		switch m.key {
		case "swagger", "host", "basePath", "schemes", "consumes", "produces", "parameters", "responses":
			continue
		case "definitions":
			for _, d := range m.val.fields() {
				s.schema(d.val)
			}
			components.set("schemas", m.val)
		case "securityDefinitions":
			components.set("securitySchemes", mapped(m.val, s.scheme))
			continue
		case "paths":
			m.val = mapped(m.val, func(v *value) *value { return s.item(v, produces, consumes) })
		}
		out.members = append(out.members, m)
	}
	// References lead to where these stand, so they stay there.
	for _, m := range root.members {
		switch m.key {
		case "parameters":
			m.val = mapped(m.val, s.param)
			out.members = append(out.members, m)
		case "responses":
			m.val = mapped(m.val, func(v *value) *value { return s.response(v, produces) })
			out.members = append(out.members, m)
		}
	}
	out.set("components", components)
	if servers := s.servers(root.get("schemes")); servers != nil {
		out.set("servers", servers)
	}
	return out
}

// set adds a member to an object that is being made.
func (v *value) set(key string, val *value) {
	v.members = append(v.members, member{key, val.line, val})
}

func textAt(s string, line int32) *value { return &value{kind: stringValue, line: line, text: s} }
func objectAt(line int32) *value         { return &value{kind: objectValue, line: line} }
func boolAt(b bool, line int32) *value {
	return &value{kind: boolValue, line: line, text: map[bool]string{true: "true", false: "false"}[b]}
}

// mapped is an object with each of its members changed, extensions left as they are.
func mapped(v *value, fn func(*value) *value) *value {
	if v == nil || v.kind != objectValue {
		return v
	}
	out := &value{kind: objectValue, line: v.line, members: make([]member, len(v.members))}
	for i, m := range v.members {
		if !strings.HasPrefix(m.key, "x-") {
			m.val = fn(m.val)
		}
		out.members[i] = m
	}
	return out
}

// servers are the addresses of the API, nil for none.
func (s *swagger) servers(schemes *value) *value {
	host, base := s.root.get("host"), s.root.first("basePath")
	if host.str() == "" && base == "" {
		return nil
	}
	if base != "" && !strings.HasPrefix(base, "/") {
		base = "/" + base
	}
	base = strings.TrimRight(base, "/")
	out := &value{kind: listValue, line: s.root.line}
	add := func(address string) {
		server := objectAt(s.root.line)
		server.set("url", textAt(address, s.root.line))
		out.items = append(out.items, server)
	}
	if host.str() == "" {
		if base == "" {
			return nil
		}
		add(base)
		return out
	}
	names := schemes.texts()
	if len(names) == 0 {
		names = []string{"https"}
	}
	for _, scheme := range names[:min(len(names), 4)] { // there are http, https, ws and wss
		add(scheme + "://" + host.str() + base)
	}
	return out
}

// local follows references within the file.
func (s *swagger) local(v *value) *value {
	for range maxHops {
		pointer, ok := strings.CutPrefix(v.get("$ref").str(), "#/")
		if !ok || len(pointer) > maxRef {
			return v
		}
		to := s.root
		for step := range strings.SplitSeq(pointer, "/") {
			if to = to.at(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")); to == nil {
				return v
			}
		}
		v = to
	}
	return v
}

// once returns what a value becomes, and makes it the first time.
func (s *swagger) once(v, produces, consumes *value, make func() *value) *value {
	if v == nil || v.kind != objectValue {
		return v
	}
	key := converted{v, strings.Join(produces.texts(), " "), strings.Join(consumes.texts(), " ")}
	if out, ok := s.done[key]; ok {
		return out
	}
	s.done[key] = v // of a value that holds itself
	out := make()
	s.done[key] = out
	return out
}

// item converts a path with its operations.
func (s *swagger) item(v, produces, consumes *value) *value {
	return s.once(v, produces, consumes, func() *value {
		out := objectAt(v.line)
		shared := v.get("parameters")
		for _, m := range v.members {
			switch {
			case slices.Contains(methods[:], m.key):
				m.val = s.operation(m.val, shared, produces, consumes)
			case m.key == "parameters":
				m.val = s.params(m.val)
			}
			out.members = append(out.members, m)
		}
		return out
	})
}

// operation converts a call. shared are the parameters of its path, of which a
// body becomes the call's.
func (s *swagger) operation(v, shared, produces, consumes *value) *value {
	if own := v.get("produces"); own != nil {
		produces = own
	}
	if own := v.get("consumes"); own != nil {
		consumes = own
	}
	return s.once(v, produces, consumes, func() *value {
		out := objectAt(v.line)
		for _, m := range v.members {
			switch m.key {
			case "produces", "consumes":
				continue
			case "schemes":
				if servers := s.servers(m.val); servers != nil {
					out.set("servers", servers)
				}
				continue
			case "parameters":
				m.val = s.params(m.val)
			case "responses":
				m.val = mapped(m.val, func(v *value) *value { return s.response(v, produces) })
			}
			out.members = append(out.members, m)
		}
		if body := s.body(slices.Concat(v.get("parameters").list(), shared.list()), consumes); body != nil {
			out.set("requestBody", body)
		}
		return out
	})
}

// params converts a list of parameters, without those that are of the body.
func (s *swagger) params(v *value) *value {
	if v == nil || v.kind != listValue {
		return v
	}
	out := &value{kind: listValue, line: v.line}
	for _, p := range v.items {
		if in := s.local(p).first("in"); in != "body" && in != "formData" {
			out.items = append(out.items, s.param(p))
		}
	}
	return out
}

// beside are the members of a parameter that don't belong into its schema.
var beside = []string{"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "deprecated", "schema", "example", "x-example"}

// param converts a parameter or a header: what it says of its value becomes a
// schema.
func (s *swagger) param(v *value) *value {
	if v.get("$ref") != nil {
		return v
	}
	return s.once(v, nil, nil, func() *value {
		out := objectAt(v.line)
		for _, m := range v.members {
			if slices.Contains(beside, m.key) && m.key != "collectionFormat" && m.key != "x-example" || strings.HasPrefix(m.key, "x-") {
				out.members = append(out.members, m)
			}
		}
		if v.get("example") == nil && v.get("x-example") != nil {
			out.set("example", v.get("x-example"))
		}
		if v.get("schema") == nil {
			out.set("schema", s.valueOf(v))
		}
		if first := v.first("type"); first == "array" {
			if style := map[string]string{"ssv": "spaceDelimited", "pipes": "pipeDelimited"}[v.first("collectionFormat")]; style != "" {
				out.set("style", textAt(style, v.line))
			}
			out.set("explode", boolAt(v.first("collectionFormat") == "multi", v.line))
		}
		return out
	})
}

// valueOf is the schema of a parameter's value.
func (s *swagger) valueOf(v *value) *value {
	out := objectAt(v.line)
	for _, m := range v.members {
		if !slices.Contains(beside, m.key) {
			out.members = append(out.members, m)
		}
	}
	s.schema(out)
	return out
}

// body makes the request body from the parameters of a call, nil if there is none.
func (s *swagger) body(params []*value, consumes *value) *value {
	types := consumes.texts()
	form := objectAt(0)
	required := &value{kind: listValue}
	file := false
	for _, p := range params {
		p = s.local(p)
		switch p.first("in") {
		case "body":
			if len(types) == 0 {
				types = []string{"application/json"}
			}
			out := objectAt(p.line)
			for _, key := range [...]string{"description", "required"} {
				if x := p.get(key); x != nil {
					out.set(key, x)
				}
			}
			s.schema(p.get("schema"))
			content := objectAt(p.line)
			for _, name := range types {
				media := objectAt(p.line)
				if x := p.get("schema"); x != nil {
					media.set("schema", x)
				}
				content.set(name, media)
			}
			out.set("content", content)
			return out
		case "formData":
			if form.line == 0 {
				form.line = p.line
			}
			file = file || p.first("type") == "file"
			field := s.valueOf(p)
			if x := p.get("description"); x != nil {
				field.set("description", x)
			}
			form.set(p.first("name"), field)
			if p.get("required").isTrue() {
				required.items = append(required.items, textAt(p.first("name"), p.line))
			}
		}
	}
	if len(form.members) == 0 {
		return nil
	}
	types = slices.DeleteFunc(slices.Clone(types), func(name string) bool {
		return name != "multipart/form-data" && (file || name != "application/x-www-form-urlencoded")
	})
	if len(types) == 0 {
		types = []string{"application/x-www-form-urlencoded"}
		if file {
			types[0] = "multipart/form-data"
		}
	}
	schema := objectAt(form.line)
	schema.set("type", textAt("object", form.line))
	schema.set("properties", form)
	if len(required.items) > 0 {
		required.line = form.line
		schema.set("required", required)
	}
	content := objectAt(form.line)
	for _, name := range types {
		media := objectAt(form.line)
		media.set("schema", schema)
		content.set(name, media)
	}
	out := objectAt(form.line)
	out.set("required", boolAt(len(required.items) > 0, form.line))
	out.set("content", content)
	return out
}

// response converts a response.
func (s *swagger) response(v, produces *value) *value {
	if v.get("$ref") != nil {
		return v
	}
	return s.once(v, produces, nil, func() *value {
		out := objectAt(v.line)
		for _, m := range v.members {
			switch m.key {
			case "schema", "examples":
				continue
			case "headers":
				m.val = mapped(m.val, s.param)
			}
			out.members = append(out.members, m)
		}
		schema, examples := v.get("schema"), v.get("examples")
		s.schema(schema)
		types := produces.texts()
		for _, e := range examples.fields() {
			if !slices.Contains(types, e.key) && strings.Contains(e.key, "/") {
				types = append(slices.Clip(types), e.key)
			}
		}
		if len(types) == 0 {
			types = []string{"application/json"}
		}
		if schema == nil && len(examples.fields()) == 0 {
			return out
		}
		content := objectAt(v.line)
		for _, name := range types {
			media := objectAt(v.line)
			if schema != nil {
				media.set("schema", schema)
			}
			if e := examples.get(name); e != nil {
				media.set("example", e)
			}
			if len(media.members) > 0 {
				content.set(name, media)
			}
		}
		out.set("content", content)
		return out
	})
}

// schema converts a schema and the schemas in it.
func (s *swagger) schema(v *value) {
	if v == nil || v.kind != objectValue || s.seen[v] {
		return
	}
	s.seen[v] = true
	for i := range v.members {
		m := &v.members[i]
		switch m.key {
		case "discriminator":
			if m.val.kind == stringValue {
				name := m.val
				m.val = objectAt(name.line)
				m.val.set("propertyName", name)
			}
		case "type":
			if m.val.str() == "file" {
				m.val = textAt("string", m.val.line)
				v.set("format", textAt("binary", m.val.line))
			}
		case "x-nullable":
			m.key = "nullable"
		case "properties":
			for _, p := range m.val.fields() {
				s.schema(p.val)
			}
		case "items", "additionalProperties", "not":
			s.schema(m.val)
		case "allOf":
			for _, x := range m.val.list() {
				s.schema(x)
			}
		}
	}
	v.index = nil
}

// flows maps Swagger's names of OAuth flows to those of OpenAPI 3.0.
var flows = map[string]string{"implicit": "implicit", "password": "password", "application": "clientCredentials", "accessCode": "authorizationCode"}

// scheme converts a security scheme.
func (s *swagger) scheme(v *value) *value {
	return s.once(v, nil, nil, func() *value {
		out := objectAt(v.line)
		kind := v.first("type")
		for _, m := range v.members {
			switch m.key {
			case "type":
				if kind == "basic" {
					m.val = textAt("http", m.val.line)
				}
			case "flow", "authorizationUrl", "tokenUrl", "scopes":
				continue
			}
			out.members = append(out.members, m)
		}
		if kind == "basic" {
			out.set("scheme", textAt("basic", v.line))
		}
		if name := flows[v.first("flow")]; kind == "oauth2" && name != "" {
			flow := objectAt(v.line)
			for _, key := range [...]string{"authorizationUrl", "tokenUrl", "scopes"} {
				if x := v.get(key); x != nil {
					flow.set(key, x)
				}
			}
			all := objectAt(v.line)
			all.set(name, flow)
			out.set("flows", all)
		}
		return out
	})
}
