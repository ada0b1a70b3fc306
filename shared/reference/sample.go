package reference

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Options say how a slice is shown.
type Options struct {
	// Lang is the page's language, as the site names it; "" is English.
	Lang string
	// Languages are the samples that the site wants, in order; nil means all.
	Languages []string
	// NoSamples leaves out the samples that are made up: the author's stay.
	NoSamples bool
	// RequiredOnly leaves out of samples what need not be sent.
	RequiredOnly bool
	// Prefill puts examples of parameters into addresses.
	Prefill bool
	// Open shows the properties of objects from the start.
	Open bool
	// FullURL shows the server's address before the path.
	FullURL bool
	// Playground lets readers send requests.
	Playground bool
	// Credentials sends the browser's cookies with them.
	Credentials bool
	// Without names what the page's author wrote: "RequestExample" and
	// "ResponseExample" are not made up then.
	Without map[string]bool
}

// request is a call as samples show it.
type request struct {
	method, url string
	headers     []header
	// body is what is sent; form holds the fields of a form in its place.
	body string
	json bool
	form []formField
	// multipart tells a form with files from one in an address's form.
	multipart bool
}

type header struct{ name, value string }

type formField struct {
	name, value string
	file        bool
}

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

// base is the address of the first server; a made-up one stands for a server
// that the specification leaves open.
func (s *Slice) base() string {
	if len(s.Servers) == 0 {
		return "https://api.example.com"
	}
	base := s.Servers[0].Address()
	if !strings.Contains(base, "://") {
		base = "https://api.example.com" + base
	}
	return base
}

