package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// world is an installation with one organisation and one site.
type world struct {
	dir     string
	store   store.Store
	objects store.Objects
	runner  store.Runner
	admin   *admin.Service
	caller  admin.Caller
	now     time.Time
	close   func(t testing.TB)
}

const domain = "docs.example"

// newWorld opens an installation in a new folder.
func newWorld(t testing.TB) *world {
	t.Helper()
	return openWorld(t, t.TempDir())
}

// openWorld opens an installation, and makes its organisation where it is new.
func openWorld(t testing.TB, dir string) *world {
	t.Helper()
	return openWorldOf(t, dir, admin.KindCloud, admin.Settings{})
}

// openWorldOf is openWorld with a project of one kind and its settings.
func openWorldOf(t testing.TB, dir string, kind admin.Kind, settings admin.Settings) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{dir: dir, now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	l, err := local.Open(ctx, local.Options{Dir: dir, BaseURL: "http://127.0.0.1:1", Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	w.close = func(t testing.TB) {
		once.Do(func() {
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { w.close(t) })
	w.store, w.objects, w.runner = l.Store(), l.Objects(), l.Runner()
	w.admin = w.service(w.store, w.objects, w.runner)
	orgs, err := w.admin.ListOrganisations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(orgs) == 0 {
		org, err := w.admin.CreateOrganisation(ctx, admin.Organisation{Name: "Example", Plan: admin.PlanEnterprise})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.admin.CreateProject(ctx, admin.Project{
			Organisation: org.ID, Domain: domain, Repository: "https://git.example/docs", Kind: kind, Settings: settings,
		})
		if err != nil {
			t.Fatal(err)
		}
		orgs = append(orgs, org)
	}
	w.caller = admin.Caller{OrganisationID: orgs[0].ID, KeyID: "key_test", Plan: admin.PlanEnterprise}
	return w
}

// service makes the rules over ports that a test may have wrapped.
func (w *world) service(s store.Store, o store.Objects, r store.Runner) *admin.Service {
	return admin.New(admin.Options{Store: s, Objects: o, Runner: r, Now: func() time.Time { return w.now }, MaxRunning: 1000})
}

func (w *world) steps(change func(*Options)) *Steps {
	o := Options{Admin: w.admin, Objects: w.objects, Now: func() time.Time { return w.now }, Renderer: "test"}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// keeper looks after the installation's exports.
func (w *world) keeper() *job.Keeper {
	return job.NewKeeper(job.Options{Admin: w.admin, Objects: w.objects, Runner: w.runner, Now: func() time.Time { return w.now }})
}

// publish makes the files of a folder the site's newest snapshot, in packs of
// its own.
func (w *world) publish(t testing.TB, fsys fs.FS) admin.Snapshot {
	t.Helper()
	return w.publishManifest(t, fsys, nil)
}

// publishOn publishes what is new against another snapshot.
func (w *world) publishOn(t testing.TB, fsys fs.FS, base admin.Snapshot) admin.Snapshot {
	t.Helper()
	body, err := w.objects.Get(context.Background(), base.ManifestKey(), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	m, err := snapshot.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return w.publishManifest(t, fsys, m)
}

func (w *world) publishManifest(t testing.TB, fsys fs.FS, old *snapshot.Manifest) admin.Snapshot {
	t.Helper()
	ctx := context.Background()
	var files []snapshot.File
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		f := snapshot.File{Path: p, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
		if m, ok := fsys.(fstest.MapFS); ok {
			f.Modified = m[p].ModTime
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	base := ""
	if latest, err := w.admin.LatestSnapshot(ctx, w.caller, domain); err == nil {
		base = latest.ID
	}
	plan, err := snapshot.NewPlan(files, old)
	if err != nil {
		t.Fatal(err)
	}
	open := func(p string) (io.ReadCloser, error) { return fsys.Open(p) }
	m, err := plan.Seal(ctx, open)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := snapshot.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(encoded)
	in := admin.CreateSnapshot{Domain: domain, Base: base, Manifest: admin.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(encoded))}}
	for _, p := range m.Packs {
		in.Packs = append(in.Packs, admin.Blob{SHA256: p.SHA256, Size: p.Size})
	}
	pending, err := w.admin.CreateSnapshot(ctx, w.caller, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan.New {
		r := p.Reader(ctx, open)
		if _, err := w.objects.Put(ctx, pending.PackKey(p.SHA256), r, store.PutOptions{SHA256: p.SHA256}); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	if _, err := w.objects.Put(ctx, pending.ManifestKey(), bytes.NewReader(encoded), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	published, err := w.admin.Publish(ctx, w.caller, admin.Publish{Domain: domain, SnapshotID: pending.ID,
		Check: func(ctx context.Context, p admin.Snapshot) (admin.Contents, error) {
			return admin.Contents{Files: len(m.Entries), Bytes: m.Bytes()}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return published
}

// start queues a job that is rendered, whatever is stored.
func (w *world) start(t testing.TB, paths ...string) admin.ExportJob {
	t.Helper()
	return w.startOf(t, admin.StartExport{Paths: paths, Fresh: true})
}

// startOf queues a job of the site.
func (w *world) startOf(t testing.TB, in admin.StartExport) admin.ExportJob {
	t.Helper()
	in.Domain = domain
	job, err := w.admin.StartExport(context.Background(), w.caller, in)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// workflow runs a job's whole workflow as its state machine says.
func workflow(ctx context.Context, s *Steps, job string) error { return workflowOf(ctx, s, job, 4) }

// workflowOf renders so many shards at the same time.
func workflowOf(ctx context.Context, s *Steps, exp string, concurrency int) error {
	return workflowAcross(ctx, s, s, exp, concurrency)
}

// workflowAcross has Plan done by steps of its own, as where each step is another
// process.
func workflowAcross(ctx context.Context, plans, s *Steps, exp string, concurrency int) error {
	definition, err := job.Definition(job.ByName, concurrency)
	if err != nil {
		return err
	}
	machine, err := asl.Load(definition)
	if err != nil {
		return err
	}
	tasks := s.Tasks()
	tasks[job.TaskPlan] = plans.Tasks()[job.TaskPlan]
	tasks[job.TaskFail] = job.Task(job.Silent(job.NewKeeper(job.Options{Admin: s.opt.Admin, Objects: s.opt.Objects, Log: s.opt.Log, Now: s.opt.Now}).Fail))
	input, err := json.Marshal(admin.WorkflowInput{JobID: exp})
	if err != nil {
		return err
	}
	_, err = machine.Run(ctx, exp, input, asl.Options{
		Tasks: tasks, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	return err
}

// exported runs a job and gives its bundle.
func (w *world) exported(t testing.TB, change func(*Options), paths ...string) []byte {
	t.Helper()
	job := w.start(t, paths...)
	if err := workflow(context.Background(), w.steps(change), job.ID); err != nil {
		j, _ := w.admin.FindExport(context.Background(), job.ID)
		t.Fatalf("%v; failure %+v", err, j.Failure)
	}
	return w.bundle(t, job.ID)
}

// bundle reads the bundle of a job that must be completed, and checks it.
func (w *world) bundle(t testing.TB, id string) []byte {
	t.Helper()
	ctx := context.Background()
	job, err := w.admin.FindExport(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if job.Status != admin.ExportCompleted {
		t.Fatalf("the job is %s: %+v", job.Status, job.Failure)
	}
	body, err := w.objects.Get(ctx, job.Bundle.Key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != job.Bundle.SHA256 || int64(len(data)) != job.Bundle.Size {
		t.Errorf("the bundle is not what its job says")
	}
	info, err := bundle.Read(ctx, bytes.NewReader(data), bundle.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info.Pages != job.Bundle.Pages || info.Version != job.Version {
		t.Errorf("the bundle describes itself as %+v, the job says %+v", info, job.Bundle)
	}
	return data
}

// unpacked gives the files of a bundle.
func unpacked(t testing.TB, data []byte) map[string]string {
	t.Helper()
	files := make(map[string]string)
	_, err := bundle.Read(context.Background(), bytes.NewReader(data), bundle.Limits{}, func(e bundle.Entry, r io.Reader) error {
		text, err := io.ReadAll(r)
		files[e.Path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sampleSite is a site of some pages with what an export has to get right.
func sampleSite(pages int) fstest.MapFS {
	files := fstest.MapFS{}
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
	var names []string
	for i := range pages {
		name := fmt.Sprintf("guides/part-%02d/page-%03d", i%7, i)
		names = append(names, name)
		put(name+".mdx", fmt.Sprintf("---\ntitle: \"Page %d\"\ndescription: What page %d is for.\n---\n\n"+
			"## First heading\n\nSee [another](/guides/part-%02d/page-%03d#first-heading) and ![a picture](/images/a.png).\n\n"+
			"```go\nfunc page() int { return %d }\n```\n\n<Note>Mind the *gap*.</Note>\n", i, i, (i+1)%pages%7, (i+1)%pages, i))
	}
	nav, _ := json.Marshal(names)
	put("docs.json", `{"name":"Sample","colors":{"primary":"#0055aa"},"navigation":{"groups":[{"group":"All","pages":`+string(nav)+`}]},`+
		`"redirects":[{"source":"/old","destination":"/`+names[0]+`"},{"source":"/past/*","destination":"/guides/*"}]}`)
	put("images/a.png", "\x89PNG\r\n")
	put("style.css", "h1 { background: url(/images/a.png) }\n")
	put("hidden.mdx", "---\ntitle: Off the map\nhidden: true\n---\n\nA [broken](/nowhere) link and a [broken place](/"+names[0]+"#nowhere).\n")
	return files
}

// realSite opens one of the shared sites, or skips the test.
func realSite(t testing.TB, name string) fs.FS {
	t.Helper()
	return os.DirFS(outside.Folder(t, "corpora", name))
}
