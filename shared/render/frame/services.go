package frame

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/render/theme/analytics"
)

// services are what a bundle's pages have of services in the network: what the
// features allow, and the publisher or the site names. Nothing else is loaded.
type services struct {
	analytics *analytics.Script // nil for none
	assistant string            // its address as configured, empty for none
	ratings   string            // where ratings are sent, empty for nowhere
	notices   []mdx.Diagnostic  // what authors should know
}

// Notices returns what authors should know of the services that a bundle's pages
// have or lack. Its errors are faults of our own.
func Notices(s *site.Site, features Features) ([]mdx.Diagnostic, error) {
	v, err := newServices(s, features)
	return v.notices, err
}

// FontNotices reports the fonts of a site that no bundle has. Its errors are
// faults of our own.
func FontNotices(s *site.Site) (out []mdx.Diagnostic, err error) {
	fonts := []site.Font{s.Config.Fonts.Body}
	if s.Config.Fonts.Heading.Family != s.Config.Fonts.Body.Family {
		fonts = append(fonts, s.Config.Fonts.Heading)
	}
	for _, f := range fonts {
		known, err := theme.HasFont(f.Family)
		if err != nil {
			return nil, err
		}
		if row := capability.Find(capability.Setting, "fonts.family"); !known && f.Source == "" {
			out = append(out, mdx.Diagnostic{
				Severity: mdx.Notice, Code: row.Code, File: s.ConfigFile,
				Message: fmt.Sprintf("the font %q has no effect: %s", f.Family, row.Rule),
			})
		}
	}
	return out, nil
}

// newServices decides what a bundle's pages have of services.
func newServices(s *site.Site, features Features) (services, error) {
	var v services
	tell := func(severity mdx.Severity, code, format string, args ...any) {
		v.notices = append(v.notices, mdx.Diagnostic{Severity: severity, Code: code, File: s.ConfigFile, Message: fmt.Sprintf(format, args...)})
	}
	var err error
	if v.notices, err = FontNotices(s); err != nil {
		return v, err
	}
	if features.Assistant {
		v.assistant = features.AssistantURL
	}
	wanted := s.Config.Ratings
	if wanted {
		v.ratings = features.RatingsURL
	}
	if wanted && v.ratings == "" {
		tell(mdx.Info, "config-unsupported", "readers can't rate pages: %s", missingService(features, "the project names no address that ratings are sent to"))
	}
	all := analytics.Services{}
	own := maps.Clone(s.Config.Integrations)
	consent := own["cookies"]
	delete(own, "cookies")
	delete(own, "telemetry")
	switch {
	case features.SiteAnalytics:
		maps.Copy(all, own)
	case len(own) > 0:
		tell(mdx.Info, "integration-off", "pages don't load %s: %s", strings.Join(slices.Sorted(maps.Keys(own)), ", "),
			missingService(features, "the project does not allow the site's own analytics"))
	}
	if features.Analytics && features.AnalyticsID != "" {
		named := analytics.OfID(features.AnalyticsID)
		if named == nil {
			tell(mdx.Warning, "integration", "the project's measurement id %s belongs to no service that a bundle knows", features.AnalyticsID)
		}
		maps.Copy(all, named) // the project's word counts
	}
	if consent != nil {
		all["cookies"] = consent
	}
	var problems []analytics.Problem
	if v.analytics, problems, err = analytics.Build(all); err != nil {
		return v, fmt.Errorf("the analytics script could not be made: %w", err)
	}
	var unset []string
	if features.Assistant && v.assistant == "" {
		unset = append(unset, "an AI assistant")
	}
	if features.Analytics && v.analytics == nil && len(problems) == 0 && features.AnalyticsID == "" {
		unset = append(unset, "web analytics")
	}
	if unset != nil {
		tell(mdx.Info, "feature-unset", "pages could have %s, but neither the project nor the site names a service for it", strings.Join(unset, " and "))
	}
	for _, p := range problems {
		if p.Unknown {
			tell(mdx.Info, "integration-unsupported", "the integration %q is left out: %s", p.Service, p.Reason)
		} else {
			tell(mdx.Warning, "integration", "the integration %q is left out: %s", p.Service, p.Reason)
		}
	}
	return v, nil
}

// missingService says why a service is not there.
func missingService(features Features, otherwise string) string {
	if features.Offline {
		return "the site is for readers without a network"
	}
	return otherwise
}

// assistantFor is where a page's button of the assistant leads.
func (v *Views) assistantFor(f *frame, p *site.Page) string {
	return v.customHref(f, &site.ContextualOption{Href: v.services.assistant}, p, v.site.AbsoluteURL(p.MarkdownPath()))
}
