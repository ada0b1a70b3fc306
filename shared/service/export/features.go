package export

import (
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// featuresOf returns what the pages of a job's bundle have: what the feature
// table allows the project's kind of deployment, and the project asks for.
func featuresOf(in admin.ExportInput) frame.Features {
	kind, t := in.Project.Kind, in.Job.Settings
	on := admin.Features(kind, t)
	return frame.Features{
		Search:    bundledSearch(in),
		Analytics: on.Analytics, AnalyticsID: t.AnalyticsID, SiteAnalytics: admin.SiteAnalytics(kind, t),
		Assistant: on.Assistant, AssistantURL: t.Assistant, RatingsURL: admin.Ratings(kind, t),
		Offline:       admin.AvailabilityOf(kind, admin.FeatureAnalytics) == admin.Unavailable,
		HTMLAddresses: t.CanonicalHTML, Repository: in.Project.Repository,
	}
}

// bundledSearch reports whether a job's bundle has search of its own: the feature
// table allows search, and the project names no service. An index needs none, so
// that it serves wherever search is on.
func bundledSearch(in admin.ExportInput) bool {
	t := in.Job.Settings
	return admin.Features(in.Project.Kind, t).Search && (t.Search == "" || t.Search == admin.SearchBundled)
}

// searchNotice tells authors of a service that a bundle does not ask.
func searchNotice(s *site.Site, in admin.ExportInput) *mdx.Diagnostic {
	if t := in.Job.Settings; !admin.Features(in.Project.Kind, t).Search || bundledSearch(in) {
		return nil
	}
	return &mdx.Diagnostic{
		Severity: mdx.Info, Code: "search-service", File: s.ConfigFile,
		Message: `pages have no search field: the project names a service, and only "bundled" search is built into a bundle`,
	}
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
