package analytics

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

type setting struct {
	// form is what a value must match as a whole.
	form *regexp.Regexp
	// otherwise is used for one that is missing; empty means that it must be
	// there, unless it is optional.
	otherwise string
	optional  bool
}

// provider is a service that a bundle can load.
type provider struct {
	fields map[string]setting
	// sources are what a content security policy must allow for it.
	sources func(s map[string]string) map[string][]string
}

// settings takes those that the snippet needs. reason says why it can't load.
func (p *provider) settings(given map[string]string) (out map[string]string, reason string) {
	out = make(map[string]string, len(p.fields))
	for _, name := range slices.Sorted(maps.Keys(p.fields)) {
		f, v := p.fields[name], strings.TrimSpace(given[name])
		if v == "" && len(p.fields) == 1 {
			v = strings.TrimSpace(given[""]) // "service": "value"
		}
		switch {
		case v == "" && (f.optional || f.otherwise != ""):
			v = f.otherwise
		case v == "":
			return nil, "it has no " + name
		case len(v) > 300 || !f.form.MatchString(v):
			return nil, "its " + name + " does not look like one"
		}
		out[name] = v
	}
	return out, ""
}

// fixed are sources that no setting changes.
func fixed(script, connect, img string) func(map[string]string) map[string][]string {
	return func(map[string]string) map[string][]string {
		out := map[string][]string{}
		for directive, hosts := range map[string]string{"script-src": script, "connect-src": connect, "img-src": img} {
			if hosts != "" {
				out[directive] = strings.Fields(hosts)
			}
		}
		return out
	}
}

// withHost are the sources of a service on a host of the site's choice.
func withHost(key string) func(map[string]string) map[string][]string {
	return func(s map[string]string) map[string][]string {
		host := s[key]
		if !strings.Contains(host, "://") {
			host = "https://" + host
		}
		u, err := url.Parse(host)
		if err != nil || u.Host == "" {
			return nil
		}
		host = "https://" + strings.ToLower(u.Host)
		return map[string][]string{"script-src": {host}, "connect-src": {host}}
	}
}

// providers are the services by the names that docs.json gives them. Which hosts
// they need is from their own documentation; what a tag manager loads besides,
// nobody can know beforehand.
func providers() map[string]*provider {
	id := setting{form: regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)}
	number := setting{form: regexp.MustCompile(`^[0-9]+$`)}
	host := regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+(?::[0-9]+)?$`)
	address := regexp.MustCompile(`^https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?(?:/[A-Za-z0-9._~%-]+)*/?$`)
	const google = "https://*.google-analytics.com https://*.analytics.google.com https://*.googletagmanager.com"
	return map[string]*provider{
		"amplitude": {map[string]setting{"apiKey": id}, fixed("https://cdn.amplitude.com", "https://*.amplitude.com", "")},
		"clarity":   {map[string]setting{"projectId": id}, fixed("https://*.clarity.ms", "https://*.clarity.ms https://c.bing.com", "https://*.clarity.ms https://c.bing.com")},
		"fathom":    {map[string]setting{"siteId": id}, fixed("https://cdn.usefathom.com", "https://cdn.usefathom.com", "https://cdn.usefathom.com")},
		"ga4":       {map[string]setting{"measurementId": id}, fixed("https://*.googletagmanager.com", google, "https://*.google-analytics.com https://*.googletagmanager.com")},
		"gtm":       {map[string]setting{"tagId": id}, fixed("https://*.googletagmanager.com", google, "https://*.google-analytics.com https://*.googletagmanager.com")},
		"heap":      {map[string]setting{"appId": id}, fixed("https://cdn.heapanalytics.com https://*.heapanalytics.com", "https://*.heapanalytics.com", "https://*.heapanalytics.com")},
		"hotjar":    {map[string]setting{"hjid": number, "hjsv": number}, fixed("https://*.hotjar.com", "https://*.hotjar.com https://*.hotjar.io wss://*.hotjar.com", "https://*.hotjar.com")},
		"mixpanel":  {map[string]setting{"projectToken": id}, fixed("https://cdn.mxpnl.com", "https://*.mixpanel.com", "")},
		"pirsch":    {map[string]setting{"id": id}, fixed("https://api.pirsch.io", "https://api.pirsch.io", "")},
		"plausible": {map[string]setting{"domain": {form: regexp.MustCompile(`^[A-Za-z0-9.,:/ -]+$`)}, "server": {form: host, otherwise: "plausible.io"}}, withHost("server")},
		"posthog": {
			map[string]setting{
				"apiKey":           id,
				"apiHost":          {form: address, otherwise: "https://us.i.posthog.com"},
				"sessionRecording": {form: regexp.MustCompile(`^(?:true|false)$`), optional: true},
			},
			func(s map[string]string) map[string][]string {
				if u, err := url.Parse(s["apiHost"]); err == nil && strings.HasSuffix(u.Hostname(), ".posthog.com") {
					return map[string][]string{"script-src": {"https://*.posthog.com"}, "connect-src": {"https://*.posthog.com"}}
				}
				return withHost("apiHost")(s)
			},
		},
		"segment": {map[string]setting{"key": id}, fixed("https://cdn.segment.com", "https://cdn.segment.com https://api.segment.io", "")},
	}
}

// OfID are the services that a measurement id alone identifies, by its form; nil
// for one that identifies no service.
func OfID(id string) Services {
	switch {
	case strings.HasPrefix(id, "G-"):
		return Services{"ga4": {"measurementId": id}}
	case strings.HasPrefix(id, "GTM-"):
		return Services{"gtm": {"tagId": id}}
	case strings.HasPrefix(id, "phc_"):
		return Services{"posthog": {"apiKey": id}}
	}
	return nil
}
