package tool

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Review is the result of Look. Each line has a place, as "host (path:line)" or
// "path:line: what it is". It never contains a secret that was found.
type Review struct {
	// Refused are reasons for which the changes must not be published.
	Refused []string
	// NewHosts are hosts of other sites in links, pictures and files that the
	// repository did not name in such a place before, each at its first.
	NewHosts []string
	// Executable is what runs in the browsers of readers and was not there
	// before.
	Executable []string
}

// Look reviews changes of a repository without trusting whoever made them. Results
// are in the order of their places. It doesn't check paths; see Allowed.
func Look(base Base, changes []Change) Review {
	r := reviewer{base: base, entries: map[string]Entry{}, old: map[string]string{}, ran: map[string]bool{}}
	for _, e := range base.Paths() {
		r.entries[e.Path] = e
	}
	for _, c := range changes {
		if e, ok := r.entries[c.Path]; ok && e.Text {
			if b, err := base.Read(c.Path); err == nil {
				r.old[c.Path] = string(b)
				for _, x := range executable(c.Path, b) {
					r.ran[x.kind+x.text] = true
				}
			}
		}
	}
	changes = slices.SortedFunc(slices.Values(changes), func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range changes {
		r.file(c)
	}
	r.known()
	return r.Review
}

type remark struct {
	path string
	line int
	what string
}

type reviewer struct {
	Review
	// hosts are new to the files in which they stand, at lines of these.
	hosts   []remark
	base    Base
	entries map[string]Entry
	// old are the former texts of changed files, ran what was executable in them:
	// a page that moves takes it along.
	old map[string]string
	ran map[string]bool
}

func (r *reviewer) refuse(p string, line int, format string, args ...any) {
	place := p
	if line > 0 {
		place = fmt.Sprintf("%s:%d", p, line)
	}
	r.Refused = append(r.Refused, place+": "+fmt.Sprintf(format, args...))
}

func (r *reviewer) file(c Change) {
	root := ""
	// A name that a bundle reserves at a site's root may be a folder in a repository.
	if first, _, nested := strings.Cut(strings.ToLower(c.Path), "/"); nested && strings.HasPrefix(first, "bindery") {
		root = c.Path[:len(first)]
	}
	if err := Allowed(c.Path, root); err != nil {
		r.Refused = append(r.Refused, err.Error())
		return
	}
	if e, ok := r.entries[c.Path]; ok && !e.Plain {
		r.refuse(c.Path, 0, "is a link, a submodule or executable")
		return
	}
	if c.Delete {
		return
	}
	if !isText(c.Content) {
		r.refuse(c.Path, 0, "is not text")
		return
	}
	for _, s := range secrets(string(c.Content)) {
		if !r.wasThere(s.text) {
			r.refuse(c.Path, lineOf(c.Content, s.at), "looks like a secret: %s", s.kind)
		}
	}
	old := r.old[c.Path]
	was := map[string]bool{}
	for _, h := range hostsOf(c.Path, []byte(old)) {
		was[h.text] = true
	}
	for _, h := range hostsOf(c.Path, c.Content) {
		if !was[h.text] {
			was[h.text] = true
			r.hosts = append(r.hosts, remark{c.Path, lineOf(c.Content, h.at), h.text})
		}
	}
	ran := map[string]int{}
	for _, x := range executable(c.Path, []byte(old)) {
		ran[x.kind+x.text]++
	}
	for _, x := range executable(c.Path, c.Content) {
		if ran[x.kind+x.text]--; ran[x.kind+x.text] < 0 && !(old == "" && r.ran[x.kind+x.text]) {
			r.Executable = append(r.Executable, fmt.Sprintf("%s:%d: %s", c.Path, lineOf(c.Content, x.at), x.kind))
		}
	}
}

// wasThere reports whether the former text of a changed file contains a text: then it
// was published before, perhaps on a page that was moved.
func (r *reviewer) wasThere(text string) bool {
	for _, old := range r.old {
		if strings.Contains(old, text) {
			return true
		}
	}
	return false
}

// known fills NewHosts with the hosts that the rest of the repository does not
// name, each once.
func (r *reviewer) known() {
	left := map[string]bool{}
	for _, h := range r.hosts {
		left[h.what] = true
	}
	for p, e := range r.entries {
		if len(left) == 0 {
			break
		}
		if !e.Text || !allowedExtensions[strings.ToLower(path.Ext(p))] {
			continue
		}
		src, err := r.base.Read(p)
		if err != nil {
			continue
		}
		lower := bytes.ToLower(src)
		for host := range left {
			if bytes.Contains(lower, []byte(host)) && slices.ContainsFunc(hostsOf(p, src), func(h mark) bool { return h.text == host }) {
				delete(left, host)
			}
		}
	}
	for _, h := range r.hosts {
		if left[h.what] {
			delete(left, h.what)
			r.NewHosts = append(r.NewHosts, fmt.Sprintf("%s (%s:%d)", h.what, h.path, h.line))
		}
	}
}

// mark is something found in a text.
type mark struct {
	at         int
	kind, text string
}

func lineOf(src []byte, at int) int { return 1 + bytes.Count(src[:min(at, len(src))], []byte("\n")) }

// secretForms are secrets with a known form. Only lines with one of the texts in
// needs are searched.
var secretForms = []struct {
	kind  string
	needs []string
	form  func() *regexp.Regexp
}{
	{"a private key", []string{"PRIVATE KEY"}, lazy.Regexp(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----`)},
	{"a key of AWS", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, lazy.Regexp(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`)},
	{"a token of GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazy.Regexp(`\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}`)},
	{"a token of GitLab", []string{"gl"}, lazy.Regexp(`\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", []string{"xox", "xapp-", "hooks.slack.com"}, lazy.Regexp(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}`)},
	{"a key of Stripe", []string{"_live_", "whsec_"}, lazy.Regexp(`\b(?:sk|rk)_live_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/]{24,}`)},
	{"a key of Anthropic", []string{"sk-ant-"}, lazy.Regexp(`\bsk-ant-[A-Za-z0-9_-]{20,}`)},
	{"a key of OpenAI", []string{"sk-"}, lazy.Regexp(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|\bsk-[A-Za-z0-9]{40,}\b`)},
	{"a key of Google", []string{"AIza", "ya29.", "GOCSPX-"}, lazy.Regexp(`\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}`)},
	{"a token of npm", []string{"npm_"}, lazy.Regexp(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a token of PyPI", []string{"pypi-"}, lazy.Regexp(`\bpypi-AgE[A-Za-z0-9_-]{50,}`)},
	{"a key of SendGrid", []string{"SG."}, lazy.Regexp(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}`)},
	{"a token of Hugging Face", []string{"hf_"}, lazy.Regexp(`\bhf_[A-Za-z0-9]{30,}\b`)},
	{"a token of DigitalOcean", []string{"_v1_"}, lazy.Regexp(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
	{"a token of Shopify", []string{"shp"}, lazy.Regexp(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`)},
	{"a token of Docker", []string{"dckr_pat_"}, lazy.Regexp(`\bdckr_pat_[A-Za-z0-9_-]{20,}`)},
	{"a secret key of age", []string{"AGE-SECRET-KEY-"}, lazy.Regexp(`\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`)},
	{"a signed token", []string{"eyJ"}, lazy.Regexp(`\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}`)},
	{"a password in an address", []string{"://"}, lazy.Regexp(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>{}$]{1,60}:([^\s/@"'<>{}$\[\]*]{8,80})@[^\s/@"'<>]+`)},
}

// assignment finds a value whose name suggests a secret.
var assignment = lazy.Regexp(`(?i)(?:secret|token|passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credential)s?["'\x60]?[ \t]*(?:[:=]|=>|:=)[ \t]*["'\x60]?(?:bearer )?([A-Za-z0-9+/_=.-]{20,200})`)

// placeholder finds what authors write instead of a secret.
var placeholder = lazy.Regexp(`(?i)example|sample|dummy|placeholder|changeme|your[_-]|my[_-]|xxxx|\*\*\*|\.\.\.|1234567|abcdef|test[_-]|fake|redacted|process\.env|os\.environ|_here|token_|secret_|insert|<|\{`)

// secretNames are the names that assignment looks for, in lower case.
var secretNames = []string{"secret", "token", "passw", "passphrase", "key", "credential"}

// secrets finds what looks like a secret.
func secrets(text string) []mark {
	var all []mark
	at := 0
	for line := range strings.Lines(text) {
		in := func(s string) bool { return strings.Contains(line, s) }
		for _, f := range secretForms {
			if !slices.ContainsFunc(f.needs, in) {
				continue
			}
			for _, m := range f.form().FindAllStringSubmatchIndex(line, -1) {
				found := line[m[0]:m[1]]
				judged := found
				if len(m) >= 4 && m[2] >= 0 {
					judged = line[m[2]:m[3]]
					if entropy(judged) < 3 || strings.Contains(strings.ToLower(judged), "pass") {
						continue
					}
				}
				if !placeholder().MatchString(judged) {
					all = append(all, mark{at + m[0], f.kind, found})
				}
			}
		}
		lower := strings.ToLower(line)
		if slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(lower, s) }) {
			for _, m := range assignment().FindAllStringSubmatchIndex(line, -1) {
				value := line[m[2]:m[3]]
				mixed := strings.ContainsAny(value, "0123456789") && strings.ToUpper(value) != strings.ToLower(value)
				if mixed && entropy(value) >= 3.7 && !placeholder().MatchString(value) && !strings.Contains(value, "..") {
					all = append(all, mark{at + m[2], "a value that its name calls secret", value})
				}
			}
		}
		at += len(line)
	}
	slices.SortStableFunc(all, func(a, b mark) int { return a.at - b.at })
	return slices.CompactFunc(all, func(a, b mark) bool { return a.at == b.at })
}

