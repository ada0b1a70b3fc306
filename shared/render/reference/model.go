package reference

import (
	"encoding/json"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/words"
)

// model is what the playground's script knows of a call. Its words are in the
// page's language.
type model struct {
	Method  string        `json:"method"`
	Path    string        `json:"path"`
	Servers []modelServer `json:"servers"`
	Auth    []modelAuth   `json:"auth,omitempty"`
	Params  []modelParam  `json:"params,omitempty"`
	// Bodies are the content types that can be sent, the first to begin with;
	// Accept those that can be asked for.
	Bodies      []modelBody       `json:"bodies,omitempty"`
	Accept      []string          `json:"accept,omitempty"`
	Credentials bool              `json:"credentials,omitempty"`
	Words       map[string]string `json:"words"`
}

// modelServer is an address with {variables}.
type modelServer struct {
	URL  string          `json:"url"`
	Vars []modelVariable `json:"vars,omitempty"`
}

type modelVariable struct {
	Name    string   `json:"name"`
	Value   string   `json:"value,omitempty"`
	Options []string `json:"options,omitempty"`
}

// modelAuth is one secret: where it stands and how it is sent.
type modelAuth struct {
	Scheme string `json:"scheme"`
	In     string `json:"in"`
	Name   string `json:"name"`
	// Kind is "key", "bearer", "basic" or "raw".
	Kind  string `json:"kind"`
	Value string `json:"value,omitempty"`
}

type modelParam struct {
	Name     string   `json:"name"`
	In       string   `json:"in,omitempty"`
	Required bool     `json:"required,omitempty"`
	Type     string   `json:"type"`
	Value    string   `json:"value,omitempty"`
	Options  []string `json:"options,omitempty"`
	Style    string   `json:"style,omitempty"`
	Explode  bool     `json:"explode,omitempty"`
}

// modelBody is content of one type: a text, the fields of a form, or a file.
type modelBody struct {
	Type  string       `json:"type"`
	Value string       `json:"value,omitempty"`
	Form  []modelField `json:"form,omitempty"`
	// Multipart marks a form that may hold files.
	Multipart bool `json:"multipart,omitempty"`
	File      bool `json:"file,omitempty"`
	// Sent is what is sent of a type that is a range, unless a file says more.
	Sent string `json:"sent,omitempty"`
}

// modelField is a field of a form. Style and explode say how lists and objects
// are sent, as for parameters.
type modelField struct {
	modelParam
	File bool `json:"file,omitempty"`
	Many bool `json:"many,omitempty"`
	// Part is the content type of the field's part, Accept those that a file
	// may have.
	Part   string `json:"part,omitempty"`
	Accept string `json:"accept,omitempty"`
}

// model is the playground's model of the slice, as JSON.
func (b *builder) model() string {
	s, w := b.slice, b.lang
	m := model{Method: s.Key.Method, Path: s.Key.Path, Accept: s.accepts(), Credentials: b.opt.Credentials, Words: map[string]string{
		"try": w.Say(words.Try), "send": w.Say(words.SendRequest), "auth": w.Say(words.Authorization), "path": w.Say(words.Path), "query": w.Say(words.Query), "header": w.Say(words.Headers), "cookie": w.Say(words.Cookies),
		"body": w.Say(words.Body), "type": w.Say(words.ContentType), "answer": w.Say(words.AnswerType), "server": w.Say(words.Servers), "request": w.Say(words.Request), "response": w.Say(words.Response), "failed": w.Say(words.Failed), "refused": w.Say(words.Refused),
		"secrets": w.Say(words.Secrets), "required": w.Say(words.Required), "status": w.Say(words.Status), "time": w.Say(words.Time),
	}}
	m.Servers, m.Auth = s.modelServers(), s.modelAuth()
	values := modelValues{slice: s, opt: b.opt, left: maxExample}
	for _, p := range s.Params {
		m.Params = append(m.Params, values.param(p))
	}
	for _, media := range s.bodies() {
		if values.left <= -maxMedia*maxExample {
			break
		}
		m.Bodies = append(m.Bodies, values.body(media))
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(raw)
}

// modelServers returns the servers, one without an address if there is none.
func (s *Slice) modelServers() []modelServer {
	var out []modelServer
	for _, sv := range s.Servers {
		server := modelServer{URL: strings.TrimRight(sv.URL, "/")}
		for _, v := range sv.Variables {
			server.Vars = append(server.Vars, modelVariable{v.Name, v.Default, v.Enum})
		}
		out = append(out, server)
	}
	if len(out) == 0 {
		return []modelServer{{}}
	}
	return out
}

// modelAuth returns the secrets of all ways to be let in, each once.
func (s *Slice) modelAuth() []modelAuth {
	var out []modelAuth
	seen := map[string]bool{}
	for _, way := range s.Security {
		for _, x := range way {
			a := modelAuth{Scheme: x.Name, In: x.place(), Kind: "bearer", Value: x.Value}
			a.Name, _ = x.credential()
			switch {
			case a.In == "":
				continue
			case x.Type == "apiKey":
				a.Kind = "key"
			case x.Type == "http" && x.HTTP == "basic":
				a.Kind, a.Value = "basic", ""
			case x.Type == "http" && x.HTTP != "bearer":
				a.Kind = "raw"
			}
			if !seen[x.Name] {
				seen[x.Name] = true
				out = append(out, a)
			}
		}
	}
	return out
}

// modelValues makes the parts of a model that hold values.
type modelValues struct {
	slice *Slice
	opt   Options
	left  int // bytes of values that still fit
}

// param returns a parameter of the call, with the author's example as its value if it
// must be there, or if all are to be filled in.
func (m *modelValues) param(p Param) modelParam {
	mp := m.field(p)
	if value, given := m.slice.paramExample(p); given && (p.Required || m.opt.Prefill) && m.left > 0 {
		mp.Value = value
		m.left -= len(value)
	}
	return mp
}

// field returns a parameter, or a form's field, without a value.
func (m *modelValues) field(p Param) modelParam {
	x := m.slice.resolve(p.Schema)
	mp := modelParam{Name: p.Name, In: p.In, Required: p.Required, Type: "string", Style: p.Style, Explode: p.Explode}
	if len(x.Types) > 0 {
		mp.Type = x.Types[0]
	}
	for i, e := range x.Enum {
		if m.left -= len(e); i < maxShownEnum && m.left > 0 {
			mp.Options = append(mp.Options, scalarText(e))
		}
	}
	if mp.Type == "boolean" {
		mp.Options = []string{"true", "false"}
	}
	return mp
}

// body returns content of one type, filled in as the request's sample is.
func (m *modelValues) body(media *Media) modelBody {
	r := &request{}
	m.slice.requestBody(r, media, m.opt)
	body := modelBody{Type: media.Type, File: r.file, Multipart: r.multipart}
	if sent := concrete(media.Type); sent != media.Type {
		body.Sent = sent
	}
	if r.body != noBody {
		body.Value = r.body
	}
	if r.form != nil {
		for _, e := range m.slice.entries(media, false) {
			f := modelField{modelParam: m.field(e.param), File: e.file, Many: e.many, Part: single(e.part)}
			if e.file {
				f.Accept = e.part
			} else if e.param.Required || !m.opt.RequiredOnly {
				f.Value = scalarText(e.value)
			}
			body.Form = append(body.Form, f)
			m.left -= len(f.Name) + len(f.Value)
		}
	}
	m.left -= len(body.Value)
	return body
}
