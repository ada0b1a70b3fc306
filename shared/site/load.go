package site

import (
	"context"
	"io/fs"

	"github.com/bindery-docs/bindery/shared/mdx"
)

// Options say how to read a site.
type Options struct {
	// Domain is the host name that the site is published under.
	Domain string
	// Prefixes, if any, are the addresses whose pages are wanted: a page is
	// when its address is one of them or lies below it.
	Prefixes []string
}

// Load reads a site from fsys. paths are all its files, sorted. What is wrong
// with single pages or fields is returned as diagnostics; the error is a
// *ConfigError when the site can't be used at all, or what fsys or ctx said.
func Load(ctx context.Context, fsys fs.FS, paths []string, opt Options) (*Site, []mdx.Diagnostic, error) {
	return load(ctx, fsys, paths, opt)
}

func load(ctx context.Context, fsys fs.FS, paths []string, opt Options) (*Site, []mdx.Diagnostic, error) {
	return &Site{Domain: opt.Domain, Prefixes: opt.Prefixes, Nav: &Node{Kind: KindRoot, Page: -1, Root: -1}}, nil, ctx.Err()
}
