package reference

import (
	"encoding/json"
	"strings"
)

// model is what the playground's script knows of a call. Its words are in the
// page's language.
type model struct {
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Servers     []modelServer     `json:"servers"`
	Auth        []modelAuth       `json:"auth,omitempty"`
	Params      []modelParam      `json:"params,omitempty"`
	Body        *modelBody        `json:"body,omitempty"`
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
	Kind string `json:"kind"`
}

type modelParam struct {
	Name     string   `json:"name"`
	In       string   `json:"in"`
	Required bool     `json:"required,omitempty"`
	Type     string   `json:"type"`
	Value    string   `json:"value,omitempty"`
	Options  []string `json:"options,omitempty"`
	Style    string   `json:"style,omitempty"`
	Explode  bool     `json:"explode,omitempty"`
}

type modelBody struct {
	Type  string       `json:"type"`
	Value string       `json:"value,omitempty"`
	Form  []modelField `json:"form,omitempty"`
}

type modelField struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	File  bool   `json:"file,omitempty"`
}

// model is the playground's model of the slice, as JSON.
func (b *builder) model() string {
	s, w := b.slice, b.words
	m := model{Method: s.Key.Method, Path: s.Key.Path, Credentials: b.opt.Credentials, Words: map[string]string{
		"try": w.try, "send": w.sendRequest, "auth": w.authorization, "path": w.path, "query": w.query, "header": w.headers, "cookie": w.cookies,
		"body": w.body, "server": w.servers, "request": w.request, "response": w.response, "failed": w.failed, "refused": w.refused,
		"secrets": w.secretsNote, "required": w.required, "status": w.status, "time": w.time,
	}}
	for _, sv := range s.Servers {
		server := modelServer{URL: strings.TrimRight(sv.URL, "/")}
		for _, v := range sv.Variables {
			server.Vars = append(server.Vars, modelVariable{v.Name, v.Default, v.Enum})
		}
		m.Servers = append(m.Servers, server)
	}
	if len(m.Servers) == 0 {
		m.Servers = []modelServer{{}}
	}
	seen := map[string]bool{}
	for _, way := range s.Security {
		for _, x := range way {
			a := modelAuth{Scheme: x.Name, In: x.place(), Kind: "bearer"}
			a.Name, _ = x.credential()
			switch {
			case a.In == "":
				continue
			case x.Type == "apiKey":
				a.Kind = "key"
			case x.Type == "http" && x.HTTP == "basic":
				a.Kind = "basic"
			case x.Type == "http" && x.HTTP != "bearer":
				a.Kind = "raw"
			}
			if !seen[x.Name] {
				seen[x.Name] = true
				m.Auth = append(m.Auth, a)
			}
		}
	}
	left := maxExample // bytes of values
	for _, p := range s.Params {
		x := s.resolve(p.Schema)
		mp := modelParam{Name: p.Name, In: p.In, Required: p.Required, Type: "string", Style: p.Style, Explode: p.Explode}
		if len(x.Types) > 0 {
			mp.Type = x.Types[0]
		}
		if value, given := s.paramExample(p); given && p.Required && left > 0 {
			mp.Value = value
			left -= len(value)
		}
		for i, e := range x.Enum {
			if left -= len(e); i < maxShownEnum && left > 0 {
				mp.Options = append(mp.Options, scalarText(e))
			}
		}
		if mp.Type == "boolean" {
			mp.Options = []string{"true", "false"}
		}
		m.Params = append(m.Params, mp)
	}
	if s.Body != nil && len(s.Body.Media) > 0 {
		media := preferred(s.Body.Media)
		r := &request{}
		s.requestBody(r, media, b.opt)
		m.Body = &modelBody{Type: media.Type, Value: r.body}
		for _, f := range r.form {
			m.Body.Form = append(m.Body.Form, modelField{f.name, f.value, f.file})
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(raw)
}
