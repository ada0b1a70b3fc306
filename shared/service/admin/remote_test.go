package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Hosts that exports may ask have one form, whatever way an operator writes them.
func TestNormalHosts(t *testing.T) {
	many := make([]string, admin.MaxHosts+1)
	for i := range many {
		many[i] = fmt.Sprintf("h%d.example", i)
	}
	for _, c := range []struct {
		name  string
		hosts []string
		want  string
		code  string
	}{
		{"none", nil, "", ""},
		{"an empty one", []string{""}, "", ""},
		{"sorted, once, in lower case", []string{"B.example", "a.example", " b.example "}, "a.example,b.example", ""},
		{"all below", []string{"*.example.com"}, "*.example.com", ""},
		{"a port", []string{"a.example:8443", "b.example:443"}, "a.example:8443,b.example", ""},
		{"an international name", []string{"bücher.example"}, "xn--bcher-kva.example", ""},
		{"an address", []string{"10.0.0.1"}, "", admin.CodeInvalid},
		{"an address of IPv6", []string{"[::1]"}, "", admin.CodeInvalid},
		{"a scheme", []string{"https://a.example"}, "", admin.CodeInvalid},
		{"a path", []string{"a.example/x"}, "", admin.CodeInvalid},
		{"one label", []string{"localhost"}, "", admin.CodeInvalid},
		{"all hosts", []string{"*"}, "", admin.CodeInvalid},
		{"all of a top-level domain", []string{"*.com"}, "", admin.CodeInvalid},
		{"a star within", []string{"a.*.example"}, "", admin.CodeInvalid},
		{"no port", []string{"a.example:"}, "", admin.CodeInvalid},
		{"a port that there is not", []string{"a.example:70000"}, "", admin.CodeInvalid},
		{"too many", many, "", admin.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := admin.NormalHosts(c.hosts)
			want(t, err, c.code)
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if again, err := admin.NormalHosts(admin.Settings{AllowHosts: got}.Hosts()); again != got || err != nil {
				t.Errorf("a second time it is %q, %v", again, err)
			}
		})
	}
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Settings: admin.Settings{AllowHosts: "b.example,a.example"}})
	want(t, err, admin.CodeInvalid)
	p, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Settings: admin.Settings{AllowHosts: "a.example,b.example"}})
	if want(t, err, ""); p.Settings.AllowHosts != "a.example,b.example" {
		t.Errorf("the project has %+v", p.Settings)
	}
}

// What was fetched from other hosts is a part of a version, from the moment at
// which a job begins.
func TestVersionsOfFetchedFiles(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x := w.tenant("docs.example.com")
	w.publish(x)
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	start := func(label, key string) admin.ExportJob {
		t.Helper()
		j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Version: label, IdempotencyKey: key})
		want(t, err, "")
		return j
	}
	begin := func(j admin.ExportJob, remote string) error {
		p := plan
		p.Remote = remote
		return w.BeginExport(w.ctx, j.ID, p)
	}
	version := func(j admin.ExportJob) string {
		t.Helper()
		j, err := w.GetExport(w.ctx, x.caller, j.ID)
		want(t, err, "")
		return j.Version
	}
	complete := func(j admin.ExportJob) {
		t.Helper()
		for n := 1; n <= plan.Shards; n++ {
			want(t, w.MarkShard(w.ctx, j.ID, n, plan.Pages/plan.Shards, 0), "")
		}
		want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
	}

	// Without a label the version tells them.
	a, b, c := start("", "key"), start("", ""), start("", "")
	for range 2 { // a second Plan says the same
		want(t, begin(a, one), "")
	}
	want(t, begin(a, two), admin.CodeRendererChanged)
	want(t, begin(b, one), "")
	want(t, begin(c, two), "")
	if va, vb, vc := version(a), version(b), version(c); va != a.Version+"-r111111111111" || vb != va || vc != a.Version+"-r222222222222" {
		t.Errorf("the versions are %s, %s, %s", va, vb, vc)
	}
	if again := start("", "key"); again.ID != a.ID || again.Version != a.Version {
		t.Errorf("a repeated start shows %s %s, want %s %s", again.ID, again.Version, a.ID, a.Version)
	}
	complete(a)
	want(t, w.FailExport(w.ctx, b.ID, admin.CodeInternal, "no"), "")

	// A label means one set of them.
	d, e := start("v1", ""), start("v1", "")
	want(t, begin(d, one), "")
	want(t, begin(e, two), admin.CodeVersionTaken)
	want(t, w.FailExport(w.ctx, e.ID, admin.CodeVersionTaken, "no"), "")
	want(t, w.FailExport(w.ctx, d.ID, admin.CodeInternal, "no"), "") // all failed: it means nothing again
	f := start("v1", "")
	want(t, begin(f, two), "")
	complete(f)
	g := start("v1", "")
	want(t, begin(g, one), admin.CodeVersionTaken)
	want(t, begin(g, two), "")
	if version(g) != "v1" {
		t.Errorf("a label became %s", version(g))
	}

	// Where nothing was asked for, all is as ever.
	h := start("", "")
	want(t, begin(h, ""), "")
	if version(h) != h.Version {
		t.Errorf("the version became %s", version(h))
	}
}
