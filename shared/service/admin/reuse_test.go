package admin_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Each input of a bundle, changed once, makes another key; what a bundle does not
// follow from makes none.
func TestBundleKey(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	in, err := w.ExportInput(w.ctx, w.start(x).ID)
	want(t, err, "")
	type key struct {
		in                         admin.ExportInput
		contents, renderer, remote string
	}
	of := func(change func(*key)) string {
		k := key{in, "contents", "renderer", "remote"}
		change(&k)
		return k.in.BundleKey(k.contents, k.renderer, k.remote)
	}
	base := of(func(*key) {})
	inputs := map[string]func(*key){
		"contents":   func(k *key) { k.contents += "2" },
		"renderer":   func(k *key) { k.renderer += "2" },
		"remote":     func(k *key) { k.remote += "2" },
		"no remote":  func(k *key) { k.remote = "" },
		"domain":     func(k *key) { k.in.Job.Domain = "docs.example.org" },
		"version":    func(k *key) { k.in.Job.Version = "v2" },
		"paths":      func(k *key) { k.in.Job.Paths = []string{"guides"} },
		"paths two":  func(k *key) { k.in.Job.Paths = []string{"guides", "api"} },
		"groups":     func(k *key) { k.in.Job.Groups = []string{"guides"} },
		"kind":       func(k *key) { k.in.Job.Kind = admin.KindAirGapped },
		"repository": func(k *key) { k.in.Project.Repository += "2" },
	}
	// Whatever a project can set, and whatever the table of features has.
	each := func(prefix string, field func(*key) reflect.Value) {
		for i := range field(new(key)).NumField() {
			name := prefix + field(new(key)).Type().Field(i).Name
			inputs[name] = func(k *key) {
				switch f := field(k).Field(i); f.Kind() {
				case reflect.Bool:
					f.SetBool(!f.Bool())
				case reflect.String:
					f.SetString(f.String() + "x")
				default:
					t.Errorf("%s is a %s", name, f.Kind())
				}
			}
		}
	}
	each("settings ", func(k *key) reflect.Value { return reflect.ValueOf(&k.in.Job.Settings).Elem() })
	each("feature ", func(k *key) reflect.Value { return reflect.ValueOf(&k.in.Features).Elem() })
	seen := map[string]string{base: "nothing"}
	for name, change := range inputs {
		got := of(change)
		if seen[got] != "" {
			t.Errorf("%s and %s make one key", name, seen[got])
		}
		seen[got] = name
	}
	for name, change := range map[string]func(*key){
		"another job":             func(k *key) { k.in.Job.ID, k.in.Job.CreatedAt = "exp_2", k.in.Job.CreatedAt.AddDate(0, 0, 1) },
		"fresh":                   func(k *key) { k.in.Job.Fresh = true },
		"have":                    func(k *key) { k.in.Job.Have = digest("a") },
		"retention":               func(k *key) { k.in.Project.Retention.BundleDays = 3 },
		"another snapshot's id":   func(k *key) { k.in.Snapshot.ID += "2" },
		"a step that runs again":  func(k *key) { k.in.Job.Plan.Remote = "remote"; k.in.Job.Version += "-rremote" },
		"a job that has rendered": func(k *key) { k.in.Job.Status, k.in.Job.Done = admin.ExportRunning, 3 },
	} {
		if of(change) != base {
			t.Errorf("%s makes another key", name)
		}
	}
}

