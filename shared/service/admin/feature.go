package admin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Kind is how a project's site is deployed.
type Kind string

// The deployment kinds.
const (
	KindCloud        Kind = "cloud"
	KindClientHosted Kind = "client-hosted"
	KindAirGapped    Kind = "air-gapped"
)

// Kinds lists the deployment kinds.
func Kinds() []Kind { return []Kind{KindCloud, KindClientHosted, KindAirGapped} }

// Feature is something that a site has or lacks depending on its deployment.
type Feature string

// The features.
const (
	FeatureSearch     Feature = "search"
	FeatureAssistant  Feature = "assistant"
	FeatureAnalytics  Feature = "analytics"
	FeaturePlayground Feature = "playground"
	FeatureExport     Feature = "export"
)

// Availability is one cell of the table of features by deployment.
type Availability string

// What a cell may say.
const (
	Available    Availability = "available"
	Configurable Availability = "configurable"
	Unavailable  Availability = "unavailable"
)

// AvailabilityOf is the table of features by deployment. An unknown kind has
// nothing.
func AvailabilityOf(kind Kind, f Feature) Availability {
	switch kind {
	case KindCloud:
		return Available
	case KindClientHosted:
		switch f {
		case FeatureSearch, FeatureAssistant, FeatureAnalytics:
			return Configurable
		case FeaturePlayground, FeatureExport:
			return Available
		}
	case KindAirGapped:
		switch f {
		case FeaturePlayground:
			return Configurable
		case FeatureExport:
			return Available
		}
	}
	return Unavailable
}

// SearchBundled is the value of Settings.Search that asks for search on an
// index inside the bundle, in the reader's browser, with no service.
const SearchBundled = "bundled"

// Settings are what a project configures of its features and its bundle. They
// are part of what a version means: changing one changes the bundle.
type Settings struct {
	// Search is empty, SearchBundled, or the https address of a service.
	Search string `json:"search,omitempty"`
	// Assistant is the https address of the AI assistant, or empty. "$page" in it
	// represents the address of the page's text, "$path" for the page's path.
	Assistant string `json:"assistant,omitempty"`
	// AnalyticsID is the measurement id of web analytics, or empty. Its form
	// tells the service.
	AnalyticsID string `json:"analyticsId,omitempty"`
	// SiteAnalytics lets the analytics services load that the site's own
	// configuration names, where the deployment leaves analytics open. In the
	// cloud they load without it.
	SiteAnalytics bool `json:"siteAnalytics,omitempty"`
	// Feedback is the https address that readers' ratings of pages are sent
	// to, or empty. An air-gapped bundle has no ratings.
	Feedback string `json:"feedback,omitempty"`
	// Playground turns the API playground on where that is configurable.
	Playground bool `json:"playground,omitempty"`
	// CanonicalHTML writes canonical and sitemap addresses with ".html", for
	// hosts that can't rewrite clean ones.
	CanonicalHTML bool `json:"canonicalHtml,omitempty"`
	// BasePath is the path below the domain that the bundle is served at, such as
	// "handbook", without slashes at its ends; empty for the root. Addresses that
	// pages name as their own have it.
	BasePath string `json:"basePath,omitempty"`
	// AllowHosts are the hosts that an export may fetch what the site names
	// from: names such as "files.example.com", "*.example.com" or
	// "example.com:8443", sorted, with commas between them. Nothing is fetched
	// where it is empty.
	AllowHosts string `json:"allowHosts,omitempty"`
}

// MaxHosts is how many hosts a project may allow.
const MaxHosts = 50

// Hosts are the names in AllowHosts.
func (t Settings) Hosts() []string {
	if t.AllowHosts == "" {
		return nil
	}
	return strings.Split(t.AllowHosts, ",")
}

