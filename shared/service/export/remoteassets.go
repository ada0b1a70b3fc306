package export

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// Pictures, fonts, styles and scripts of other hosts become files of the bundle.
// Which ones a site loads is found by their addresses in its sources, before any
// page is rendered: what is named like such a file, or is where one is
// loaded. One too many costs a file, one too few stays where it is.

// mention is where a file names an address.
type mention struct {
	address string
	file    string
	line    int
}

// remoteDir is the folder of fetched files in a bundle.
const remoteDir = "bindery/remote/"

// cssDepth is how many style sheets may load one from the next.
const cssDepth = 3

// elsewhere sees to all that a site names on other hosts: it fetches what others, nil
// for a project that allows no host, may ask for, and reports what stays there.
func elsewhere(s *site.Site, fsys *snapshot.FS, others *remotes, in admin.ExportInput) ([]mdx.Diagnostic, error) {
	var diags []mdx.Diagnostic
	if others != nil {
		if others.err != nil {
			return nil, others.err
		}
		missing, err := others.assets(s, fsys)
		if err != nil {
			return nil, gone(err)
		}
		diags = missing
	}
	diags = append(diags, s.Settle(others.reason)...)
	own, err := ownLoads(s, fsys, remote.NewHosts(in.Job.Settings.Hosts()), in.Project.Kind)
	return append(diags, own...), err
}

// ownLoads notes in the site what the policy must allow for its own scripts and style
// sheets, and reports what they load that readers don't reach.
func ownLoads(s *site.Site, fsys fs.FS, hosts remote.Hosts, kind admin.Kind) ([]mdx.Diagnostic, error) {
	outside, err := check.FindOutside(s, fsys, hosts, kind == admin.KindAirGapped)
	if err != nil {
		return nil, gone(err)
	}
	s.Sources = outside.Sources()
	return outside.Findings(), nil
}

// assets fetches what the site's sources load from allowed hosts, notes in the site
// which files of the bundle have it, and reports what stays where it is.
func (r *remotes) assets(s *site.Site, fsys *snapshot.FS) ([]mdx.Diagnostic, error) {
	found, err := r.mentions(s, fsys)
	if err != nil {
		return nil, err
	}
	// What every page is to load is reported by settle.
	named := map[mention]bool{}
	for _, o := range s.Outside {
		m := mention{address: o.Address, file: o.File, line: o.Line}
		if u, err := url.Parse(o.Address); err == nil && r.hosts.Allows(u) == "" && !named[m] {
			named[m] = true
			found = append(found, m)
		}
	}
	addresses := make([]string, 0, len(found))
	for _, m := range found {
		addresses = append(addresses, m.address)
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	sheets, err := r.withSheets(addresses)
	if err != nil {
		return nil, err
	}
	for _, f := range r.files {
		if f.Problem == "" && f.Path == "" && f.Extension != ".css" && r.files[keyOf(remote.Asset, f.Address)] == f {
			f.Stored, f.Path = f.SHA256, remoteDir+f.SHA256[:32]+f.Extension
		}
	}
	// The sheets that were found last are loaded by those before.
	for _, f := range slices.Backward(sheets) {
		data, err := r.data(f)
		if err != nil {
			return nil, err
		}
		data = r.localSheet(f.Address, data)
		f.Stored = sumOf(data)
		f.Path = remoteDir + f.Stored[:32] + f.Extension
		if err := r.steps.put(r.ctx, job.RemoteKey(r.job, f.Stored), data); err != nil {
			return nil, err
		}
	}
	var diags []mdx.Diagnostic
	for _, m := range found {
		f := r.files[keyOf(remote.Asset, m.address)]
		if f.Problem == "" {
			if further := r.beyond[m.address]; further != "" {
				diags = append(diags, mdx.Diagnostic{
					Severity: mdx.Warning, Code: "style-outside", File: m.file, Line: m.line, Column: 1,
					Message: fmt.Sprintf("the style sheet %s loads %s, and readers don't get it", remote.Shown(m.address), further),
				})
			}
			if s.Remote == nil {
				s.Remote = map[string]string{}
			}
			s.Remote[m.address] = f.Path
			continue
		}
		if named[m] {
			continue
		}
		diags = append(diags, mdx.Diagnostic{
			Severity: mdx.Warning, Code: "remote-missing", File: m.file, Line: m.line, Column: 1,
			Message: fmt.Sprintf("%s %s: readers load it from there, if they can", m.address, f.Problem),
		})
	}
	return diags, nil
}

// reason says why the bundle has no copy of what lies at an address, as the end
// of a sentence about it.
func (r *remotes) reason(address, what string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "is not an address"
	}
	var hosts remote.Hosts
	if r != nil {
		hosts = r.hosts
	}
	if problem := hosts.Allows(u); problem != "" {
		return problem
	}
	if f := r.files[keyOf(remote.Asset, address)]; f != nil && f.Problem != "" {
		return f.Problem
	}
	return "is not a " + what
}

// withSheets fetches addresses and what the style sheets among them load, and
// returns those sheets in the order of their finding.
func (r *remotes) withSheets(addresses []string) (sheets []*remoteFile, err error) {
	seen := map[string]bool{}
	for range cssDepth {
		r.fetch(remote.Asset, addresses)
		if r.err != nil {
			return nil, r.err
		}
		var next []string
		for _, a := range addresses {
			f := r.files[keyOf(remote.Asset, a)]
			if seen[a] || f.Problem != "" || f.Extension != ".css" {
				continue
			}
			seen[a] = true
			sheets = append(sheets, f)
			data, err := r.data(f)
			if err != nil {
				return nil, err
			}
			for ref := range css.Addresses(data) {
				u := within(a, ref)
				if u == nil {
					continue
				}
				if problem := r.hosts.Allows(u); problem == "" {
					next = append(next, u.String())
				} else if r.beyond[a] == "" {
					r.beyond[a] = remote.Shown(u.String()) + ", which " + problem
				}
			}
		}
		slices.Sort(next)
		if addresses = slices.Compact(next); len(addresses) == 0 {
			break
		}
	}
	return sheets, nil
}

