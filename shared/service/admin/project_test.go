package admin_test

import (
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestFeaturesOfEachKind pins which features a project has, with and without the
// settings that they may need.
func TestFeaturesOfEachKind(t *testing.T) {
	full := admin.Settings{Search: "https://search.example.com", Assistant: "https://ai.example.com", AnalyticsID: "G-1", Playground: true}
	bundled := admin.Settings{Search: admin.SearchBundled}
	set := func(search, assistant, analytics, playground bool) admin.FeatureSet {
		return admin.FeatureSet{Search: search, Assistant: assistant, Analytics: analytics, Playground: playground, Export: true}
	}
	const y, n = true, false
	for _, c := range []struct {
		kind                admin.Kind
		none, full, bundled admin.FeatureSet
	}{
		{admin.KindCloud, set(y, y, y, y), set(y, y, y, y), set(y, y, y, y)},
		{admin.KindClientHosted, set(n, n, n, y), set(y, y, y, y), set(y, n, n, y)},
		// The one exception: search inside the bundle needs no service.
		{admin.KindAirGapped, set(n, n, n, n), set(n, n, n, y), set(y, n, n, n)},
		{"moon", admin.FeatureSet{}, admin.FeatureSet{}, admin.FeatureSet{}},
	} {
		for name, x := range map[string]struct {
			settings admin.Settings
			want     admin.FeatureSet
		}{"none": {admin.Settings{}, c.none}, "full": {full, c.full}, "bundled search": {bundled, c.bundled}} {
			if got := admin.Features(c.kind, x.settings); got != x.want {
				t.Errorf("%s, %s: %+v, want %+v", c.kind, name, got, x.want)
			}
		}
	}
}

// TestAvailabilityOfFeatures pins all fifteen cells of the table.
func TestAvailabilityOfFeatures(t *testing.T) {
	const on, maybe, off = admin.Available, admin.Configurable, admin.Unavailable
	for feature, cells := range map[admin.Feature][3]admin.Availability{
		admin.FeatureSearch:     {on, maybe, off},
		admin.FeatureAssistant:  {on, maybe, off},
		admin.FeatureAnalytics:  {on, maybe, off},
		admin.FeaturePlayground: {on, on, maybe},
		admin.FeatureExport:     {on, on, on},
	} {
		for i, kind := range admin.Kinds() {
			if got := admin.AvailabilityOf(kind, feature); got != cells[i] {
				t.Errorf("%s, %s: %s, want %s", kind, feature, got, cells[i])
			}
		}
	}
}

// TestSiteAnalytics: what a site itself asks for loads in the cloud; elsewhere
// only if the project says so, whatever else is configured; never without a
// network. Ratings follow the same rule.
func TestSiteAnalytics(t *testing.T) {
	const address = "https://ratings.example.com"
	id := admin.Settings{AnalyticsID: "G-1", Feedback: address}
	both := admin.Settings{AnalyticsID: "G-1", SiteAnalytics: true, Feedback: address}
	for _, c := range []struct {
		kind           admin.Kind
		none, id, both bool
		ratings        string
	}{
		{admin.KindCloud, true, true, true, address},
		{admin.KindClientHosted, false, false, true, address},
		{admin.KindAirGapped, false, false, false, ""},
		{"moon", false, false, false, ""},
	} {
		if got := [3]bool{admin.SiteAnalytics(c.kind, admin.Settings{}), admin.SiteAnalytics(c.kind, id), admin.SiteAnalytics(c.kind, both)}; got != [3]bool{c.none, c.id, c.both} {
			t.Errorf("%s: %v", c.kind, got)
		}
		if got := admin.Ratings(c.kind, both); got != c.ratings {
			t.Errorf("%s sends ratings to %q", c.kind, got)
		}
		if got := admin.Ratings(c.kind, admin.Settings{}); got != "" {
			t.Errorf("%s sends ratings to %q", c.kind, got)
		}
	}
	if !admin.Features(admin.KindClientHosted, admin.Settings{SiteAnalytics: true}).Analytics {
		t.Error("the site's analytics do not count as analytics")
	}
}

func TestDomains(t *testing.T) {
	long := "a2345678901234567890123456789012345678901234567890123456789012."
	for _, c := range []struct {
		in, operator string // what an operator's becomes; "" is refused
		caller       bool   // whether a caller may write it so
	}{
		{"docs.example.com", "docs.example.com", true},
		{"localhost", "localhost", true},
		{"3d.example.com", "3d.example.com", true},
		{"xn--mnchen-3ya.de", "xn--mnchen-3ya.de", true},
		{"münchen.de", "xn--mnchen-3ya.de", false},
		{"xn--zzzzzz--.de", "", false},
		{"xn--a.de", "", true}, // no Punycode: nobody can own it, so it is just not found
		{"Docs.example.com", "", false},
		{"MÜNCHEN.de", "", false},
		{"docs.example.com.", "", false},
		{"docs.example.com:443", "", false},
		{"https://docs.example.com", "", false},
		{"docs.example.com/guides", "", false},
		{"docs_x.example.com", "", false},
		{"-docs.example.com", "", false},
		{"docs-.example.com", "", false},
		{"docs..example.com", "", false},
		{".example.com", "", false},
		{"192.0.2.1", "", false},
		{"docs.example.123", "", false},
		{"docs.example.com\n", "", false},
		{"docs example.com", "", false},
		{"", "", false},
		{"a\xff.com", "", false},
		{long + long + long + "a23456789012345678901234567890123456789012345678901234567890.a", long + long + long + "a23456789012345678901234567890123456789012345678901234567890.a", true},
		{long + long + long + long + "com", "", false},
		{"aa" + long + "com", "", false},
	} {
		got, err := admin.NormalDomain("domain", c.in)
		if got != c.operator {
			t.Errorf("operator's %q is %q (%v), want %q", c.in, got, err, c.operator)
		}
		if err != nil {
			wantField(t, err, "domain")
		}
		err = admin.CheckDomain("domain", c.in)
		if (err == nil) != c.caller {
			t.Errorf("caller's %q: %v", c.in, err)
		}
		if err != nil {
			wantField(t, err, "domain")
		}
	}
}

func FuzzDomain(f *testing.F) {
	f.Add("docs.example.com")
	f.Add("münchen.de")
	f.Add("xn--mnchen-3ya.de")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := admin.NormalDomain("domain", s)
		if err != nil {
			return
		}
		if err := admin.CheckDomain("domain", d); err != nil {
			t.Errorf("%q became %q, which callers can't write: %v", s, d, err)
		}
		if again, err := admin.NormalDomain("domain", d); err != nil || again != d {
			t.Errorf("%q became %q, then %q (%v)", s, d, again, err)
		}
	})
}