// NormalHosts returns host names in the form that AllowHosts has. They may begin
// with "*.", which represents all names below, and end with a colon and a port.
// It returns CodeInvalid for any other name and for more than MaxHosts.
func NormalHosts(names []string) (string, error) {
	const field = "settings.allowHosts"
	var hosts []string
	for _, name := range names {
		if name = strings.ToLower(strings.TrimSpace(name)); name == "" {
			continue
		}
		if strings.Contains(name, "/") {
			return "", FieldErrorf(field, "%q is not the name of a host alone, such as files.example.com", name)
		}
		host, port, with := strings.Cut(name, ":")
		if n, err := strconv.Atoi(port); with && (err != nil || n < 1 || n > 65535) {
			return "", FieldErrorf(field, "%q has an invalid port", name)
		}
		host, wild := strings.CutPrefix(host, "*.")
		host, err := NormalDomain(field, host)
		if err != nil {
			return "", err
		}
		if !strings.Contains(host, ".") {
			return "", FieldErrorf(field, "%q is not a fully qualified host name", name)
		}
		if wild {
			host = "*." + host
		}
		if n, _ := strconv.Atoi(port); with && n != 443 {
			host += ":" + strconv.Itoa(n)
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); len(hosts) > MaxHosts {
		return "", FieldErrorf(field, "must be at most %d hosts", MaxHosts)
	}
	return strings.Join(hosts, ","), nil
}

// NormalBasePath returns a path in the form that BasePath has. It returns
// CodeInvalid for one of other characters than letters, digits, "-", ".", "_" and
// "~" (RFC 3986, 2.3) in its parts, or of more than 200.
func NormalBasePath(path string) (string, error) {
	const field, most = "settings.basePath", 200
	path = strings.Trim(strings.TrimSpace(path), "/")
	if path == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if !basePathPart().MatchString(part) || part == "." || part == ".." {
			return "", FieldErrorf(field, "%q is not a path such as \"handbook\" or \"docs/v2\"", path)
		}
	}
	if len(path) > most {
		return "", FieldErrorf(field, "must be at most %d characters", most)
	}
	return path, nil
}

var basePathPart = lazy.Regexp(`^[A-Za-z0-9._~-]+$`)

// configured reports whether the setting that a feature needs is there.
func (t Settings) configured(f Feature) bool {
	switch f {
	case FeatureSearch:
		return t.Search != ""
	case FeatureAssistant:
		return t.Assistant != ""
	case FeatureAnalytics:
		return t.AnalyticsID != "" || t.SiteAnalytics
	case FeaturePlayground:
		return t.Playground
	}
	return false
}

// FeatureSet is the set of features that a bundle has.
type FeatureSet struct {
	Search     bool `json:"search"`
	Assistant  bool `json:"assistant"`
	Analytics  bool `json:"analytics"`
	Playground bool `json:"playground"`
	Export     bool `json:"export"`
}

// Features decides which features a project of this kind with these settings
// has: the cell of the table and, where it is configurable, the setting.
//
// One exception: search that runs in the reader's browser on an index inside
// the bundle needs no service, so an air-gapped project may opt in to it.
func Features(kind Kind, t Settings) FeatureSet {
	on := func(f Feature) bool {
		switch AvailabilityOf(kind, f) {
		case Available:
			return true
		case Configurable:
			return t.configured(f)
		}
		return f == FeatureSearch && kind == KindAirGapped && t.Search == SearchBundled
	}
	return FeatureSet{
		Search:     on(FeatureSearch),
		Assistant:  on(FeatureAssistant),
		Analytics:  on(FeatureAnalytics),
		Playground: on(FeaturePlayground),
		Export:     on(FeatureExport),
	}
}

// SiteAnalytics reports whether the services that a site's own configuration
// names may load: in the cloud always, elsewhere by a setting and by the table.
func SiteAnalytics(kind Kind, t Settings) bool {
	return Features(kind, t).Analytics && (kind == KindCloud || t.SiteAnalytics)
}

// Ratings is the address that readers' ratings of pages are sent to, empty
// where they can't send any. It is not a row of the table: ratings need a service
// in the network, which only the project can name.
func Ratings(kind Kind, t Settings) string {
	if AvailabilityOf(kind, FeatureAnalytics) == Unavailable {
		return ""
	}
	return t.Feedback
}
