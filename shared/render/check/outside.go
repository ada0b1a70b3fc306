package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// maxOwn is the size up to which a site's own style sheets and scripts are looked
// through, in bytes.
const maxOwn = 4 << 20

// Outside is what a site's own scripts and style sheets load from other hosts when
// they run in a browser: a bundle has no copy of it.
type Outside struct {
	loads     []load
	config    []mdx.Diagnostic
	hosts     remote.Hosts
	airGapped bool
}

// The codes of findings about them.
const (
	scriptOutside = "script-outside"
	styleOutside  = "style-outside"
)

// load is one address of one file.
type load struct {
	file, code, address, directive string
	line                           int
	url                            *url.URL
	more                           int // further addresses of the same host and directive in the file
}

// FindOutside looks through the site's own scripts and style sheets. hosts are those
// that its project allows; readers of an air-gapped bundle reach none. The error is
// about reading a file.
func FindOutside(s *site.Site, fsys fs.FS, hosts remote.Hosts, airGapped bool) (*Outside, error) {
	out := &Outside{hosts: hosts, airGapped: airGapped}
	readable := s.Readable(fsys)
	if err := out.settings(s, readable); err != nil {
		return nil, err
	}
	for _, names := range [][]string{s.Styles, s.Scripts} {
		for _, name := range names {
			if !slices.Contains(s.Files, name) { // a copy of another host's
				continue
			}
			name := s.SourceOf(name)
			if info, err := fs.Stat(readable, name); err != nil || info.Size() > maxOwn {
				continue
			}
			data, err := fs.ReadFile(readable, name)
			if err != nil {
				return nil, err
			}
			if path.Ext(name) == ".css" {
				out.sheet(s, name, data)
			} else {
				out.script(name, data)
			}
		}
	}
	return out, nil
}

// reaches reports whether readers may load an address.
func (o *Outside) reaches(u *url.URL) bool { return !o.airGapped && o.hosts.Allows(u) == "" }

// settings looks through the pictures and fonts of the configuration.
func (o *Outside) settings(s *site.Site, fsys fs.FS) error {
	c := &s.Config
	addresses := []string{
		c.Logo.Light, c.Logo.Dark, c.Favicon.Light, c.Favicon.Dark, c.Background.ImageLight, c.Background.ImageDark,
		c.Fonts.Body.Source, c.Fonts.Heading.Source,
	}
	for i := range c.SEO.Metatags {
		if m := &c.SEO.Metatags[i]; m.Picture() {
			addresses = append(addresses, m.Content)
		}
	}
	var data []byte
	seen := map[string]bool{}
	for _, a := range addresses {
		if absolute(a) == "" || seen[a] || s.Resolve(-1, a).Kind != site.External {
			continue
		}
		seen[a] = true
		if data == nil {
			var err error
			if data, err = fs.ReadFile(fsys, s.ConfigFile); err != nil {
				return err
			}
		}
		line, why := 1, "the bundle has no copy, and readers load it from there, if they can"
		if i := bytes.Index(data, []byte(a)); i >= 0 {
			line += bytes.Count(data[:i], []byte{'\n'})
		}
		if o.airGapped {
			why = "the bundle is for readers without a network, who don't see it"
		}
		o.config = append(o.config, mdx.Diagnostic{
			Severity: mdx.Notice, Code: "asset-outside", File: s.ConfigFile, Line: line, Column: 1,
			Message: fmt.Sprintf("pages load %s from another host: %s", remote.Shown(a), why),
		})
	}
	return nil
}

