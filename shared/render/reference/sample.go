package reference

import (
	"cmp"
	"net/url"
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
	// Prefill fills optional parameters of the playground with their examples too.
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

// maxRepeated is the size in bytes up to which samples in all languages contain the
// request body. Only the first language contains a larger one. The others send a file.
const maxRepeated = 4 << 10

type code struct{ lang, title, source string }

// samples are those that are made up of a call that sends content of the type m,
// in the order that the site wants; where own is true, the author's before them.
func (s *Slice) samples(o Options, m *Media, own bool) []code {
	var out []code
	for _, x := range s.Samples {
		if !own {
			break
		}
		title := cmp.Or(x.Label, titleOf(x.Lang))
		out = append(out, code{strings.ToLower(x.Lang), title, strings.TrimRight(x.Source, "\n ")})
	}
	if o.NoSamples || s.Key.Kind != KindOperation {
		return out
	}
	writers := sampleWriters()
	r := s.request(o, m)
	add := func(i int) {
		w := writers[i]
		if slices.ContainsFunc(out, func(c code) bool { return c.title == w.title }) {
			return
		}
		out = append(out, code{w.lang, w.title, w.write(r)})
		if len(r.body) > maxRepeated {
			r.body, r.json, r.file = "", false, true
		}
	}
	if len(o.Languages) == 0 {
		for i := range writers {
			add(i)
		}
	}
	for _, l := range o.Languages {
		if i := slices.IndexFunc(writers, func(w sampleWriter) bool { return w.writes(l) }); i >= 0 {
			add(i)
		}
	}
	return out
}

// sampleWriter writes requests in one language.
type sampleWriter struct {
	names       []string // what sites call the language
	lang, title string
	write       func(*request) string
}

func sampleWriters() []sampleWriter {
	return []sampleWriter{
		{[]string{"curl", "bash", "shell"}, "bash", "cURL", curl},
		{[]string{"javascript", "js", "node", "typescript"}, "javascript", "JavaScript", javascript},
		{[]string{"python", "py"}, "python", "Python", python},
		{[]string{"go", "golang"}, "go", "Go", golang},
	}
}

func (w *sampleWriter) writes(lang string) bool {
	return slices.Contains(w.names, strings.ToLower(lang))
}

// WritesSamples reports whether samples of requests are made in a language, by
// a name that sites may give it.
func WritesSamples(lang string) bool {
	return slices.ContainsFunc(sampleWriters(), func(w sampleWriter) bool { return w.writes(lang) })
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
		case !r.multipart: // the value is escaped by the program, the name is not
			lines = append(lines, "--data-urlencode "+shellQuote(url.QueryEscape(f.name)+"="+f.value))
		case f.file:
			lines = append(lines, "--form "+shellQuote(f.name+"=@"+f.value+partType(f)))
		default:
			lines = append(lines, "--form "+shellQuote(f.name+"="+formValue(f.value)+partType(f)))
		}
	}
	switch {
	case r.file:
		lines = append(lines, "--data-binary @file")
	case r.body != "":
		lines = append(lines, "--data "+shellQuote(r.body))
	}
	return strings.Join(lines, " \\\n  ")
}

func partType(f formField) string {
	if f.part == "" {
		return ""
	}
	return ";type=" + f.part
}

