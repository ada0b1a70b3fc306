package admin_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func TestSlug(t *testing.T) {
	const random = "bzdt87reegrymgc2y4mfgxs5fc"
	for domain, want := range map[string]string{
		"docs.example.com": "docs-example-com-" + random,
		"localhost":        "localhost-" + random,
		"a-b.c":            "a-b-c-" + random,
		"exp":              "exp-site-" + random, // exp-… is an export
		"exp.example.com":  "exp-example-com-" + random,
		strings.Repeat("long.", 20) + "example.com":       "long-long-long-long-long-long-long-l-" + random, // 63 bytes
		strings.Repeat("x", 35) + ".example.com":          strings.Repeat("x", 35) + "-" + random,           // no two hyphens
		strings.Repeat("very-long-", 5) + "label.example": "very-long-very-long-very-long-very-l-" + random,
	} {
		got := admin.Project{ID: "prj_" + random, Domain: domain}.Slug()
		if got != want || len(got) > 63 || admin.IsJobLabel(got) {
			t.Errorf("the slug of %s is %s (%d bytes), want %s", domain, got, len(got), want)
		}
	}
}

func TestSiteURL(t *testing.T) {
	p := admin.Project{ID: "prj_1", Domain: "docs.example.com"}
	for base, want := range map[string]string{
		"": "", "http://localhost:8787": "http://docs-example-com-1.localhost:8787/", "https://sites.example.com": "https://docs-example-com-1.sites.example.com/",
	} {
		if got := admin.New(admin.Options{Sites: admin.Sites{URL: base}}).SiteURL(p); got != want {
			t.Errorf("below %q the site is at %q, want %q", base, got, want)
		}
	}
}

// TestLiveAt: a host has the live version of its project, and none has that of another.
func TestLiveAt(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("a.example"), w.tenant("b.example")
	at := func(slug, want string) {
		t.Helper()
		m, err := w.LiveAt(w.ctx, slug)
		if m.Job != want || (want == "") != (admin.CodeOf(err) == admin.CodeNotFound) {
			t.Errorf("%s has %q (%v), want %q", slug, m.Job, err, want)
		}
	}
	at(x.project.Slug(), "")
	first := w.deploy(x)
	at(x.project.Slug(), first.ID)
	at(y.project.Slug(), "")
	random := strings.TrimPrefix(x.project.ID, "prj_")
	for _, other := range []string{"", "-", random, "-" + random, "b-example-" + random, "a-example", x.project.ID, "a-example-prj_" + random, "a-example-" + strings.Repeat("x", 5000), "a example-" + random, "a-example-\x00"} {
		at(other, "")
	}
	second := w.deploy(x)
	at(x.project.Slug(), second.ID)
	if _, err := w.RevokeProject(w.ctx, x.project.ID); err != nil {
		t.Fatal(err)
	}
	at(x.project.Slug(), "")
}

// indexed gives a bundle an index.
func indexed(b *admin.Bundle) { b.Index = "a place" }