// Findings returns what the configuration names on other hosts, and one finding for
// each host that a file loads something from, and that readers don't reach.
func (o *Outside) Findings() []mdx.Diagnostic {
	diags := slices.Clone(o.config)
	for _, l := range o.loads {
		if o.reaches(l.url) {
			continue
		}
		what, more, why := "script", "", "it "+o.hosts.Allows(l.url)+", and the bundle's content security policy stops it"
		if l.code == styleOutside {
			what = "style sheet"
		}
		if l.more > 0 {
			more = fmt.Sprintf(", and %d more from there", l.more)
		}
		if o.airGapped {
			why = "the readers have no network"
		}
		diags = append(diags, mdx.Diagnostic{
			Severity: mdx.Warning, Code: l.code, File: l.file, Line: l.line, Column: 1,
			Message: fmt.Sprintf("the %s loads %s%s: %s", what, remote.Shown(l.address), more, why),
		})
	}
	return diags
}

// Sources returns the hosts that readers may reach, by the directive of a content
// security policy that must name them; nil for none.
func (o *Outside) Sources() map[string][]string {
	var sources map[string][]string
	for _, l := range o.loads {
		if origin := l.url.Scheme + "://" + l.url.Host; o.reaches(l.url) && !slices.Contains(sources[l.directive], origin) {
			if sources == nil {
				sources = map[string][]string{}
			}
			sources[l.directive] = append(sources[l.directive], origin)
			slices.Sort(sources[l.directive])
		}
	}
	return sources
}

// add notes an address at an offset of a file.
func (o *Outside) add(file, code, directive, address string, data []byte, at int) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return
	}
	u.Host = strings.ToLower(u.Host)
	for i := range o.loads {
		if l := &o.loads[i]; l.file == file && l.directive == directive && l.url.Host == u.Host && l.url.Scheme == u.Scheme {
			l.more++
			return
		}
	}
	o.loads = append(o.loads, load{
		file: file, code: code, directive: directive, address: address, url: u, line: 1 + bytes.Count(data[:at], []byte{'\n'}),
	})
}

// absolute returns an address with its scheme, "" for one that is on no other host.
func absolute(address string) string {
	if strings.HasPrefix(address, "//") {
		return "https:" + address
	}
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}

// sheet looks through a style sheet. What the bundle has a copy of is not loaded from elsewhere.
func (o *Outside) sheet(s *site.Site, name string, data []byte) {
	for load := range css.Loads(data) {
		whole, _, _ := strings.Cut(load.Address, "#")
		address := absolute(whole)
		if address == "" || s.Remote[whole] != "" || s.Remote[address] != "" {
			continue
		}
		directive, ext := "img-src", strings.ToLower(path.Ext(strings.SplitN(address, "?", 2)[0]))
		switch {
		case load.Sheet:
			directive = "style-src"
		case slices.Contains([]string{".woff2", ".woff", ".ttf", ".otf"}, ext):
			directive = "font-src"
		}
		o.add(name, styleOutside, directive, address, data, load.Offset)
	}
}

// What stands before a string in a script that loads what it names.
var (
	exports = lazy.Regexp(`(?m)^[ \t]*export[ \t]+(?:default|const|let|var|function|class|async|\{|\*)|^[ \t]*import[ \t]+(?:["'{*]|\w+[ \t]*(?:,|from\b))`)
	nodes   = lazy.Regexp(`\brequire\([ \t]*["']|\bmodule\.exports\b`)
	// bothWorlds matches scripts that check whether they run in Node.js.
	bothWorlds = lazy.Regexp(`\btypeof[ \t(]+(?:exports|module|require|define)\b|\bdefine\.amd\b`)
	imports    = lazy.Regexp(`\b(?:import|importScripts)\s*\(\s*$|\b(?:from|import)\s*$`)
	calls      = lazy.Regexp(`\b(?:fetch|sendBeacon|EventSource)\s*\(\s*$|\.open\(\s*["'][A-Za-z]+["']\s*,\s*$`)
	setsSrc    = lazy.Regexp(`\bsrc["']?\s*[:=]\s*$|\(\s*["']src["']\s*,\s*$`)
	anScript   = lazy.Regexp("[\"'`]script[\"'`]")
	anFrame    = lazy.Regexp("[\"'`]iframe[\"'`]")
)