// entropy returns how many bits a character of s has, by how often each is there.
func entropy(s string) float64 {
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			share := float64(n) / float64(len(s))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}

// hostAddress finds addresses of other hosts in text of any kind.
var hostAddress = lazy.Regexp(`(?i)(?:\b(?:https?|wss?|ftp):)?//[^\s"'<>()\x60{}\[\]\\,;|]+`)

// hostsOf returns the hosts of other sites that a file sends readers or their
// browsers to: in a page not those in code blocks and spans, which are text.
func hostsOf(p string, src []byte) []mark {
	var all []mark
	add := func(text string, at int) {
		for _, m := range hostAddress().FindAllStringIndex(text, -1) {
			address := text[m[0]:m[1]]
			if strings.HasPrefix(address, "//") {
				// Without a scheme only at the beginning of a text or quotes: else it is
				// a comment.
				if m[0] > 0 && !strings.ContainsRune(`"'(`+"`", rune(text[m[0]-1])) {
					continue
				}
				address = "https:" + address
			}
			if u, err := url.Parse(address); err == nil && strings.Contains(u.Hostname(), ".") {
				all = append(all, mark{at: at + m[0], text: strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))})
			}
		}
	}
	if !isPage(p) {
		add(string(src), 0)
		return all
	}
	f, _ := mdx.Parse(src, (&site.Site{}).Syntax(p))
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Link, mdx.Image, mdx.Definition:
			add(strings.TrimSpace(n.URL), n.Pos.Offset)
		case mdx.ESM, mdx.Expression:
			add(n.Value, n.Pos.Offset)
		case mdx.Element:
			for _, a := range n.Attrs {
				add(strings.TrimSpace(a.Value), a.Pos.Offset)
			}
		}
		return true
	})
	if yaml, _ := mdx.SplitFrontMatter(src); len(yaml) > 0 {
		add(string(yaml), bytes.Index(src, yaml))
	}
	return all
}