// formValue quotes a value in which the program would find something else: the
// name of a file, or what follows a value.
func formValue(v string) string {
	if !strings.Contains(v, ";") && (v == "" || !strings.Contains(`"@<`, v[:1])) {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
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
			switch {
			case f.file && r.multipart:
				value = "file"
			case f.part != "" && r.multipart:
				value = "new Blob([" + value + "], { type: " + quoted(f.part) + " })"
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
	case r.file:
		b.WriteString("  body: file,\n")
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
	switch {
	case r.json:
		b.WriteString("payload = " + pythonLiteral(r.body) + "\n")
		args = append(args, "json=payload")
		headers = slices.DeleteFunc(slices.Clone(headers), func(h header) bool { return h.name == "Content-Type" && h.value == "application/json" })
	case r.file:
		args = append(args, `data=open("file", "rb")`)
	case r.body != "":
		b.WriteString("payload = " + quoted(r.body) + "\n")
		args = append(args, "data=payload.encode()")
	}
	// Pairs, since names may repeat; a part without a file has none as its name.
	name, line := "data", func(f formField) string { return quoted(f.value) }
	if r.multipart {
		name, line = "files", func(f formField) string {
			part := ""
			if f.part != "" {
				part = ", " + quoted(f.part)
			}
			switch {
			case !f.file:
				return "(None, " + quoted(f.value) + part + ")"
			case part == "":
				return "open(" + quoted(f.value) + `, "rb")`
			}
			return "(" + quoted(f.value) + ", open(" + quoted(f.value) + `, "rb")` + part + ")"
		}
	}
	if len(r.form) > 0 {
		b.WriteString(name + " = [\n")
		for _, f := range r.form {
			b.WriteString("    (" + quoted(f.name) + ", " + line(f) + "),\n")
		}
		b.WriteString("]\n")
		args = append(args, name+"="+name)
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
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(raw))
		case 'a' <= c && c <= 'z':
			for end < len(raw) && 'a' <= raw[end] && raw[end] <= 'z' {
				end++
			}
		}
		switch part := raw[i:end]; part {
		case "true":
			b.WriteString("True")
		case "false":
			b.WriteString("False")
		case "null":
			b.WriteString("None")
		default:
			b.WriteString(part)
		}
		i = end
	}
	return b.String()
}

func golang(r *request) string {
	var b strings.Builder
	imports := []string{"fmt", "io", "net/http"}
	body := "nil"
	var setup string
	switch {
	case r.multipart:
		imports = append(imports, "bytes", "mime/multipart")
		setup = "\tvar form bytes.Buffer\n\tw := multipart.NewWriter(&form)\n"
		for i, f := range r.form {
			part := "part" + strconv.Itoa(i+1)
			if f.part != "" {
				imports = append(imports, "net/textproto")
				place := "form-data; name=" + strconv.Quote(f.name)
				if f.file {
					place += "; filename=" + strconv.Quote(f.value)
				}
				setup += "\t" + part + ", _ := w.CreatePart(textproto.MIMEHeader{\n\t\t\"Content-Disposition\": {" + quoted(place) + "},\n\t\t\"Content-Type\": {" + quoted(f.part) + "},\n\t})\n"
			}
			switch {
			case f.file:
				imports = append(imports, "os")
				if f.part == "" {
					setup += "\t" + part + ", _ := w.CreateFormFile(" + quoted(f.name) + ", " + quoted(f.value) + ")\n"
				}
				setup += "\tdata" + strconv.Itoa(i+1) + ", _ := os.ReadFile(" + quoted(f.value) + ")\n\t" + part + ".Write(data" + strconv.Itoa(i+1) + ")\n"
			case f.part != "":
				setup += "\t" + part + ".Write([]byte(" + quoted(f.value) + "))\n"
			default:
				setup += "\tw.WriteField(" + quoted(f.name) + ", " + quoted(f.value) + ")\n"
			}
		}
		setup += "\tw.Close()\n"
		body = "&form"
	case r.form != nil:
		imports = append(imports, "net/url", "strings")
		setup = "\tform := url.Values{}\n"
		for _, f := range r.form {
			setup += "\tform.Add(" + quoted(f.name) + ", " + quoted(f.value) + ")\n"
		}
		body = "strings.NewReader(form.Encode())"
	case r.file:
		imports = append(imports, "os")
		setup = "\tfile, err := os.Open(\"file\")\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer file.Close()\n"
		body = "file"
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
	if r.multipart {
		b.WriteString("\treq.Header.Set(\"Content-Type\", w.FormDataContentType())\n")
	}
	b.WriteString("\tres, err := http.DefaultClient.Do(req)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer res.Body.Close()\n\tanswer, _ := io.ReadAll(res.Body)\n\tfmt.Println(res.Status, string(answer))\n}")
	return b.String()
}
