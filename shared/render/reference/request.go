package reference

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// request is a call as samples show it.
type request struct {
	method, url string
	headers     []header
	// body is what is sent; form holds the fields of a form in its place. Of a
	// body that is a file, only that is known.
	body string
	json bool
	file bool
	form []formField
	// multipart distinguishes a form with files from one in an address's form.
	multipart bool
}

type header struct{ name, value string }

// maxAddress is how long an address may become by what is filled in, in bytes.
const maxAddress = 16 << 10

// Address is a server's address with its variables' defaults, without a slash
// at its end. One that would become too long keeps its {variables}.
func (s Server) Address() string {
	return strings.TrimRight(fill(s.URL, s.defaults()), "/")
}

// defaults are the values of the variables that nobody has changed.
func (s Server) defaults() map[string]string {
	values := make(map[string]string, len(s.Variables))
	for _, v := range s.Variables {
		if _, again := values[v.Name]; !again {
			values[v.Name] = v.Default
		}
	}
	return values
}

// Addresses are Address, and those that readers get by picking other options of
// the variables before its path: at most limit of them.
func (s Server) Addresses(limit int) []string {
	scheme, rest, _ := strings.Cut(s.URL, "//")
	host, _, _ := strings.Cut(rest, "/")
	picks, seen := []map[string]string{s.defaults()}, map[string]bool{}
	for _, v := range s.Variables {
		if seen[v.Name] || !strings.Contains(scheme+host, "{"+v.Name+"}") {
			continue
		}
		seen[v.Name] = true
		for _, before := range picks {
			for _, option := range v.Enum {
				if option == before[v.Name] {
					continue
				}
				if len(picks) >= limit {
					break
				}
				other := maps.Clone(before)
				other[v.Name] = option
				picks = append(picks, other)
			}
		}
	}
	out := make([]string, len(picks))
	for i, values := range picks {
		out[i] = strings.TrimRight(fill(s.URL, values), "/")
	}
	return out
}

// fill puts values into the {names} of an address. What a value holds is not
// filled in again: it could become twice as long each time.
func fill(address string, values map[string]string) string {
	var out strings.Builder
	rest := address
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		value, known := values[name]
		if !known || len(name) == len(after) {
			out.WriteByte('{')
			rest = after
			continue
		}
		if out.Len()+len(value) > maxAddress {
			return address
		}
		out.WriteString(value)
		rest = behind
	}
}

// openServer is the placeholder in samples for a server without a host.
const openServer = "<server>"

// base returns the address of the first server.
func (s *Slice) base() string {
	if len(s.Servers) == 0 {
		return openServer
	}
	base := s.Servers[0].Address()
	if !strings.Contains(base, "://") {
		base = openServer + base
	}
	return base
}

// request makes the call that samples show, with content of the type m; nil for
// a call that sends none.
func (s *Slice) request(o Options, m *Media) *request {
	r := &request{method: s.Key.Method}
	inPath := map[string]string{}
	var query []string
	add := func(name, value string) { r.headers = append(r.headers, header{name, value}) }
	if len(s.Security) > 0 {
		for _, scheme := range s.Security[0] {
			name, value := scheme.credential()
			switch scheme.place() {
			case "header":
				add(name, value)
			case "query":
				query = append(query, url.QueryEscape(name)+"="+value)
			case "cookie":
				add("Cookie", name+"="+value)
			}
		}
	}
	left := maxExample // bytes of values
	for _, p := range s.Params {
		if left <= 0 {
			break
		}
		value, given := s.paramExample(p)
		left -= len(value)
		switch p.In {
		case "path":
			if given {
				inPath[p.Name] = pathValue(p, value)
			}
		case "query":
			if p.Required {
				for _, x := range s.pairs(p, value, false) {
					query = append(query, x.name+"="+x.value)
				}
			}
		case "header":
			if p.Required && !strings.EqualFold(p.Name, "authorization") && (m == nil || !strings.EqualFold(p.Name, "content-type")) {
				add(p.Name, s.headerValue(p, value))
			}
		case "cookie":
			if p.Required {
				var parts []string
				for _, x := range s.pairs(p, value, true) {
					parts = append(parts, x.name+"="+x.value)
				}
				add("Cookie", strings.Join(parts, "&"))
			}
		}
	}
	r.url = s.base() + fill(s.Key.Path, inPath)
	if len(query) > 0 {
		sign := "?"
		if strings.Contains(r.url, "?") {
			sign = "&"
		}
		r.url += sign + strings.Join(query, "&")
	}
	if types := s.accepts(); len(types) > 0 {
		add("Accept", types[0])
	}
	if m != nil {
		s.requestBody(r, m, o)
	}
	return r
}