// script looks through a script.
func (o *Outside) script(name string, data []byte) {
	o.module(name, data)
	for at, text := range literals(data) {
		address := absolute(text)
		if address == "" {
			continue
		}
		// The host must be written out; what follows may be put together.
		fixed, _, open := strings.Cut(address, "${")
		u, err := url.Parse(fixed)
		if err != nil || !strings.Contains(u.Host, ".") || open && u.Path == "" {
			continue
		}
		if directive := directiveOf(address, bytes.TrimRight(data[max(0, at-80):at], " \t\r\n"), data); directive != "" {
			o.add(name, scriptOutside, directive, fixed, data, at)
		}
	}
}

// module reports a script that fails on every page because it is a module or needs
// Node.js.
func (o *Outside) module(name string, data []byte) {
	what, at := "a module", exports().FindIndex(data)
	if node := nodes().FindIndex(data); at == nil && node != nil && !bothWorlds().Match(data) {
		what, at = "a script for Node.js", node
	}
	if at == nil {
		return
	}
	begin := at[0] + len(data[at[0]:at[1]]) - len(bytes.TrimLeft(data[at[0]:at[1]], " \t\r\n"))
	line := 1 + bytes.Count(data[:begin], []byte{'\n'})
	o.config = append(o.config, mdx.Diagnostic{
		Severity: mdx.Warning, Code: "script-module", File: name, Line: line, Column: begin - bytes.LastIndexByte(data[:begin], '\n'),
		Message: fmt.Sprintf("pages load all scripts of the site as classic ones, and this is %s, which fails in browsers: list it in .mintignore, or put it into snippets/ if pages import it", what),
	})
}

// directiveOf returns the directive that governs what a script loads from an address
// by the code before it, "" where it seems to load nothing.
func directiveOf(address string, before, script []byte) string {
	address, _, _ = strings.Cut(address, "?")
	ext := strings.ToLower(path.Ext(address))
	switch {
	case imports().Match(before), ext == ".js", ext == ".mjs":
		return "script-src"
	case ext == ".css":
		return "style-src"
	case calls().Match(before):
		return "connect-src"
	case !setsSrc().Match(before):
		return ""
	case slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico"}, ext):
		return "img-src"
	case anScript().Match(script):
		return "script-src"
	case anFrame().Match(script):
		return "frame-src"
	}
	return ""
}

// literals yields the strings of a script with the offsets of their quotes.
// Comments and regular expressions hold none.
func literals(src []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		last := byte('(') // the last sign of code: after some a slash begins an expression
		for i := 0; i < len(src); i++ {
			c := src[i]
			switch {
			case c == ' ' || c == '\t' || c == '\n' || c == '\r':
				continue
			case c == '/' && bytes.HasPrefix(src[i:], []byte("//")):
				i += lineEnd(src[i:])
				continue
			case c == '/' && bytes.HasPrefix(src[i:], []byte("/*")):
				end := bytes.Index(src[i+2:], []byte("*/"))
				if end < 0 {
					return
				}
				i += 2 + end + 1
				continue
			case c == '"' || c == '\'' || c == '`' || c == '/' && strings.IndexByte("(,=:[!&|?{};\n", last) >= 0:
				end := closing(src[i+1:], c)
				if c != '/' && !yield(i, string(src[i+1:i+1+end])) {
					return
				}
				i += 1 + end
			}
			last = c
		}
	}
}

func lineEnd(src []byte) int {
	if n := bytes.IndexByte(src, '\n'); n >= 0 {
		return n
	}
	return len(src)
}

// closing returns the offset of the quote that ends a string, or of the line's end,
// which ends all but templates.
func closing(src []byte, quote byte) int {
	set := false // in a set of a regular expression
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
		case c == '\n' && quote != '`':
			return i
		case quote == '/' && (c == '[' || c == ']'):
			set = c == '['
		case c == quote && !set:
			return i
		}
	}
	return len(src)
}
