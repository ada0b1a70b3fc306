package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/analytics"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// services are what a bundle's pages have of services in the network: what the
// deployment allows, and the project or the site names. Nothing else is loaded.
type services struct {
	analytics *analytics.Script // nil for none
	assistant string            // its address as configured, empty for none
	ratings   string            // where ratings are sent, empty for nowhere
	notices   []mdx.Diagnostic  // what authors should know
}

// sources are what a content security policy must allow for them.
func (v *services) sources() map[string][]string {
	if v.analytics == nil {
		return nil
	}
	return v.analytics.Sources
}

// newServices decides what a job's bundle has of services.
func newServices(s *site.Site, in admin.ExportInput) (services, error) {
	kind, t := in.Project.Kind, in.Job.Settings
	features := admin.Features(kind, t)
	var v services
	tell := func(severity mdx.Severity, code, format string, args ...any) {
		v.notices = append(v.notices, mdx.Diagnostic{Severity: severity, Code: code, File: s.ConfigFile, Message: fmt.Sprintf(format, args...)})
	}
	if features.Assistant {
		v.assistant = t.Assistant
	}
	wanted := s.Config.Ratings
	if wanted {
		v.ratings = admin.Ratings(kind, t)
	}
	if wanted && v.ratings == "" {
		tell(mdx.Notice, "config-unsupported", "readers can't rate pages: %s", missingService(kind, "the project names no address that ratings are sent to"))
	}
	all := analytics.Services{}
	own := maps.Clone(s.Config.Integrations)
	consent := own["cookies"]
	delete(own, "cookies")
	delete(own, "telemetry")
	switch {
	case admin.SiteAnalytics(kind, t):
		maps.Copy(all, own)
	case len(own) > 0:
		tell(mdx.Notice, "integration-off", "pages don't load %s: %s", strings.Join(slices.Sorted(maps.Keys(own)), ", "),
			missingService(kind, "the project does not allow the site's own analytics"))
	}
	if features.Analytics && t.AnalyticsID != "" {
		named := analytics.OfID(t.AnalyticsID)
		if named == nil {
			tell(mdx.Warning, "integration", "the project's measurement id %s is none of a service that a bundle knows", t.AnalyticsID)
		}
		maps.Copy(all, named) // the project's word counts
	}
	if consent != nil {
		all["cookies"] = consent
	}
	var problems []analytics.Problem
	var err error
	if v.analytics, problems, err = analytics.Build(all); err != nil {
		return v, internal("the analytics script could not be made", err)
	}
	var unset []string
	if features.Assistant && v.assistant == "" {
		unset = append(unset, "an AI assistant")
	}
	if features.Analytics && v.analytics == nil && len(problems) == 0 && t.AnalyticsID == "" {
		unset = append(unset, "web analytics")
	}
	if unset != nil {
		tell(mdx.Notice, "feature-unset", "pages could have %s, but neither the project nor the site names a service for it", strings.Join(unset, " and "))
	}
	for _, p := range problems {
		if p.Unknown {
			tell(mdx.Notice, "integration-unsupported", "the integration %q is left out: %s", p.Service, p.Reason)
		} else {
			tell(mdx.Warning, "integration", "the integration %q is left out: %s", p.Service, p.Reason)
		}
	}
	return v, nil
}

// missingService says why a service is not there.
func missingService(kind admin.Kind, otherwise string) string {
	if admin.AvailabilityOf(kind, admin.FeatureAnalytics) == admin.Unavailable {
		return "the site is for readers without a network"
	}
	return otherwise
}

// assistantFor is where a page's button of the assistant leads.
func (v *views) assistantFor(f *frame, p *site.Page) string {
	return v.customHref(f, &site.ContextualOption{Href: v.services.assistant}, p, v.site.AbsoluteURL(markdownPath(p)))
}

// describeFeatures notes in a bundle's description what its deployment allows.
func describeFeatures(info *bundle.Info, in admin.ExportInput) error {
	t := in.Job.Settings
	on := admin.Features(in.Project.Kind, t)
	info.Deployment = string(in.Project.Kind)
	info.Features = map[string]bool{
		string(admin.FeatureSearch): on.Search, string(admin.FeatureAssistant): on.Assistant, string(admin.FeatureAnalytics): on.Analytics,
		string(admin.FeaturePlayground): on.Playground, string(admin.FeatureExport): on.Export,
	}
	if t == (admin.Settings{}) {
		return nil
	}
	data, err := json.Marshal(t)
	if err != nil {
		return internal("the bundle's settings could not be written", err)
	}
	info.Settings = data
	return nil
}