// maxMedia is how many content types of a body readers can choose from, and how
// many of answers.
const maxMedia = 10

// bodies are the content types that can be sent, the one that samples begin with
// first; none for a call without a body.
func (s *Slice) bodies() []*Media {
	if s.Body == nil || len(s.Body.Media) == 0 {
		return nil
	}
	first := preferred(s.Body.Media)
	out := []*Media{first}
	for i := range s.Body.Media {
		if m := &s.Body.Media[i]; m != first && len(out) < maxMedia {
			out = append(out, m)
		}
	}
	return out
}

// accepts are the content types of the answers to a call that goes well, JSON
// first: what the header Accept may ask for. It returns nothing where a parameter
// sets that header.
func (s *Slice) accepts() []string {
	for _, p := range s.Params {
		if p.In == "header" && strings.EqualFold(p.Name, "accept") {
			return nil
		}
	}
	var out []string
	for _, well := range [...]func(status string) bool{
		func(status string) bool { return strings.HasPrefix(status, "2") },
		func(status string) bool { return status == "default" },
	} {
		for _, r := range s.Responses {
			if !well(r.Status) {
				continue
			}
			for _, m := range r.Media {
				if m.Type != "*/*" && len(out) < maxMedia && !slices.Contains(out, m.Type) {
					out = append(out, m.Type)
				}
			}
		}
		if out != nil {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// rank sorts JSON before all else.
func rank(mediaType string) int {
	if isJSON(mediaType) {
		return 0
	}
	return 1
}

// pair is a name and its value, in a query or in a form.
type pair struct{ name, value string }

// pairs returns a parameter by its style: escaped, as it stands in a query, or for
// a form, as it is. The script of the playground does the same.
func (s *Slice) pairs(p Param, text string, form bool) []pair {
	name, escape := url.QueryEscape, escapeSample
	between := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}
	if form {
		name = func(s string) string { return s }
		escape = name
		between = map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}
	}
	var parsed *value
	if types := s.resolve(p.Schema).Types; p.Style != "json" && len(types) > 0 && (types[0] == "array" || types[0] == "object") {
		parsed, _ = parseJSON([]byte(text)) // text that is neither stays as it is
	}
	var items []string
	for _, item := range parsed.list() {
		items = append(items, escape(plain(item)))
	}
	switch {
	case len(items) > 0 && p.Explode:
		out := make([]pair, len(items))
		for i := range items {
			out[i] = pair{name(p.Name), items[i]}
		}
		return out
	case len(items) > 0:
		return []pair{{name(p.Name), strings.Join(items, cmp.Or(between[p.Style], ","))}}
	}
	var out []pair
	for _, m := range parsed.fields() {
		key := name(m.key)
		if p.Style == "deepObject" {
			key = name(p.Name) + "[" + key + "]"
		}
		out = append(out, pair{key, escape(plain(m.val))})
	}
	if len(out) > 0 && !p.Explode && p.Style != "deepObject" { // name=key,value,key,value
		var flat []string
		for _, x := range out {
			flat = append(flat, x.name, x.value)
		}
		return []pair{{name(p.Name), strings.Join(flat, cmp.Or(between[p.Style], ","))}}
	}
	if len(out) > 0 {
		return out
	}
	return []pair{{name(p.Name), escape(text)}}
}

// headerValue returns a parameter as the value of a header, in the style "simple".
func (s *Slice) headerValue(p Param, text string) string {
	types := s.resolve(p.Schema).Types
	if len(types) == 0 || types[0] != "array" && types[0] != "object" {
		return text
	}
	return styled(p, text, func(s string) string { return s })
}

// pathValue returns a parameter as a part of a path, by its style (RFC 6570).
func pathValue(p Param, text string) string { return styled(p, text, url.PathEscape) }

func styled(p Param, text string, escape func(string) string) string {
	prefix, between := "", ","
	switch p.Style {
	case "label":
		prefix = "."
		if p.Explode {
			between = "."
		}
	case "matrix":
		prefix = ";" + escape(p.Name) + "="
	}
	v, err := parseJSON([]byte(text))
	if err != nil || v.kind != listValue && v.kind != objectValue || p.Style == "json" {
		return prefix + escape(text)
	}
	var parts []string
	for _, item := range v.list() {
		parts = append(parts, escape(plain(item)))
	}
	for _, m := range v.fields() {
		key, value := escape(m.key), escape(plain(m.val))
		if p.Explode {
			parts = append(parts, key+"="+value)
		} else {
			parts = append(parts, key, value)
		}
	}
	if p.Style == "matrix" && p.Explode {
		prefix, between = ";", ";"
		if v.kind == listValue {
			prefix += escape(p.Name) + "="
			between = prefix
		}
	}
	return prefix + strings.Join(parts, between)
}

// plain is a part of a parameter as text: JSON where it is not text itself.
func plain(v *value) string {
	if v.kind == stringValue {
		return v.text
	}
	raw, _ := v.json(maxExample) // nothing of what is larger
	return string(raw)
}

// noBody stands in samples for content that nobody has described.
const noBody = "<body>"

// requestBody fills in what is sent.
func (s *Slice) requestBody(r *request, m *Media, o Options) {
	kind := baseType(m.Type)
	if kind == "multipart/form-data" || kind == "application/x-www-form-urlencoded" {
		r.multipart = kind == "multipart/form-data"
		for _, e := range s.entries(m, o.RequiredOnly) {
			r.form = append(r.form, s.formFields(e)...)
		}
		if !r.multipart {
			r.headers = append(r.headers, header{"Content-Type", m.Type})
		}
		return
	}
	r.headers = append(r.headers, header{"Content-Type", concrete(m.Type)})
	if s.isFileBody(m) {
		r.file = true
		return
	}
	raw := s.mediaExample(m, sent, o.RequiredOnly)
	r.json = isJSON(m.Type)
	if r.body = s.mediaText(m, raw); !r.json && (r.body == "" || r.body == "null") {
		r.body = noBody
	}
}

// mediaText is an example as it is sent: JSON, XML, or the text that it says.
func (s *Slice) mediaText(m *Media, raw json.RawMessage) string {
	if isXML(m.Type) && len(raw) > 0 && raw[0] != '"' && string(raw) != "null" {
		return s.xml(m.Schema, raw)
	}
	return exampleText(m.Type, raw)
}

// baseType is a content type without its parameters, in lower case.
func baseType(mediaType string) string {
	base, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// concrete is a content type that can be sent: one of the range, where the
// specification names a range.
func concrete(mediaType string) string {
	major, minor, _ := strings.Cut(baseType(mediaType), "/")
	if minor != "*" {
		return mediaType
	}
	return cmp.Or(concreteTypes[major], "application/octet-stream")
}

var concreteTypes = map[string]string{
	"*": "application/json", "image": "image/png", "audio": "audio/mpeg", "video": "video/mp4", "text": "text/plain", "font": "font/woff2",
}

// isFileBody reports whether a body is a file, by its schema or, where that says
// nothing, by its type.
func (s *Slice) isFileBody(m *Media) bool {
	if isJSON(m.Type) {
		return false
	}
	for _, e := range m.Examples {
		if e.Value != nil {
			return false
		}
	}
	x := s.resolve(m.Schema)
	if isFile(x) {
		return true
	}
	kind := baseType(m.Type)
	major, _, _ := strings.Cut(kind, "/")
	return len(x.Types) == 0 && (major == "image" && kind != "image/svg+xml" || major == "audio" || major == "video" || major == "font" ||
		slices.Contains([]string{"application/octet-stream", "application/pdf", "application/zip", "application/gzip"}, kind))
}

func isFile(x *Schema) bool {
	if x.Format == "binary" {
		return true
	}
	return slices.ContainsFunc(x.Limits, func(l Limit) bool { return l.Name == "contentMediaType" && !isJSON(l.Value) })
}

var jsonType = lazy.Regexp(`(?i)^(application/json|text/json|[^/]+/[^;/]+\+json|\*/\*)\s*(;|$)`)

func isJSON(mediaType string) bool { return jsonType().MatchString(mediaType) }

var xmlType = lazy.Regexp(`(?i)^(application/xml|text/xml|[^/]+/[^;/]+\+xml)\s*(;|$)`)

func isXML(mediaType string) bool { return xmlType().MatchString(mediaType) }

// preferred is the content type that samples use: JSON where there is one.
func preferred(list []Media) *Media {
	for i := range list {
		if isJSON(list[i].Type) {
			return &list[i]
		}
	}
	return &list[0]
}

// mediaExample is the author's example of content, or a made-up one.
func (s *Slice) mediaExample(m *Media, to side, required bool) json.RawMessage {
	for _, e := range m.Examples {
		if e.Value != nil {
			return e.Value
		}
	}
	if m.Schema == nil {
		return nil
	}
	return s.example(m.Schema, to, required)
}

// paramExample is a parameter's value in a sample; given means that it is the author's.
func (s *Slice) paramExample(p Param) (value string, given bool) {
	if raw := first(p.Examples); raw != nil {
		return scalarText(raw), true
	}
	x := s.resolve(p.Schema)
	for _, raw := range [...]json.RawMessage{first(x.Examples), x.Const, x.Default, x.someValue()} {
		if raw != nil {
			return scalarText(raw), true
		}
	}
	raw := s.example(p.Schema, sent, true)
	if string(raw) == "{}" { // an object without required members: show the others
		raw = s.example(p.Schema, sent, false)
	}
	if text := scalarText(raw); text != "null" {
		return text, s.exemplified(x, raw)
	}
	return "<" + p.Name + ">", false
}

// exemplified reports whether all members or items of a made up value are the author's.
func (s *Slice) exemplified(x *Schema, raw json.RawMessage) bool {
	given := func(x *Schema) bool {
		r := s.resolve(x)
		return len(r.Examples)+len(r.Const)+len(r.Default)+len(r.Enum) > 0
	}
	v, err := parseJSON(raw)
	switch {
	case err != nil:
		return false
	case v.kind == listValue:
		return len(v.items) > 0 && x.Items != nil && given(x.Items)
	case v.kind != objectValue || len(v.members) == 0:
		return false
	}
	for _, p := range x.Properties {
		if v.get(p.Name) != nil && !given(p.Schema) {
			return false
		}
	}
	return len(x.Properties) > 0
}

// escapeSample escapes a value for an address, but leaves a placeholder
// readable.
func escapeSample(v string) string {
	if strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") {
		return "{" + strings.Trim(v, "<>") + "}"
	}
	return url.QueryEscape(v)
}

// place is where a scheme's secret stands: "header", "query", "cookie" or "".
func (s Scheme) place() string {
	switch s.Type {
	case "apiKey", "httpApiKey":
		return s.In
	case "http", "oauth2", "openIdConnect":
		return "header"
	}
	return ""
}

// credential is the name and the value of what a scheme asks for.
func (s Scheme) credential() (name, value string) {
	switch {
	case s.Type == "apiKey" || s.Type == "httpApiKey":
		return s.Field, "<api-key>"
	case s.Type == "http" && s.HTTP == "basic":
		return "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("username:password"))
	case s.Type == "http" && s.HTTP != "bearer" && s.HTTP != "":
		return "Authorization", strings.ToUpper(s.HTTP[:1]) + s.HTTP[1:] + " <credentials>"
	}
	return "Authorization", "Bearer <token>"
}
