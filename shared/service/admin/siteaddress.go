package admin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Sites has the address below which an installation serves sites.
type Sites struct {
	// URL has the scheme and the host below which each site has a host of its own, such as
	// http://localhost:8787. Empty if no sites are served.
	URL string
	// Key signs links to exports that are not public.
	Key []byte
}

// PreviewLife is the life of a link to an export, and of the cookie that a browser gets by it.
const PreviewLife = 8 * time.Hour

// PreviewPath is the path of links to exports. No site has a file there: the folder is
// the theme's.
const PreviewPath = "/bindery/open"

// maxLabel is the most bytes of a label of a host name (RFC 1035, 2.3.4).
const maxLabel = 63

// Slug is the label of the host of a project's live site: its domain with hyphens, and the
// random part of its identifier, which nobody guesses. It is never the label of an export.
func (p Project) Slug() string {
	_, random, _ := strings.Cut(p.ID, "_")
	name := strings.ReplaceAll(p.Domain, ".", "-")
	name = strings.Trim(name[:max(0, min(len(name), maxLabel-1-len(random)))], "-")
	switch name {
	case "":
		return random
	case idExport:
		name += "-site"
	}
	return name + "-" + random
}

// projectOfSlug returns the identifier of the project that a slug may be of.
func projectOfSlug(slug string) string {
	return idProject + "_" + slug[strings.LastIndex(slug, "-")+1:]
}

// jobLabel is the label of the host of an export.
func jobLabel(id string) string { return strings.ReplaceAll(id, "_", "-") }

// SiteURL is the address of a project's live site, with a slash at its end; empty if no
// sites are served.
func (s *Service) SiteURL(p Project) string { return s.siteURL(p.Slug()) }

func (s *Service) siteURL(label string) string {
	scheme, host, ok := strings.Cut(s.opt.Sites.URL, "://")
	if !ok {
		return ""
	}
	return scheme + "://" + label + "." + host + "/"
}

// PreviewLink returns a link by which a person of the caller's organisation opens a completed
// export in a browser. It can be used again until it ends, after PreviewLife. It is empty
// if no sites are served, and for an archive of an older release, which has no index.
// It returns CodeNotFound, CodeJobRunning, CodeJobFailed or CodeBundleGone.
func (s *Service) PreviewLink(ctx context.Context, c Caller, jobID string) (string, error) {
	j, err := s.callersJob(ctx, c, jobID)
	if err != nil {
		return "", err
	}
	if err := s.bundleThere(ctx, j); err != nil {
		return "", err
	}
	base := s.siteURL(jobLabel(j.ID))
	if base == "" || j.Bundle.Index == "" || len(s.opt.Sites.Key) == 0 {
		return "", nil
	}
	return strings.TrimSuffix(base, "/") + PreviewPath + "?token=" + url.QueryEscape(s.previewToken(jobLabel(j.ID), s.now().Add(PreviewLife))), nil
}

// previewToken lets its bearer read an export until a time: the time in Unix seconds and a
// signature of it and the host's label.
func (s *Service) previewToken(label string, end time.Time) string {
	text := strconv.FormatInt(end.Unix(), 10)
	mac := hmac.New(sha256.New, s.opt.Sites.Key)
	mac.Write([]byte("preview\n" + s.opt.Sites.URL + "\n" + label + "\n" + text))
	return text + "." + hex.EncodeToString(mac.Sum(nil))
}

// CheckPreview returns the end of a token for the host of a label, or false if it was not made
// for that host, or has ended.
func (s *Service) CheckPreview(label, token string) (time.Time, bool) {
	if len(s.opt.Sites.Key) == 0 {
		return time.Time{}, false
	}
	text, _, _ := strings.Cut(token, ".")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	end := time.Unix(seconds, 0)
	return end, hmac.Equal([]byte(token), []byte(s.previewToken(label, end))) && s.now().Before(end)
}

// Served is a bundle that is served as a site.
type Served struct {
	Job    string
	Bundle Bundle
	// Until is the time at which a version was replaced; zero for the live one
	// and for exports on hosts of their own.
	Until time.Time
}

// ServedJob returns the bundle of the export that has the host of a label. It returns
// CodeNotFound, also if the bundle has no index or the project has ended, or the error of a job without a bundle:
// CodeJobRunning, CodeJobFailed or CodeBundleGone.
func (s *Service) ServedJob(ctx context.Context, label string) (Served, error) {
	if !IsJobLabel(label) {
		return Served{}, notFound("export job")
	}
	j, err := s.job(ctx, idExport+"_"+label[len(idExport)+1:])
	if err == nil {
		var p Project
		if p, err = s.GetProject(ctx, j.Project); err == nil && !p.RevokedAt.IsZero() {
			err = notFound("export job")
		}
	}
	if err == nil {
		err = s.bundleThere(ctx, j)
	}
	if err != nil {
		return Served{}, err
	}
	return j.served()
}

// IsJobLabel reports whether a label is that of the host of an export.
func IsJobLabel(label string) bool {
	random, ok := strings.CutPrefix(label, idExport+"-")
	return ok && random != "" && !strings.Contains(random, "-")
}

func (s *Service) served(ctx context.Context, id string) (Served, error) {
	j, err := s.job(ctx, id)
	if err != nil {
		return Served{}, err
	}
	return j.served()
}

func (j ExportJob) served() (Served, error) {
	if j.Bundle == nil || j.Bundle.Index == "" {
		return Served{}, notFound("export job")
	}
	return Served{Job: j.ID, Bundle: *j.Bundle}, nil
}

// LiveAt returns the job that is live on the host of a slug, and the number of its move. It
// returns CodeNotFound if no project has that slug, or nothing is live.
func (s *Service) LiveAt(ctx context.Context, slug string) (LiveMove, error) {
	id := projectOfSlug(slug)
	if !validID(id) {
		return LiveMove{}, notFound("site")
	}
	l, _, err := readOr[liveRecord](ctx, s, liveKey(id))
	if err == nil && (l.Move.N == 0 || !l.EndedAt.IsZero()) {
		err = notFound("site")
	}
	if err != nil {
		return LiveMove{}, err
	}
	if want := (Project{ID: id, Domain: l.Move.Domain}).Slug(); want != slug {
		return LiveMove{}, notFound("site")
	}
	return l.Move, nil
}

// ServedLive returns the bundle of a move that LiveAt returned.
// It returns CodeNotFound if its archive has no index.
func (s *Service) ServedLive(ctx context.Context, m LiveMove) (Served, error) {
	return s.served(ctx, m.Job)
}

// ReplacedSince returns the bundles that were live on the host of a slug before a move, until
// a time or later, the latest first: those of moves that still hold their archives.
func (s *Service) ReplacedSince(ctx context.Context, slug string, m LiveMove, since time.Time) ([]Served, error) {
	var all []Served
	for until, last := m.At, m.N-pinnedMoves; m.N > max(1, last+1) && !until.Before(since); until = m.At {
		before, _, err := read[LiveMove](ctx, s, liveMoveKey(projectOfSlug(slug), m.N-1))
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		m = before
		switch served, err := s.served(ctx, m.Job); {
		case CodeOf(err) == CodeNotFound:
		case err != nil:
			return nil, err
		default:
			served.Until = until
			all = append(all, served)
		}
	}
	return all, nil
}