// TestReplacedSince: versions that were live until a time are found, the latest first.
func TestReplacedSince(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("a.example")
	var jobs []string
	for n := range 13 {
		w.Advance(time.Minute)
		w.publish(x)
		j := w.startLive(x)
		jobs = append(jobs, j.ID)
		if n == 11 {
			w.complete(j) // of an older release: no index
			continue
		}
		w.complete(j, indexed)
	}
	m, err := w.LiveAt(w.ctx, x.project.Slug())
	if err != nil || m.Job != jobs[12] {
		t.Fatal(m, err)
	}
	for _, tt := range []struct {
		name  string
		since time.Time
		want  []string
	}{
		{"since the move", m.At, nil}, // of the one without an index
		{"after the move", m.At.Add(1), nil},
		{"two minutes before", m.At.Add(-2 * time.Minute), []string{jobs[10]}},
		{"at any time", time.Time{}, []string{jobs[10], jobs[9], jobs[8], jobs[7], jobs[6], jobs[5], jobs[4], jobs[3]}},
	} {
		all, err := w.ReplacedSince(w.ctx, x.project.Slug(), m, tt.since)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range all {
			got = append(got, s.Job)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestPreviewLinks: a link is for one export, for its organisation, until it ends.
func TestPreviewLinks(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.Sites = admin.Sites{URL: "http://localhost:1", Key: []byte("key")} })
	x, y := w.tenant("a.example"), w.tenant("b.example")
	w.publish(x)
	j, other := w.start(x), w.startLive(x)
	_, err := w.PreviewLink(w.ctx, x.caller, j.ID)
	want(t, err, admin.CodeJobRunning)
	w.complete(j, indexed)
	_, err = w.PreviewLink(w.ctx, y.caller, j.ID)
	want(t, err, admin.CodeNotFound)
	link, err := w.PreviewLink(w.ctx, x.caller, j.ID)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil || u.Path != admin.PreviewPath || u.Hostname() != strings.Replace(j.ID, "_", "-", 1)+".localhost" || !admin.IsJobLabel(strings.TrimSuffix(u.Hostname(), ".localhost")) {
		t.Fatal(link, err)
	}
	label, token := strings.TrimSuffix(u.Hostname(), ".localhost"), u.Query().Get("token")
	valid := func(label, token string, want bool) {
		t.Helper()
		end, ok := w.CheckPreview(label, token)
		if ok != want {
			t.Errorf("%s is valid for %s: %t, until %s", token, label, ok, end)
		}
	}
	valid(label, token, true)
	valid(label, token, true)
	valid(strings.Replace(other.ID, "_", "-", 1), token, false)
	end, signature, _ := strings.Cut(token, ".")
	for _, t := range []string{"", ".", end, end + ".", "." + signature, "9" + end + "." + signature, " " + token, token + " ", "+" + token, "0" + token, end + "." + strings.ToUpper(signature), "99999999999999999999." + signature} {
		valid(label, t, false)
	}
	w.Advance(admin.PreviewLife - time.Second)
	valid(label, token, true)
	w.Advance(time.Second)
	valid(label, token, false)

	served, err := w.ServedJob(w.ctx, label)
	if err != nil || served.Job != j.ID {
		t.Fatal(served, err)
	}
	for _, l := range []string{"", label[4:], "prj-" + label[4:], label + "x"} {
		_, err := w.ServedJob(w.ctx, l)
		want(t, err, admin.CodeNotFound)
	}
	_, err = w.ServedJob(w.ctx, strings.Replace(other.ID, "_", "-", 1))
	want(t, err, admin.CodeJobRunning)
	w.complete(other) // without an index
	_, err = w.ServedJob(w.ctx, strings.Replace(other.ID, "_", "-", 1))
	want(t, err, admin.CodeNotFound)
	if link, err := w.PreviewLink(w.ctx, x.caller, other.ID); link != "" || err != nil {
		t.Error(link, err)
	}
	want(t, w.objects.Delete(w.ctx, served.Bundle.Key), "")
	_, err = w.ServedJob(w.ctx, label)
	want(t, err, admin.CodeBundleGone)
	_, err = w.PreviewLink(w.ctx, x.caller, j.ID)
	want(t, err, admin.CodeBundleGone)
}

// TestPreviewsEndWithTheProject: a link shows nothing of a project that has ended.
func TestPreviewsEndWithTheProject(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.Sites = admin.Sites{URL: "http://localhost:1", Key: []byte("key")} })
	x := w.tenant("a.example")
	w.publish(x)
	j := w.start(x)
	w.complete(j, indexed)
	label := strings.Replace(j.ID, "_", "-", 1)
	_, err := w.ServedJob(w.ctx, label)
	want(t, err, "")
	_, err = w.RevokeProject(w.ctx, x.project.ID)
	want(t, err, "")
	_, err = w.ServedJob(w.ctx, label)
	want(t, err, admin.CodeNotFound)
}

// TestNoLinksWithoutAKey: anybody could sign with an empty one.
func TestNoLinksWithoutAKey(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.Sites = admin.Sites{URL: "http://localhost:1"} })
	x := w.tenant("a.example")
	w.publish(x)
	j := w.start(x)
	w.complete(j, indexed)
	if link, err := w.PreviewLink(w.ctx, x.caller, j.ID); link != "" || err != nil {
		t.Error(link, err)
	}
	if _, ok := w.CheckPreview("exp-1", "99999999999.0"); ok {
		t.Error("a token is valid")
	}
}