var (
	// scriptMark finds what runs in HTML and SVG.
	scriptMark = lazy.Regexp(`(?i)<(?:script|iframe|object|embed|foreignObject)\b|\son[a-z]{3,20}\s*=|javascript:`)
	// calling finds what an expression does besides naming a value.
	calling = lazy.Regexp(`\w\s*(?:\?\.)?\(|=>|\bnew\b|\bimport\b|\x60`)
)

// executable returns the parts of a file that run in browsers or when the page is
// rendered.
func executable(p string, src []byte) []mark {
	if len(src) == 0 {
		return nil
	}
	var all []mark
	add := func(at int, kind, text string) { all = append(all, mark{at, kind, strings.TrimSpace(text)}) }
	switch {
	case edit.IsScript(p):
		return []mark{{0, "a script", string(src)}}
	case path.Ext(p) == ".svg" || path.Ext(p) == ".html" || path.Ext(p) == ".xml":
		for _, m := range scriptMark().FindAllIndex(src, -1) {
			add(m[0], "a script in a file", string(src[m[0]:min(m[0]+200, len(src))]))
		}
		return all
	case !isPage(p):
		return nil
	}
	f, _ := mdx.Parse(src, (&site.Site{}).Syntax(p))
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.ESM:
			imports, exports, _, _ := expr.ParseModule(n.Value)
			kind := "an import"
			if len(exports) > 0 || len(imports) == 0 {
				kind = "an export"
			}
			add(n.Pos.Offset, kind, n.Value)
		case mdx.Expression:
			if calling().MatchString(n.Value) && !strings.HasPrefix(strings.TrimSpace(n.Value), "/*") {
				add(n.Pos.Offset, "an expression", n.Value)
			}
		case mdx.Element:
			switch strings.ToLower(n.Name) {
			case "script", "iframe", "object", "embed":
				src, _ := n.Attr("src")
				add(n.Pos.Offset, "<"+n.Name+">", src.Value+mdx.PlainText(n))
			}
			for _, a := range n.Attrs {
				if kind := runs(a); kind != "" {
					add(a.Pos.Offset, kind, a.Value)
				}
			}
		case mdx.Link, mdx.Image, mdx.Definition:
			if !html.SafeURL(n.URL) {
				add(n.Pos.Offset, "an address that runs code", n.URL)
			}
		}
		return true
	})
	return all
}

// runs describes the executable part of an attribute, "" for none.
func runs(a mdx.Attr) string {
	lower := strings.ToLower(a.Name)
	switch {
	case len(lower) > 3 && strings.HasPrefix(lower, "on"), lower == "dangerouslysetinnerhtml", lower == "srcdoc":
		return "the attribute " + a.Name
	case (a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread) && !isLiteral(a) && calling().MatchString(a.Value):
		return "an expression"
	case edit.IsAddress(a.Name) && !html.SafeURL(a.Value):
		return "an address that runs code"
	}
	return ""
}
