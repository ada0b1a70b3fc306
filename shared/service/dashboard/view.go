package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

//go:embed pages
var pageFiles embed.FS

// layoutFile is what all pages have in common.
const layoutFile = "layout.html"

// pages parse the templates, by the names of their files: each with the layout,
// when it is shown first, as a function that starts is asked for one of them.
type pages map[string]func() (*template.Template, error)

func newPages(functions template.FuncMap) (pages, error) {
	files, err := pageFiles.ReadDir("pages")
	if err != nil {
		return nil, err
	}
	all := pages{}
	for _, f := range files {
		if f.Name() == layoutFile {
			continue
		}
		all[strings.TrimSuffix(f.Name(), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			return template.New("layout").Funcs(functions).ParseFS(pageFiles, "pages/"+layoutFile, "pages/"+f.Name())
		})
	}
	return all, nil
}

func (p pages) write(w io.Writer, name string, v view) error {
	parse := p[name]
	if parse == nil {
		return fmt.Errorf("there is no page %q", name)
	}
	t, err := parse()
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "layout", v)
}

// view is what a page is made of.
type view struct {
	Title  string
	Page   string
	Org    admin.Organisation
	Person admin.Person
	Role   admin.Role
	Base   string // path of the organisation
	Nav    []tab
	// Off are endpoints that were switched off, for who may switch them on.
	Off []admin.Webhook
	// Done says what a form has done, Problem what is wrong with one.
	Done    string
	Problem *problem
	Data    any

	q *request
}

// May reports whether the role allows an action.
func (v view) May(a admin.Action) bool { return v.q.may(a) }

// Value is what was typed into a field.
func (v view) Value(name string) string { return v.q.r.FormValue(name) }

// tab is an entry of the navigation.
type tab struct {
	Path, Name string
	Current    bool
}

// problem is what is wrong with a form; Field is the one to change, or empty.
type problem struct{ Field, Message string }

// done are the sentences that a page may begin with, after a form.
var done = map[string]string{
	"revoked":     "The key was revoked. Requests with it are refused from now on.",
	"configured":  "The settings were saved.",
	"created":     "The project was created.",
	"ended":       "The project was ended.",
	"restored":    "This snapshot is the newest again: the next export is made from it.",
	"started":     "The export was started.",
	"published":   "The folder was published: it is the newest snapshot.",
	"exporting":   "The folder was published, and the export was started.",
	"cancelled":   "It was cancelled.",
	"promoted":    "This version is live. The site is held: release it to let the next export go live by itself.",
	"rollback":    "An earlier version is live again. The site is held: release it to let the next export go live by itself.",
	"hold":        "The site is held: no export goes live by itself.",
	"release":     "The site is not held any more.",
	"asked":       "The agent has begun.",
	"sent":        "The message was sent.",
	"archived":    "The job was archived.",
	"invited":     "The invitation waits. No mail is sent: tell the person to sign in.",
	"withdrawn":   "The invitation was withdrawn.",
	"role":        "The role was changed.",
	"removed":     "The member was removed.",
	"redelivered": "The event is delivered again in a moment.",
	"unhooked":    "The webhook was removed.",
	"signed-out":  "You are signed out.",
	"session":     "The session was ended.",
}

func (q *request) view(page, title string, data any, p *problem) view {
	v := view{Title: title, Page: page, Org: q.org, Person: q.person, Role: q.caller.Role, Off: q.off, Done: done[q.r.URL.Query().Get("done")], Problem: p, Data: data, q: q}
	if p != nil {
		v.Done = ""
	}
	if q.org.ID == "" {
		return v
	}
	v.Base = q.path()
	for _, t := range []struct {
		part, name string
		action     admin.Action
	}{
		{"exports", "Exports", admin.ActionRead},
		{"projects", "Projects", admin.ActionRead},
		{"keys", "API keys", admin.ActionKeys},
		{"agents", "Agent jobs", admin.ActionRead},
		{"webhooks", "Webhooks", admin.ActionWebhooks},
		{"usage", "Usage", admin.ActionRead},
		{"members", "Members", admin.ActionRead},
		{"audit", "Audit log", admin.ActionAudit},
	} {
		if q.may(t.action) {
			to := q.path(t.part)
			v.Nav = append(v.Nav, tab{to, t.name, q.r.URL.Path == to || strings.HasPrefix(q.r.URL.Path, to+"/")})
		}
	}
	return v
}

// control is a field of a form.
type control struct {
	Name, Label, Help string
	Type              string // of an input; "area" is one of several lines
	Value             string
	Error             string
	Required          bool
	Rows              int
}

// field returns a control with what was typed, or else with value. Options are its
// type and "required".
func field(v view, name, label, help, value string, options ...string) control {
	c := control{Name: name, Label: label, Help: help, Type: "text", Value: value, Rows: 4}
	if _, typed := v.q.r.Form[name]; typed {
		c.Value = v.Value(name)
	}
	if v.Problem != nil && v.Problem.Field == name {
		c.Error = v.Problem.Message
	}
	for _, o := range options {
		if o == "required" {
			c.Required = true
		} else {
			c.Type = o
		}
	}
	return c
}

