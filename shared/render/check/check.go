package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
)

// MaxPageBytes is the largest source of a page that is read, in bytes. No author
// wrote a larger one.
const MaxPageBytes = 16 << 20

// Options configure a check. The zero value runs no script of the site's authors and
// makes no request.
type Options struct {
	// Paths are all files of the site, sorted; nil means all regular files of the
	// file system.
	Paths []string
	// Refused are further files, which can't be published, each with the reason.
	Refused []Refused
	// Domain is the host name that the site is published under; links to it are
	// links within the site.
	Domain string
	// Groups are as in site.Options: the readers who are let in.
	Groups []string
	// Rules, if not nil, replace the site's own, which are then not even checked,
	// and comments silence nothing: whoever may change those must not choose what
	// is found.
	Rules Rules
	// Islands runs the JavaScript of pages; nil runs none, and pages that need
	// some are in Report.NotChecked.
	Islands page.Islands
	// Features, if not nil, are what the site's project allows and names, on which
	// some findings depend. Nil means that the project is unknown.
	Features *frame.Features
	// AirGapped is set for a bundle whose readers have no network.
	AirGapped bool
	// Tools, if not nil, are shared with other checks, so that a later one need not
	// draw the same diagrams again.
	Tools *Tools
	// Fix makes Report.Fixes.
	Fix bool
	// Indented finds files of the configuration that are not indented as they nest,
	// which is of no matter to a bundle.
	Indented bool
	// External, if not nil, asks whether links to other sites lead anywhere.
	External *External
	// Concurrency is how many pages are checked at the same time; 0 means
	// GOMAXPROCS.
	Concurrency int
	// Log receives what does not concern authors; nil discards it.
	Log *slog.Logger
}

// Refused is a file that is left out because it can't be read, and why, as a phrase.
type Refused struct{ Path, Reason string }

// Tools can be shared by checks of any sites. They are safe for concurrent use.
type Tools struct {
	scripts     *script.Engine
	diagrams    *diagram.Drawer
	highlighter *highlight.Highlighter
	registry    *component.Registry
	icons       *icons.Set
}

// NewTools returns Tools, which cost nothing until they are needed.
func NewTools(log *slog.Logger) *Tools {
	return &Tools{
		scripts: script.New(), diagrams: diagram.New(), highlighter: highlight.New(highlight.Options{}),
		registry: component.Builtin(), icons: icons.New(),
	}
}

// Report is what a check found.
type Report struct {
	// Findings are in the order of a bundle's list: those of the configuration,
	// then those of the pages by their paths, then those of all pages together.
	Findings []Finding
	// Counts include findings that Findings have no room for.
	Counts Counts
	// Pages is how many pages were checked.
	Pages int
	// Fixes are what Options.Fix asks for, by file and place.
	Fixes []Fix
	// NotAsked is how many addresses of other sites were not asked for in time.
	NotAsked int
	// NotChecked are the sources, sorted, of pages that need JavaScript which was
	// not run. Their other parts are checked; links to places on them are taken to
	// be good.
	NotChecked []string
}

// Site checks the site in fsys. What is wrong with the site is in the report, even if
// no bundle can be made of it. Errors are about reading files, running scripts or the
// end of ctx.
func Site(ctx context.Context, fsys fs.FS, opt Options) (*Report, error) {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Tools == nil {
		opt.Tools = NewTools(opt.Log)
	}
	if opt.Paths == nil {
		var err error
		if opt.Paths, err = pathsOf(fsys); err != nil {
			return nil, err
		}
	}
	own := &ruleReader{rules: opt.Rules}
	if own.rules == nil {
		var err error
		if own, err = readRules(fsys); err != nil {
			return nil, err
		}
	}
	specs := reference.NewReader(fsys)
	specs.LetIn(opt.Groups)
	loaded, found, err := site.Load(ctx, fsys, opt.Paths, site.Options{
		Domain: opt.Domain, Groups: opt.Groups, Reference: specs, Publish: own.publish,
	})
	var refused []mdx.Diagnostic
	for _, f := range opt.Refused {
		refused = append(refused, mdx.Diagnostic{Severity: mdx.Warning, Code: "file-refused", File: f.Path, Message: "the file is left out: " + f.Reason})
	}
	if unusable, ok := errors.AsType[*site.ConfigError](err); ok {
		return unusableSite(unusable, own.rules, append(refused, own.faults...)), nil
	}
	if err != nil {
		return nil, err
	}
	pale, err := Contrast(loaded, fsys)
	if err != nil {
		return nil, err
	}
	broken, err := BrokenFiles(loaded, fsys)
	if err != nil {
		return nil, err
	}
	settled := loaded.Settle(notFetched)
	outside, err := FindOutside(loaded, fsys, remote.Hosts{}, opt.AirGapped)
	if err != nil {
		return nil, err
	}
	c := &checker{
		Options: opt, fs: fsys, site: loaded, rules: own.rules, ignored: own.ignored, specs: specs,
		found: slices.Concat(refused, found, settled, outside.Findings(), Navigation(loaded), pale, own.faults, broken),
	}
	return c.report(ctx)
}