// request makes the call that samples show.
func (s *Slice) request(o Options) *request {
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
			if o.Prefill && given {
				inPath[p.Name] = url.PathEscape(value)
			}
		case "query":
			if p.Required {
				query = append(query, s.pairs(p, value)...)
			}
		case "header":
			if p.Required && !strings.EqualFold(p.Name, "authorization") {
				add(p.Name, value)
			}
		case "cookie":
			if p.Required {
				add("Cookie", p.Name+"="+value)
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
	if s.Body != nil && len(s.Body.Media) > 0 {
		s.requestBody(r, preferred(s.Body.Media), o)
	}
	return r
}

// pairs gives a parameter as it stands in a query, by its style. The script of
// the playground does the same.
func (s *Slice) pairs(p Param, text string) []string {
	var parsed *value
	if types := s.resolve(p.Schema).Types; p.Style != "json" && len(types) > 0 && (types[0] == "array" || types[0] == "object") {
		parsed, _ = parseJSON([]byte(text)) // text that is none stands for itself
	}
	name, out := url.QueryEscape(p.Name), []string(nil)
	for _, item := range parsed.list() {
		out = append(out, escapeSample(plain(item)))
	}
	switch {
	case len(out) > 0 && p.Explode:
		for i := range out {
			out[i] = name + "=" + out[i]
		}
		return out
	case len(out) > 0:
		between := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[p.Style]
		return []string{name + "=" + strings.Join(out, cmp.Or(between, ","))}
	}
	for _, m := range parsed.fields() {
		key := url.QueryEscape(m.key)
		if p.Style == "deepObject" {
			key = name + "[" + key + "]"
		}
		out = append(out, key+"="+escapeSample(plain(m.val)))
	}
	if len(out) > 0 {
		return out
	}
	return []string{name + "=" + escapeSample(text)}
}

// plain is a part of a parameter as text: JSON where it is no text itself.
func plain(v *value) string {
	if v.kind == stringValue {
		return v.text
	}
	raw, _ := v.json(maxExample) // nothing of what is larger
	return string(raw)
}

// requestBody fills in what is sent.
func (s *Slice) requestBody(r *request, m *Media, o Options) {
	raw := s.mediaExample(m, sent, o.RequiredOnly)
	switch {
	case isJSON(m.Type):
		r.headers = append(r.headers, header{"Content-Type", m.Type})
		r.body, r.json = indented(raw), true
	case m.Type == "multipart/form-data" || m.Type == "application/x-www-form-urlencoded":
		r.multipart = m.Type == "multipart/form-data"
		left := maxExample // bytes of values
		for _, p := range s.resolve(m.Schema).Properties {
			x := s.resolve(p.Schema)
			if left <= 0 {
				break
			}
			if x.ReadOnly || o.RequiredOnly && !p.Required {
				continue
			}
			f := formField{name: p.Name, value: scalarText(s.example(p.Schema, sent, false)), file: isFile(x) || x.Items != nil && isFile(s.resolve(x.Items))}
			if f.file {
				f.value = "file"
			}
			left -= len(f.name) + len(f.value)
			r.form = append(r.form, f)
		}
		if !r.multipart {
			r.headers = append(r.headers, header{"Content-Type", m.Type})
		}
	default:
		r.headers = append(r.headers, header{"Content-Type", m.Type})
		r.body = scalarText(raw)
		if raw == nil || string(raw) == "null" {
			r.body = "<body>"
		}
	}
}

func isFile(x *Schema) bool {
	if x.Format == "binary" {
		return true
	}
	return slices.ContainsFunc(x.Limits, func(l Limit) bool { return l.Name == "contentMediaType" && !isJSON(l.Value) })
}

var jsonType = regexp.MustCompile(`(?i)^(application/json|text/json|[^/]+/[^;/]+\+json|\*/\*)\s*(;|$)`)

func isJSON(mediaType string) bool { return jsonType.MatchString(mediaType) }

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

// paramExample is a parameter's value in a sample; given tells the author's.
func (s *Slice) paramExample(p Param) (value string, given bool) {
	if raw := first(p.Examples); raw != nil {
		return scalarText(raw), true
	}
	x := s.resolve(p.Schema)
	for _, raw := range [...]json.RawMessage{first(x.Examples), x.Const, x.Default, first(x.Enum)} {
		if raw != nil {
			return scalarText(raw), true
		}
	}
	raw := s.example(p.Schema, sent, true)
	if text := scalarText(raw); text != "null" {
		return text, false
	}
	return "<" + p.Name + ">", false
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
	case "apiKey":
		return s.In
	case "httpApiKey":
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

// code is one sample.
type code struct{ lang, title, source string }

// samples are the author's, then those that are made up, in the order that the
// site wants.
func (s *Slice) samples(o Options) []code {
	var out []code
	for _, x := range s.Samples {
		title := x.Label
		if title == "" {
			title = titleOf(x.Lang)
		}
		out = append(out, code{strings.ToLower(x.Lang), title, strings.TrimRight(x.Source, "\n ")})
	}
	if o.NoSamples || s.Key.Kind != KindOperation {
		return out
	}
	writers := []struct {
		names       []string
		lang, title string
		write       func(*request) string
	}{
		{[]string{"curl", "bash", "shell"}, "bash", "cURL", curl},
		{[]string{"javascript", "js", "node", "typescript"}, "javascript", "JavaScript", javascript},
		{[]string{"python", "py"}, "python", "Python", python},
		{[]string{"go", "golang"}, "go", "Go", golang},
	}
	r := s.request(o)
	add := func(i int) {
		w := writers[i]
		if !slices.ContainsFunc(out, func(c code) bool { return c.title == w.title }) {
			out = append(out, code{w.lang, w.title, w.write(r)})
		}
	}
	if len(o.Languages) == 0 {
		for i := range writers {
			add(i)
		}
	}
	for _, l := range o.Languages {
		if i := slices.IndexFunc(writers, func(w struct {
			names       []string
			lang, title string
			write       func(*request) string
		}) bool {
			return slices.Contains(w.names, strings.ToLower(l))
		}); i >= 0 {
			add(i)
		}
	}
	return out
}

// titleOf is a language's name as readers know it.
func titleOf(lang string) string {
	names := map[string]string{
		"curl": "cURL", "bash": "cURL", "shell": "cURL", "sh": "cURL", "javascript": "JavaScript", "js": "JavaScript", "typescript": "TypeScript", "ts": "TypeScript",
		"python": "Python", "py": "Python", "go": "Go", "php": "PHP", "ruby": "Ruby", "java": "Java", "csharp": "C#", "c#": "C#", "rust": "Rust", "kotlin": "Kotlin", "swift": "Swift",
	}
	if n := names[strings.ToLower(lang)]; n != "" {
		return n
	}
	if lang == "" {
		return "Code"
	}
	return lang
}

// shellQuote quotes a word for a shell.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r > 127 || !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@=%+,", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func curl(r *request) string {
	lines := []string{"curl --request " + r.method, "--url " + shellQuote(r.url)}
	for _, h := range r.headers {
		lines = append(lines, "--header "+shellQuote(h.name+": "+h.value))
	}
	for _, f := range r.form {
		switch {
		case f.file:
			lines = append(lines, "--form "+shellQuote(f.name+"=@"+f.value))
		case r.multipart:
			lines = append(lines, "--form "+shellQuote(f.name+"="+f.value))
		default:
			lines = append(lines, "--data-urlencode "+shellQuote(f.name+"="+f.value))
		}
	}
	if r.body != "" {
		lines = append(lines, "--data "+shellQuote(r.body))
	}
	return strings.Join(lines, " \\\n  ")
}

// quoted is a text as JavaScript, Python and Go write it.
func quoted(s string) string { return string(appendJSONString(nil, s)) }

func javascript(r *request) string {
	var b strings.Builder
	if r.form != nil {
		kind := "URLSearchParams"
		if r.multipart {
			kind = "FormData"
		}
		b.WriteString("const form = new " + kind + "();\n")
		for _, f := range r.form {
			value := quoted(f.value)
			if f.file {
				value = "file"
			}
			b.WriteString("form.append(" + quoted(f.name) + ", " + value + ");\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("const response = await fetch(" + quoted(r.url) + ", {\n  method: " + quoted(r.method) + ",\n")
	if len(r.headers) > 0 {
		b.WriteString("  headers: {\n")
		for _, h := range r.headers {
			b.WriteString("    " + quoted(h.name) + ": " + quoted(h.value) + ",\n")
		}
		b.WriteString("  },\n")
	}
	switch {
	case r.form != nil:
		b.WriteString("  body: form,\n")
	case r.json:
		b.WriteString("  body: JSON.stringify(" + strings.ReplaceAll(r.body, "\n", "\n  ") + "),\n")
	case r.body != "":
		b.WriteString("  body: " + quoted(r.body) + ",\n")
	}
	b.WriteString("});\n\nconsole.log(response.status, await response.text());")
	return b.String()
}

func python(r *request) string {
	var b strings.Builder
	b.WriteString("import requests\n\n")
	args := []string{quoted(r.method), quoted(r.url)}
	headers := r.headers
	if r.json {
		b.WriteString("payload = " + pythonLiteral(r.body) + "\n")
		args = append(args, "json=payload")
		headers = slices.DeleteFunc(slices.Clone(headers), func(h header) bool { return h.name == "Content-Type" && h.value == "application/json" })
	} else if r.body != "" {
		b.WriteString("payload = " + quoted(r.body) + "\n")
		args = append(args, "data=payload")
	}
	var files, data []formField
	for _, f := range r.form {
		if f.file {
			files = append(files, f)
		} else {
			data = append(data, f)
		}
	}
	if data != nil {
		b.WriteString("data = {\n")
		for _, f := range data {
			b.WriteString("    " + quoted(f.name) + ": " + quoted(f.value) + ",\n")
		}
		b.WriteString("}\n")
		args = append(args, "data=data")
	}
	if files != nil {
		b.WriteString("files = {\n")
		for _, f := range files {
			b.WriteString("    " + quoted(f.name) + ": open(" + quoted(f.value) + ", \"rb\"),\n")
		}
		b.WriteString("}\n")
		args = append(args, "files=files")
	}
	if len(headers) > 0 {
		b.WriteString("headers = {\n")
		for _, h := range headers {
			b.WriteString("    " + quoted(h.name) + ": " + quoted(h.value) + ",\n")
		}
		b.WriteString("}\n")
		args = append(args, "headers=headers")
	}
	b.WriteString("\nresponse = requests.request(" + strings.Join(args, ", ") + ")\nprint(response.status_code, response.text)")
	return b.String()
}

// pythonLiteral writes JSON's words as Python's.
func pythonLiteral(raw string) string {
	words := map[string]string{"true": "True", "false": "False", "null": "None"}
	return jsonWord.ReplaceAllStringFunc(raw, func(m string) string {
		if w := words[m]; w != "" {
			return w
		}
		return m
	})
}

// jsonWord matches texts, which stay, and the words of JSON.
var jsonWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b`)

func golang(r *request) string {
	var b strings.Builder
	imports := []string{"fmt", "io", "net/http"}
	body := "nil"
	var setup string
	switch {
	case r.multipart && r.form != nil:
		imports = append(imports, "bytes", "mime/multipart")
		setup = "\tvar form bytes.Buffer\n\tw := multipart.NewWriter(&form)\n"
		for _, f := range r.form {
			if f.file {
				imports = append(imports, "os")
				setup += "\tpart, _ := w.CreateFormFile(" + quoted(f.name) + ", " + quoted(f.value) + ")\n\tdata, _ := os.ReadFile(" + quoted(f.value) + ")\n\tpart.Write(data)\n"
			} else {
				setup += "\tw.WriteField(" + quoted(f.name) + ", " + quoted(f.value) + ")\n"
			}
		}
		setup += "\tw.Close()\n"
		body = "&form"
	case r.form != nil:
		imports = append(imports, "net/url", "strings")
		setup = "\tform := url.Values{\n"
		for _, f := range r.form {
			setup += "\t\t" + quoted(f.name) + ": {" + quoted(f.value) + "},\n"
		}
		setup += "\t}\n"
		body = "strings.NewReader(form.Encode())"
	case r.body != "":
		imports = append(imports, "strings")
		text := "`" + r.body + "`"
		if strings.ContainsAny(r.body, "`\r") {
			text = strconv.Quote(r.body)
		}
		setup = "\tbody := strings.NewReader(" + text + ")\n"
		body = "body"
	}
	slices.Sort(imports)
	b.WriteString("package main\n\nimport (\n")
	for _, i := range slices.Compact(imports) {
		b.WriteString("\t" + quoted(i) + "\n")
	}
	b.WriteString(")\n\nfunc main() {\n" + setup)
	b.WriteString("\treq, err := http.NewRequest(" + quoted(r.method) + ", " + quoted(r.url) + ", " + body + ")\n\tif err != nil {\n\t\tpanic(err)\n\t}\n")
	for _, h := range r.headers {
		b.WriteString("\treq.Header.Set(" + quoted(h.name) + ", " + quoted(h.value) + ")\n")
	}
	if r.multipart && r.form != nil {
		b.WriteString("\treq.Header.Set(\"Content-Type\", w.FormDataContentType())\n")
	}
	b.WriteString("\tres, err := http.DefaultClient.Do(req)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer res.Body.Close()\n\tanswer, _ := io.ReadAll(res.Body)\n\tfmt.Println(res.Status, string(answer))\n}")
	return b.String()
}