// ticked reports whether a checkbox is: as it was sent, else as it is stored.
func ticked(v view, name string, stored bool) bool {
	if len(v.q.r.PostForm) > 0 {
		return v.q.checked(name)
	}
	return stored
}

// choice is an option of a select, a radio button or a checkbox.
type choice struct {
	Value, Label string
	Chosen       bool
}

// functions are what templates can call.
func (d *Dashboard) functions() template.FuncMap {
	return template.FuncMap{
		"asset": func(name string) (string, error) {
			a, ok := d.assets[name]
			if !ok {
				return "", fmt.Errorf("there is no asset %q", name)
			}
			return a.path, nil
		},
		"docs": d.docs,
		// Printed commands name the address: whoever copies one has nothing to look up.
		"address": func() string { return d.at("") },
		"field":   field, "ticked": ticked,
		"time":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") },
		"hour":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:00") },
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
		"size":  size,
		"bytes": func(n int) string { return size(int64(n)) },
		"count": count, "number": number,
		"limit": func(label string, now, most int) limit {
			return limit{strings.ReplaceAll(strings.ToLower(label), " ", "-"), label, now, most, most * 8 / 10}
		},
		"money": admin.USDollars,
		"took":  took,
		"path": func(parts ...string) string {
			for i, p := range parts[1:] {
				parts[i+1] = url.PathEscape(p)
			}
			return strings.Join(parts, "/")
		},
		"query": query, "difflines": diffLines,
		"lines":    func(list string) string { return strings.Join(lines(list), "\n") },
		"join":     func(v []string) string { return strings.Join(v, ", ") },
		"sentence": sentence, "capital": capital, "agent": agentName,
		"changed": changedText, "passages": passages,
		"list": func(v ...string) []string { return v },
		"web":  web,
	}
}

// docs is the address of a page of the documentation; empty is the first.
func (d *Dashboard) docs(page string) string {
	switch {
	case d.opt.Docs != "":
		return d.opt.Docs + "/" + page
	case page == "":
		return sources
	}
	return sources + "/" + page + ".mdx"
}

// sources is where the pages of the documentation are written.
const sources = "https://github.com/bindery-docs/bindery/blob/main/infra/docs"

// web returns an address of the web that a page may lead to, else nothing: html/template
// refuses schemes that run scripts, and this leaves no other one.
func web(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return address
}

// query returns an address with parameters, in pairs; empty ones are left out.
func query(to string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return to
	}
	return to + "?" + values.Encode()
}

// limit is how near something is to one.
type limit struct {
	Name, Label     string
	Now, Most, High int // High is where it is near
}

// count writes a number with its noun.
func count(n any, one, many string) string {
	if text := number(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// number writes a whole number with its digits in groups.
func number(n any) string {
	text := fmt.Sprint(n)
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteRune('\u202f') // narrow no-break space
		}
		b.WriteRune(r)
	}
	return b.String()
}

// took writes how long something ran.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// size writes a number of bytes.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/unit, 0
	for v >= unit && i < 3 {
		v, i = v/unit, i+1
	}
	return fmt.Sprintf("%.1f %s", v, []string{"KiB", "MiB", "GiB", "TiB"}[i])
}

// agentName is what a browser calls itself, in two words, or all of it where they
// are not known. It only helps people to know their sessions.
func agentName(agent string) string {
	first := func(pairs ...string) string { // most names hold those of others
		for i := 0; i < len(pairs); i += 2 {
			if strings.Contains(agent, pairs[i]) {
				return pairs[i+1]
			}
		}
		return ""
	}
	browser := first("Edg", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari")
	system := first("Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "Mac OS", "macOS", "CrOS", "ChromeOS", "Linux", "Linux")
	switch {
	case agent == "":
		return "unknown"
	case browser == "" || system == "":
		return agent
	}
	return browser + " on " + system
}

// capital begins with a capital letter.
func capital(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text = capital(text); text == "" {
		return ""
	}
	if last, _ := utf8.DecodeLastRuneInString(text); !strings.ContainsRune(".!?…", last) {
		text += "."
	}
	return text
}

// lines are the items of a text, one a line or separated by commas, without blank ones.
func lines(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ',' })
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// place puts a page's addresses below the dashboard's path. Text of a page has no
// such quotes: html/template escapes them.
func (d *Dashboard) place(page []byte) []byte {
	if d.below == "" {
		return page
	}
	below := template.HTMLEscapeString(d.below)
	return []byte(strings.NewReplacer(` href="/`, ` href="`+below+`/`, ` action="/`, ` action="`+below+`/`, ` src="/`, ` src="`+below+`/`).Replace(string(page)))
}