// pathsOf lists the regular files of a file system, sorted.
func pathsOf(fsys fs.FS) ([]string, error) {
	var paths []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, p)
		}
		return err
	})
	slices.Sort(paths) // the walk sorts the names of each folder
	return paths, err
}

// unusableSite is the report about a site that no bundle can be made of.
func unusableSite(e *site.ConfigError, rules Rules, found []mdx.Diagnostic) *Report {
	list := NewList(&site.Site{ConfigFile: e.File}, rules)
	list.Add(mdx.Diagnostic{Severity: mdx.Error, Code: "config-unusable", File: e.File, Line: e.Line, Column: e.Column, Message: e.Message})
	for _, d := range found {
		list.Add(d)
	}
	r := new(Report)
	r.finish(list)
	return r
}

// finish completes the report with what the list has.
func (r *Report) finish(list *List) {
	r.Counts, _ = list.Finish(func(f Finding) error { // which never fails
		r.Findings = append(r.Findings, f)
		return nil
	})
}

// notFetched returns why a check doesn't have the file at an address.
func notFetched(address, what string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "is not an address"
	}
	if problem := (remote.Hosts{}).Allows(u); problem != "" {
		return problem
	}
	return "is not a " + what
}

// checker checks one site.
type checker struct {
	Options
	fs    fs.FS
	site  *site.Site
	rules Rules
	// ignored are those of ruleFile.
	ignored []*regexp.Regexp
	specs   *reference.Reader
	found   []mdx.Diagnostic // of the site as a whole
	pages   *page.Renderer
	facts   []pageFacts
}

// pageFacts is the result of checking one page.
type pageFacts struct {
	Facts
	classes []string
	links   []page.Ref // if there are fixes to be made
	outside []page.Ref // if other sites are asked
}

// report checks all pages and joins their findings.
func (c *checker) report(ctx context.Context) (*Report, error) {
	if err := c.inspect(ctx); err != nil {
		return nil, err
	}
	list := NewList(c.site, c.rules)
	notices, err := frame.FontNotices(c.site)
	if c.Features != nil {
		notices, err = frame.Notices(c.site, *c.Features)
	}
	if err != nil {
		return nil, err
	}
	c.found = append(notices, c.found...)
	indent, err := c.indentation()
	if err != nil {
		return nil, err
	}
	for _, d := range append(c.found, c.specs.Diagnostics()...) {
		list.Add(d)
	}
	r := &Report{Pages: len(c.facts)}
	for i := range c.facts {
		f := &c.facts[i]
		list.AddPage(&f.Facts)
		if f.unknown {
			r.NotChecked = append(r.NotChecked, c.site.Pages[f.Page].Source)
		}
	}
	slices.Sort(r.NotChecked)
	if c.Fix {
		if r.Fixes, err = c.fixes(indent); err != nil {
			return nil, err
		}
	}
	if r.NotAsked, err = c.external(ctx, list); err != nil {
		return nil, err
	}
	if err := c.unknownClasses(ctx, list); err != nil {
		return nil, err
	}
	if len(c.facts) == 0 {
		list.Add(mdx.Diagnostic{Severity: mdx.Error, Code: "config-unusable", File: c.site.ConfigFile, Message: "the site has no pages"})
	}
	r.finish(list)
	return r, nil
}

