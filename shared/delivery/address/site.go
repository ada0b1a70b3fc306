package address

import (
	"context"
	"net/url"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Site finds what answers an address where files are looked up in a storage, which
// may fail. F is the storage's handle of a file; its zero value is no file.
type Site[F comparable] struct {
	// Look returns what there is at an address: a path without slashes at its ends
	// and without dots as elements, "" for the root.
	Look func(ctx context.Context, name string) (Place[F], error)
	// Stub reports whether a file only leads elsewhere, so that a redirect may
	// answer in its place; nil if that is not known.
	Stub func(ctx context.Context, file F) (bool, error)
	// Redirects are those that Look does not return; may be nil.
	Redirects *Redirects
}

// Place has everything that is at the address x.
type Place[F comparable] struct {
	// Plain, Page and Index are the files x, x.html and x/index.html. The root has
	// an Index alone, index.html.
	Plain, Page, Index F
	// Redirects are those from this one path, in the site's order. Others among them
	// don't count.
	Redirects []bundle.Redirect
}

// Found answers an address: at most one of File and To is set.
type Found[F comparable] struct {
	// File is the file to send.
	File F
	// To is the address that the reader is sent to: escaped, and either absolute with a
	// scheme or a path from the site's root.
	To        string
	Permanent bool
}

// Find looks up the path of a request, unescaped, from the site's root on:
//
//   - x is the file x, else x.html; x/ is x/index.html.
//   - x/ leads to x where x.html is and x/index.html is no page, x leads to x/ where
//     only x/index.html is: links of a page are relative to its file.
//   - x/index.html and x/index lead to x where x.html is and x/index.html is no page:
//     it makes no difference whether a storage has the page that leads there.
//   - names of files are in Unicode's NFC, whatever form the address has.
//   - a page wins over a redirect from its own address, unless it is a page
//     that only leads elsewhere.
//   - x.html and x/index.html follow the redirects from x, after those from
//     themselves, where they are no pages.
//
// Redirects that lead to others of this site are gone through here, so that a
// reader is sent on once; those that never end lead nowhere. No name that is
// given to Look begins or ends with a slash or holds dots as an element. An error
// is Look's or Stub's, and says nothing of the address.
func (s *Site[F]) Find(ctx context.Context, urlPath, rawQuery string) (Found[F], error) {
	answer, err := s.step(ctx, urlPath, rawQuery)
	for range redirect.MaxHops {
		if err != nil || !strings.HasPrefix(answer.To, "/") {
			return answer, err
		}
		to, fragment, _ := strings.Cut(answer.To, "#")
		to, query, _ := strings.Cut(to, "?")
		to, failed := url.PathUnescape(to)
		if failed != nil {
			return answer, nil
		}
		var next Found[F]
		if next, err = s.step(ctx, to, query); err != nil {
			return Found[F]{}, err
		}
		if next.To == "" { // a page, or nothing: it is the reader's to see where
			return answer, nil
		}
		next.To = WithQuery(next.To, query)
		if fragment != "" && !strings.Contains(next.To, "#") {
			next.To += "#" + fragment // as browsers do
		}
		next.Permanent = next.Permanent && answer.Permanent
		answer = next
	}
	return Found[F]{}, nil
}

// step is Find without going on.
func (s *Site[F]) step(ctx context.Context, urlPath, rawQuery string) (Found[F], error) {
	if !strings.HasPrefix(urlPath, "/") {
		urlPath = "/" + urlPath
	}
	name := norm.NFC.String(strings.Trim(path.Clean(urlPath), "/"))
	folder := strings.HasSuffix(urlPath, "/")
	at, err := s.Look(ctx, name)
	if err != nil {
		return Found[F]{}, err
	}
	var none, file F // what decides
	beside := ""     // where the reader is sent to see it
	switch {
	case at.Plain != none && !folder:
		file = at.Plain
	case at.Page != none && !folder:
		file = at.Page
	case at.Page != none:
		if at.Index == none {
			file, beside = at.Page, "/"+name
			break
		}
		stub, err := s.stub(ctx, at.Index)
		if err != nil {
			return Found[F]{}, err
		}
		if file = at.Index; stub {
			file, beside = at.Page, "/"+name
		}
	case at.Index != none:
		file = at.Index
		if name != "" && !folder {
			beside = "/" + name + "/"
		}
	}
	answer := Found[F]{File: file}
	if beside != "" {
		answer = Found[F]{To: escapePath(beside), Permanent: true}
	}
	stub := false
	if file != none {
		if stub, err = s.stub(ctx, file); err != nil {
			return Found[F]{}, err
		}
		if !stub {
			return answer, nil
		}
	}
	source := name // the address of the file, from which redirects may lead
	if stub && file == at.Page && !folder {
		source += ".html"
	}
	return s.elsewhere(ctx, name, bare(source), at, rawQuery, answer, stub)
}

// elsewhere returns the answer at the address name where there is no page. It is the
// given one if no redirect takes its place. Redirects of a stub are from source.
func (s *Site[F]) elsewhere(ctx context.Context, name, source string, at Place[F], rawQuery string, answer Found[F], stub bool) (Found[F], error) {
	if to, permanent, ok := s.Redirects.exact(at.Redirects, name, rawQuery); ok {
		return Found[F]{To: to, Permanent: permanent}, nil
	}
	from := name
	if stub {
		from = source
	}
	if source != name { // the address of a file
		var none F
		above, err := s.Look(ctx, source)
		if err != nil {
			return Found[F]{}, err
		}
		if source != "" && above.Page != none && isIndexOf(name, source) {
			leads, err := s.stub(ctx, above.Page)
			if err != nil {
				return Found[F]{}, err
			}
			answer = Found[F]{To: escapePath("/" + source), Permanent: true}
			if !leads {
				return answer, nil
			}
			from = source
		}
		if to, permanent, ok := s.Redirects.exact(above.Redirects, source, rawQuery); ok {
			return Found[F]{To: to, Permanent: permanent}, nil
		}
	}
	if to, permanent, ok := s.Redirects.pattern(from, rawQuery); ok {
		return Found[F]{To: to, Permanent: permanent}, nil
	}
	return answer, nil
}

func (s *Site[F]) stub(ctx context.Context, file F) (bool, error) {
	if s.Stub == nil {
		return false, nil
	}
	return s.Stub(ctx, file)
}

// isIndexOf reports whether name is the folder's own file of an address.
func isIndexOf(name, address string) bool {
	rest, ok := strings.CutPrefix(name, address)
	return ok && (rest == "/index" || rest == "/index.html")
}

// bare returns the address of the file of a name.
func bare(name string) string {
	name = strings.TrimSuffix(name, ".html")
	if name == "index" {
		return ""
	}
	return strings.TrimSuffix(name, "/index")
}