func TestProjectsAreChecked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	ok := admin.Project{Organisation: x.ID, Domain: "two.example.com", Repository: "https://git.example.com/docs"}
	for field, change := range map[string]func(*admin.Project){
		"domain":                 func(p *admin.Project) { p.Domain = "Two.example.com" },
		"repository":             func(p *admin.Project) { p.Repository = "docs/handbook" },
		"kind":                   func(p *admin.Project) { p.Kind = "moon" },
		"settings.search":        func(p *admin.Project) { p.Settings.Search = "http://search.example.com" },
		"settings.assistant":     func(p *admin.Project) { p.Settings.Assistant = "https://user:word@ai.example.com" },
		"settings.analyticsId":   func(p *admin.Project) { p.Settings.AnalyticsID = "</script>" },
		"settings.feedback":      func(p *admin.Project) { p.Settings.Feedback = "javascript:alert(1)" },
		"retention.snapshotDays": func(p *admin.Project) { p.Retention.SnapshotDays = -1 },
		"retention.bundleDays":   func(p *admin.Project) { p.Retention.BundleDays = -1 },
	} {
		p := ok
		change(&p)
		_, err := w.CreateProject(w.ctx, p)
		wantField(t, err, field)
	}
	p := ok
	p.Organisation = "org_none"
	_, err := w.CreateProject(w.ctx, p)
	want(t, err, admin.CodeNotFound)
}

// TestADomainHasOneOwner lets many claim a domain at once, twice: after its
// owner is revoked it is free again.
func TestADomainHasOneOwner(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var last string
	for range 2 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var owners []string
		for range 20 {
			wg.Go(func() {
				p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "one.example.com", Repository: "https://git.example.com/docs"})
				if err == nil {
					mu.Lock()
					owners = append(owners, p.ID)
					mu.Unlock()
					return
				}
				want(t, err, admin.CodeDomainTaken)
			})
		}
		wg.Wait()
		if len(owners) != 1 || owners[0] == last {
			t.Fatalf("owners are %v", owners)
		}
		last = owners[0]
		for range 2 { // again is success
			if _, err := w.RevokeProject(w.ctx, last); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := w.ListProjects(w.ctx, x.ID)
	if err != nil || len(all) != 3 {
		t.Errorf("%d projects are listed (%v), want the three that were made", len(all), err)
	}
	_, err = w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "one.example.com"})
	want(t, err, admin.CodeDomainNotFound)
}
