package tool

import (
	"bytes"
	"html"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Addresses are read as browsers read them: tabs and line ends in them do not count,
// a backslash is a slash, and of the slashes after a scheme any number will do.
var (
	// withScheme finds addresses with a scheme that leads to a host.
	withScheme = lazy.Regexp(`(?i)\b(?:https?|wss?|ftp):[/\\]*([^/\\\s?#"'<>()\x60{}\[\],;|][^/\\\s?#"'<>()\x60{}\[\],;|]*)`)
	// numbered finds those of hosts that are numbers of IPv6.
	numbered = lazy.Regexp(`(?i)(?:\b(?:https?|wss?|ftp):)?[/\\]{2,}(?:[^/\\\s@]*@)?(\[[0-9a-f:.]+\])`)
	// quoted finds addresses without a scheme where one begins: elsewhere, as in
	// scripts, two slashes are a comment.
	quoted = lazy.Regexp(`(?:\A|["'(\x60])[/\\]{2,}([^/\\\s?#"'<>()\x60{}\[\],;|]+)`)
	// spaced finds them also in lists and after white space.
	spaced = lazy.Regexp(`(?:\A|["'(\x60\s,;=:>])[/\\]{2,}([^/\\\s?#"'<>()\x60{}\[\],;|]+)`)
)

// hostsIn returns the hosts of the addresses in a text. lists is set where addresses may
// follow white space, as in attributes and YAML.
func hostsIn(text string, lists bool) []mark {
	var all []mark
	for _, t := range readings(text) {
		bare := quoted()
		if lists {
			bare = spaced()
		}
		for _, m := range withScheme().FindAllStringSubmatchIndex(t, -1) {
			if host := hostName(t[m[2]:m[3]]); host != "" {
				all = append(all, mark{at: min(m[0], len(text)), text: host})
			}
		}
		for _, m := range numbered().FindAllStringSubmatchIndex(t, -1) {
			all = append(all, mark{at: min(m[0], len(text)), text: strings.ToLower(t[m[2]:m[3]])})
		}
		for _, m := range bare.FindAllStringSubmatchIndex(t, -1) {
			if host := hostName(t[m[2]:m[3]]); host != "" {
				all = append(all, mark{at: min(m[0], len(text)), text: host})
			}
		}
	}
	return all
}

// readings returns a text as it is written, and as HTML, JavaScript and CSS read what
// is escaped in it.
func readings(text string) []string {
	all := []string{text}
	add := func(t string) {
		if t != all[len(all)-1] {
			all = append(all, t)
		}
	}
	if strings.Contains(text, "&") {
		add(html.UnescapeString(text))
	}
	if t := all[len(all)-1]; strings.Contains(t, `\`) {
		add(scriptEscape().ReplaceAllStringFunc(t, unescaped))
		if t := all[len(all)-1]; strings.Contains(t, `\`) {
			add(sheetEscape().ReplaceAllStringFunc(t, unescaped))
		}
	}
	return all
}

var (
	// scriptEscape finds characters that JavaScript, JSON and YAML write as numbers,
	// and escaped slashes and line ends.
	scriptEscape = lazy.Regexp(`(?i)\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|/|\r?\n)`)
	// sheetEscape finds characters that CSS writes as numbers.
	sheetEscape = lazy.Regexp(`(?i)\\[0-9a-f]{1,6}[ \t\n\r\f]?`)
)

// unescaped returns the character of an escape.
func unescaped(escape string) string {
	digits := strings.Trim(strings.TrimLeft(escape[1:], "xXuU{"), "} \t\r\n\f")
	if digits == "/" || digits == "" {
		return digits
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > unicode.MaxRune {
		return escape
	}
	return string(rune(n))
}

// hostName returns the host of the part of an address between its slashes, in its
// normal form; "" for names without a dot, such as localhost.
func hostName(authority string) string {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if decoded, err := url.PathUnescape(host); err == nil {
		host = decoded
	}
	host = strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r == '\u3002', r == '\uff0e', r == '\uff61': // full stops of other scripts
			return '.'
		case r >= '\uff01' && r <= '\uff5e': // wide letters
			return r - '\uff01' + '!'
		case hidden(r), r <= ' ', r == utf8.RuneError:
			return -1
		}
		return r
	}, host))
	host, _, _ = strings.Cut(host, ":")
	host = strings.Trim(host, ".*!&=+$")
	if _, err := strconv.ParseUint(host, 0, 32); err == nil && host != "" {
		return host // browsers read a number as an address
	}
	if !strings.Contains(host, ".") {
		return ""
	}
	return host
}

// address returns an address as browsers read it: without white space at its ends,
// and without tabs and line ends in it.
func address(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, s)
}

// hostsOf returns the hosts of other sites that a file sends readers or their
// browsers to: in a page not those in code blocks and spans, which are text.
func hostsOf(p string, src []byte) []mark {
	var all []mark
	add := func(text string, at int, lists bool) {
		for _, m := range hostsIn(text, lists) {
			all = append(all, mark{at: at + m.at, text: m.text})
		}
	}
	if !isPage(p) {
		add(string(src), 0, !edit.IsScript(p) && path.Ext(p) != ".css")
		return all
	}
	f, _ := mdx.Parse(src, (&site.Site{}).Syntax(p))
	mdx.Walk(f.Root, func(n *mdx.Node) bool {
		switch n.Kind {
		case mdx.Link, mdx.Image, mdx.Definition:
			add(address(n.URL), n.Pos.Offset, false)
		case mdx.ESM, mdx.Expression, mdx.InlineMath, mdx.MathBlock:
			add(n.Value, n.Pos.Offset, false)
		case mdx.CodeBlock:
			if strings.EqualFold(n.Name, "mermaid") { // a drawing has links
				add(n.Value, n.Pos.Offset, true)
			}
		case mdx.Element:
			for _, a := range n.Attrs {
				add(a.Value, a.Pos.Offset, true)
				add(address(a.Value), a.Pos.Offset, true)
			}
			add(n.Meta, n.Pos.Offset, false)
			switch strings.ToLower(n.Name) {
			case "style", "script", "mermaid", "latex":
				add(mdx.PlainText(n), n.Pos.Offset, true)
			}
		}
		return true
	})
	if yaml, _ := mdx.SplitFrontMatter(src); len(yaml) > 0 {
		add(string(yaml), bytes.Index(src, yaml), true)
	}
	return all
}