// A job gets a bundle of its own organisation's project alone, and once it has
// begun it gets none.
func TestLenders(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("docs.example.org")
	plan := admin.ExportPlan{Renderer: "r1", Shards: 2, Pages: 10, Key: digest("e")}
	start := func(x tenant, in admin.StartExport) admin.ExportJob {
		t.Helper()
		in.Domain, in.Version = x.project.Domain, "v1"
		j, err := w.StartExport(w.ctx, x.caller, in)
		want(t, err, "")
		return j
	}
	lender := func(j admin.ExportJob, plan admin.ExportPlan) string {
		t.Helper()
		l, ok, err := w.Lender(w.ctx, j, plan)
		if err != nil || ok != (l.ID != "") && ok {
			t.Errorf("lender %q, %v, %v", l.ID, ok, err)
		}
		if !ok {
			return ""
		}
		return l.ID
	}
	w.publish(x)
	w.publish(other)
	first := start(x, admin.StartExport{})
	if got := lender(first, plan); got != "" {
		t.Errorf("the first is lent the bundle of %s", got)
	}
	want(t, w.BeginExport(w.ctx, first.ID, plan), "")
	want(t, w.CompleteExport(w.ctx, first.ID, bundleOf(first)), "")

	second := start(x, admin.StartExport{})
	if got := lender(second, plan); got != first.ID {
		t.Errorf("the second is lent the bundle of %q", got)
	}
	another := plan
	another.Key = digest("f")
	for name, got := range map[string]string{
		"another key":            lender(second, another),
		"a fresh job":            lender(start(x, admin.StartExport{Fresh: true}), plan),
		"another organisation's": lender(start(other, admin.StartExport{}), plan),
	} {
		if got != "" {
			t.Errorf("%s is lent the bundle of %s", name, got)
		}
	}
	// Even if a record named it.
	stolen := second
	stolen.Organisation = other.ID
	if got := lender(stolen, plan); got != "" {
		t.Errorf("another organisation's job is lent the bundle of %s", got)
	}

	// A job that has begun is rendered, whatever another run of its step found.
	want(t, w.BeginExport(w.ctx, second.ID, plan), "")
	if reused, err := w.ReuseExport(w.ctx, second.ID, plan, first.ID, bundleOf(second)); reused || err != nil {
		t.Errorf("a running job is completed: %v, %v", reused, err)
	}
	want(t, w.FailExport(w.ctx, second.ID, admin.CodeInternal, ""), "")
	_, err := w.ReuseExport(w.ctx, second.ID, plan, first.ID, bundleOf(second))
	want(t, err, admin.CodeJobNotActive)
	if got := lender(start(x, admin.StartExport{}), plan); got != first.ID {
		t.Errorf("after a job that failed, the bundle of %q is lent", got)
	}
}

// A job with files of other hosts gets its version in the transaction that completes
// it, as one that begins does.
func TestReuseOfAVersionWithRemoteFiles(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	plan := admin.ExportPlan{Renderer: "r1", Shards: 2, Pages: 10, Remote: digest("d"), Key: digest("e")}
	first := w.start(x)
	want(t, w.BeginExport(w.ctx, first.ID, plan), "")
	want(t, w.CompleteExport(w.ctx, first.ID, bundleOf(first)), "")
	second := w.start(x)
	l, ok, err := w.Lender(w.ctx, second, plan)
	if l.ID != first.ID || !ok || err != nil {
		t.Fatalf("lender %+v, %v, %v", l, ok, err)
	}
	for range 2 { // again is success
		if reused, err := w.ReuseExport(w.ctx, second.ID, plan, l.ID, bundleOf(second)); !reused || err != nil {
			t.Fatal(reused, err)
		}
	}
	second, err = w.GetExport(w.ctx, x.caller, second.ID)
	if err != nil || second.Status != admin.ExportCompleted || second.Reused != first.ID || !strings.HasSuffix(second.Version, "-r"+digest("d")[:12]) || second.Progress() != 100 {
		t.Errorf("the second is %+v, %v", second, err)
	}
	usage, err := w.RecentUsage(w.ctx, x.caller, 1)
	of := admin.ProjectUsage{Domain: first.Domain, Kind: first.Kind, Exports: 1, Reused: 1, Pages: 10, BundleBytes: 2000}
	sums := admin.Usage{Month: "2026-03", Exports: 1, Reused: 1, Pages: 10, BundleBytes: 2000}
	want := []admin.MonthUsage{{Usage: sums, Projects: map[string]admin.ProjectUsage{first.Project: of}}}
	if err != nil || !reflect.DeepEqual(usage, want) {
		t.Errorf("usage is %+v, %v", usage, err)
	}
	// The places of both are free again, and both versions can be used.
	for range 3 {
		w.start(x)
	}
}