// within returns the absolute address that a style sheet at base names, nil for none.
func within(base, ref string) *url.URL {
	if ref == "" || ref[0] == '#' || strings.HasPrefix(strings.ToLower(ref), "data:") {
		return nil
	}
	b, err := url.Parse(base)
	if err != nil {
		return nil
	}
	u, err := b.Parse(ref)
	if err != nil || u.Host == "" {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	return u
}

// localSheet returns a fetched style sheet in which what is fetched too is named
// as the file beside it that it is, all else by its whole address.
func (r *remotes) localSheet(base string, data []byte) []byte {
	return css.RewriteURLs(data, func(ref string) (string, bool) {
		u := within(base, ref)
		if u == nil {
			return "", false
		}
		if f := r.files[keyOf(remote.Asset, u.String())]; f != nil && f.Problem == "" && f.Path != "" {
			return path.Base(f.Path), true
		}
		return u.String(), true
	})
}

// siteSheet returns the site's own style sheet name with the addresses that it
// has in a bundle: those from the site's root are relative to it, so that they
// hold in a folder and under a path, and those of files that the bundle has
// copies of name the copies.
func siteSheet(s *site.Site, name string, data []byte) []byte {
	return css.RewriteURLs(data, func(address string) (string, bool) {
		if len(address) > 1 && address[0] == '/' && address[1] != '/' { // else another host
			t := s.Resolve(-1, address)
			if t.Kind != site.External {
				return site.Rel(name, t.Path) + t.AfterPath(), true
			}
			address = t.Href
		} else if len(s.Renamed) > 0 && address != "" && address[0] != '#' && !strings.Contains(address, ":") && address[0] != '/' {
			t := s.Resolve(-1, path.Join("/", path.Dir(s.SourceOf(name)), address))
			if t.Kind == site.ToFile {
				return site.Rel(name, t.Path) + t.AfterPath(), true
			}
		}
		whole, fragment, marked := strings.Cut(address, "#")
		if to, ok := s.Remote[whole]; ok {
			if address = site.Rel(name, to); marked {
				address += "#" + fragment
			}
		}
		return address, true
	})
}

// mentions finds the addresses on allowed hosts that the site's sources load, in
// the order of files and lines: in the configuration, pages of the bundle,
// snippets and style sheets.
func (r *remotes) mentions(s *site.Site, fsys *snapshot.FS) ([]mention, error) {
	left := map[string]bool{} // sources that nothing in the bundle is made from
	for _, w := range s.Withheld {
		left[w.Source] = true
	}
	for i := range s.Pages {
		if s.Pages[i].Excluded {
			left[s.Pages[i].Source] = true
		}
	}
	var names []string
	for _, name := range fsys.Paths() {
		switch path.Ext(name) {
		case ".mdx", ".md", ".jsx", ".tsx", ".css":
		case ".json":
			if e, ok := fsys.Entry(name); name != s.ConfigFile && (!ok || slices.Contains(s.Files, name) || e.Size > maxScanned) {
				continue // a file of readers', or a part of the configuration
			}
		default:
			continue
		}
		if e, ok := fsys.Entry(name); ok && e.Size <= maxScanned && !left[name] {
			names = append(names, name)
		}
	}
	var out []mention
	err := fsys.Each(names, func(name string, data []byte) error {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		out = append(out, r.scan(name, data)...)
		return nil
	})
	slices.SortFunc(out, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.address, b.address))
	})
	return slices.Compact(out), err
}

// maxScanned is the size of files up to which they are looked through.
const maxScanned = 4 << 20

// loaded matches the text before an address that is loaded.
var loaded = lazy.Regexp(`(?i)(?:!\[[^\]\n]*\]\(\s*<?|["']?\b(?:src|poster|img|image|icon|light|dark|source|logo|favicon)["']?\s*[=:]\s*\{?\s*["'` + "`" + `]?|url\(\s*["']?|@import\s+["'])$`)

// scan finds the addresses that one file loads. Code blocks load nothing.
func (r *remotes) scan(name string, data []byte) []mention {
	if !bytes.Contains(data, []byte("https://")) {
		return nil
	}
	var out []mention
	prose, fence := strings.HasSuffix(name, ".mdx") || strings.HasSuffix(name, ".md"), ""
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if prose {
			trimmed := strings.TrimLeft(string(text), " \t>")
			mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
			switch {
			case fence != "":
				if strings.HasPrefix(mark, fence) && strings.TrimSpace(trimmed[len(mark):]) == "" {
					fence = ""
				}
				continue
			case len(mark) >= 3:
				fence = mark
				continue
			}
		}
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte("https://"))
			if i < 0 {
				break
			}
			at += i
			end := bytes.IndexAny(text[at:], " \t\r\n\"'`<>(){}[]\\|^,")
			if end < 0 {
				end = len(text) - at
			}
			address, _, _ := strings.Cut(html.UnescapeString(string(text[at:at+end])), "#")
			before := text[max(0, at-300):at]
			at += end
			u, err := url.Parse(address)
			if err != nil || r.hosts.Allows(u) != "" || !remote.NamesAsset(u) && !loaded().Match(before) {
				continue
			}
			out = append(out, mention{address: address, file: name, line: line})
		}
	}
	return out
}