// inspect checks all pages, several at a time. Their parts of specifications are cut
// one after another, because they share a budget.
func (c *checker) inspect(ctx context.Context) error {
	c.pages = page.New(page.Options{
		Site: c.site, FS: c.site.Readable(c.fs), Highlighter: c.Tools.highlighter, Registry: c.Tools.registry, Log: c.Log,
		Icons: libraryIcons{c.Tools.icons, c.site.Config.Icons.Library}, Diagrams: c.Tools.diagrams.For(c.site.Config.Fonts.Body.Family, c.site.Config.Fonts.Body.Source), Formulas: c.Tools.scripts, Islands: c.Islands,
		AirGapped: c.AirGapped, Outside: c.External != nil,
	})
	for i := range c.site.Pages {
		if !c.site.Pages[i].Excluded {
			c.facts = append(c.facts, pageFacts{Facts: Facts{Page: i}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	if c.Concurrency <= 0 {
		c.Concurrency = runtime.GOMAXPROCS(0)
	}
	group.SetLimit(c.Concurrency)
	for i := range c.facts {
		if ctx.Err() != nil {
			break
		}
		f := &c.facts[i]
		slice := c.slice(f.Page)
		group.Go(func() error { return c.page(ctx, f, slice) })
	}
	return group.Wait()
}

// slice returns the part of a specification that a page shows, nil for none.
func (c *checker) slice(i int) *reference.Slice {
	ref := c.site.Pages[i].Reference
	if ref == nil {
		return nil
	}
	spec := c.specs.Spec(ref.File)
	if spec == nil {
		return nil
	}
	o := spec.Find(ref.Key)
	if o == nil {
		return nil
	}
	return c.specs.Slice(spec, o)
}

// page checks one page. A panic of ours becomes a finding.
func (c *checker) page(ctx context.Context, f *pageFacts, slice *reference.Slice) (err error) {
	p := &c.site.Pages[f.Page]
	failed := func(reason string) { f.Diagnostics = []mdx.Diagnostic{PageFailed(p, reason)} }
	defer func() {
		if v := recover(); v != nil {
			c.Log.ErrorContext(ctx, "a page panicked", "page", p.Source, "panic", v, "stack", string(debug.Stack()))
			failed("the renderer met a fault on this page")
			err = nil
		}
	}()
	if p.Size > MaxPageBytes {
		failed(fmt.Sprintf("the page has more than %d MiB", MaxPageBytes>>20))
		return nil
	}
	res, err := c.pages.Inspect(ctx, f.Page, slice)
	if ended, ok := errors.AsType[*island.Ended](err); ok {
		failed(ended.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if c.Options.Rules != nil {
		res.Ignores = nil
	}
	f.Facts = FactsOf(c.site, f.Page, res)
	f.classes, f.outside = res.Classes, res.Outside
	if c.Fix {
		f.links = res.Links
	}
	if res.Unrun {
		f.unknown = true
		f.Diagnostics = slices.DeleteFunc(f.Diagnostics, func(d mdx.Diagnostic) bool { return d.Code == "script-needed" })
	}
	return nil
}

// unknownClasses adds the findings about class names on pages. The compiler of
// utilities, which is slow to start, is asked only for names that no other style
// sheet has a rule for.
func (c *checker) unknownClasses(ctx context.Context, list *List) error {
	set := map[string]struct{}{}
	for i := range c.facts {
		for _, name := range c.facts[i].classes {
			set[name] = struct{}{}
		}
	}
	if len(set) == 0 {
		return nil
	}
	sheets, err := frame.Sheets(c.site)
	if err != nil {
		return err
	}
	names := strangers(c.site, c.fs, sheets, slices.Sorted(maps.Keys(set)))
	if len(names) == 0 {
		return nil
	}
	_, unknown, err := c.Tools.scripts.Utilities(ctx, names)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.Log.LogAttrs(ctx, slog.LevelError, "utility classes got no styles", slog.Any("error", err))
		list.Add(ClassesFailed(c.site))
	}
	if d, ok := ClassesUnknown(c.site, c.fs, sheets, unknown); ok {
		list.Add(d)
	}
	return nil
}

// libraryIcons finds icons as the theme does.
type libraryIcons struct {
	set     *icons.Set
	library string
}

// Icon satisfies component.Icons.
func (l libraryIcons) Icon(name, library, style string) (string, bool) {
	return l.set.SVG(name, cmp.Or(library, l.library), style)
}

// Pro satisfies component.ProIcons.
func (l libraryIcons) Pro(name string) bool { return l.set.Pro(name) }

// Names satisfies component.IconNames.
func (l libraryIcons) Names() []string { return l.set.Names() }
