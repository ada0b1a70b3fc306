package dashboard_test

import (
	"path"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Exports that people start may go live, where they are of the whole site; the
// settings' form leaves the deploy mode as it is.
func TestExportsOfPeopleGoLive(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	w.publish(x, map[string]string{"docs.json": "{}"})
	b := w.as(x, "ada", admin.RoleAdmin)
	for _, c := range []struct {
		name string
		form []string
		live bool
	}{
		{"the whole site", nil, true},
		{"some paths", []string{"paths", "guides"}, false},
		{"a group of readers", []string{"groups", "staff"}, false},
	} {
		made := b.post("/org/"+x.ID+"/exports", append([]string{"domain", "docs.example.com"}, c.form...)...).says(t, c.name, 303)
		id, _, _ := strings.Cut(path.Base(made.header.Get("Location")), "?")
		j, err := w.FindExport(w.ctx, id)
		if err != nil || (j.GoLive != nil) != c.live {
			t.Errorf("%s: the job has %+v, %v", c.name, j.GoLive, err)
		}
	}

	set := admin.Configuration{Kind: x.project.Kind, Deploy: admin.DeployManual}
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, set); err != nil {
		t.Fatal(err)
	}
	b.post("/org/"+x.ID+"/projects/"+x.project.ID+"/settings", "kind", "air-gapped").says(t, "settings", 303)
	if p, err := w.GetProject(w.ctx, x.project.ID); err != nil || p.Kind != admin.KindAirGapped || p.Deploy != admin.DeployManual {
		t.Errorf("the project is %+v, %v", p, err)
	}
}
