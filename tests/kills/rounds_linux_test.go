package kills

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/server"
	"github.com/bindery-docs/bindery/tests/harness"
)

// killFolder is one data folder and its schedule.
type killFolder struct {
	*victim
	run    *kills
	number int
	rnd    *rand.Rand
	left   int // kills to come
	round  int
	phase  string // of the last kill

	site   *killSite
	newest string        // the published snapshot
	took   time.Duration // by a publish
	asked  time.Duration // by a request of an export
	// bundles is the bundle of each snapshot, by the exports' version.
	bundles map[string]killBundle
	orders  []*killOrder // all exports that were ever asked for
	hits    []killHit    // kills whose work is not yet over
	clients []string     // jobs of exports that clients asked for
}

// killBundle is what must be the same in all exports of a snapshot.
type killBundle struct {
	sha256 string
	size   float64
	job    string
}

// killOrder is an export that was asked for.
type killOrder struct {
	key      string // the Idempotency-Key
	id       string // once accepted
	status   string
	version  string
	progress float64
	pages    float64
	// mayFail reports that its process was killed alone twice in one life of the
	// server.
	mayFail bool
	created time.Time
}

func (o *killOrder) final() bool { return o.status == "completed" || o.status == "failed" }

// killHit is a kill and the exports that were under way.
type killHit struct {
	phase  string
	orders []*killOrder
}

// folder does a schedule on a fresh data folder.
func (r *kills) folder(t *testing.T, number, kills int) {
	rnd := rand.New(rand.NewPCG(r.seed, uint64(number)))
	f := &killFolder{
		victim: newVictim(t, r.program), run: r, number: number, rnd: rnd, left: kills,
		site: newKillSite(t, rnd, r.large), took: 200 * time.Millisecond, bundles: map[string]killBundle{},
	}
	f.stuck = func() {
		if f.phase != "" {
			r.count(f.phase, killStuck)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d, folder %d, round %d, last kill in %q; again: %s=%d %s=%d go test ./tests/kills -count=1 -v -run 'TestKills/folder/%04d$'",
				r.seed, number, f.round, f.phase, envKillsSeed, r.seed, envKills, r.total, number)
		}
	})
	// The very first start, which seeds the folder, and once it answers looks for
	// what is to be swept.
	f.begin()
	if rnd.IntN(2) == 0 {
		f.until("the server answers", 50*time.Microsecond, func() bool {
			_, err := os.Stat(filepath.Join(f.data, "env"))
			return err == nil
		})
		f.strikeStart("start", 8)
	} else {
		f.strikeStart("start", 150)
	}
	f.start()
	for f.left > 0 && !t.Failed() {
		if f.round++; f.round > 1 {
			f.site.next(t)
		}
		f.publishRound(min(f.left, 1+rnd.IntN(2)))
		if !t.Failed() {
			f.exportRound(min(f.left, 3+rnd.IntN(3)))
		}
		if !t.Failed() && f.left > 0 {
			f.downloadRound(min(f.left, 1+rnd.IntN(2)))
		}
		if !t.Failed() && f.left > 0 {
			f.liveRound(min(f.left, 1+rnd.IntN(2)))
		}
	}
	if !t.Failed() {
		f.peace()
	}
}

// fault reports what must not be, and counts it for the phase of the last kill.
func (f *killFolder) fault(count func(*tally), format string, args ...any) {
	f.t.Helper()
	f.run.count(f.phase, count)
	f.t.Errorf("round %d, after a kill in %q: %s", f.round, f.phase, fmt.Sprintf(format, args...))
}

func killLost(c *tally)      { c.lost++ }
func killStuck(c *tally)     { c.stuck++ }
func killDifferent(c *tally) { c.different++ }

// struck counts a kill.
func (f *killFolder) struck(phase string) {
	f.phase = phase
	f.left--
	f.run.count(phase, func(c *tally) { c.kills++ })
}

// strikeStart kills a server that is starting, within so many milliseconds.
func (f *killFolder) strikeStart(phase string, within int) {
	time.Sleep(time.Duration(f.rnd.IntN(within*1000)) * time.Microsecond)
	f.kill()
	f.struck(phase)
}

// again starts the server after a kill, sometimes with another kill meanwhile.
func (f *killFolder) again() {
	f.t.Helper()
	if f.left > 1 && f.rnd.IntN(6) == 0 {
		f.begin()
		if under := f.under(); len(under) > 0 {
			f.strikeStart("start, exports under way", 250)
			f.hits = append(f.hits, killHit{f.phase, under})
		} else {
			f.strikeStart("start", 150)
		}
	}
	f.start()
}

// under are the exports that are accepted and not over.
func (f *killFolder) under() []*killOrder {
	return slices.DeleteFunc(slices.Clone(f.orders), func(o *killOrder) bool { return o.id == "" || o.final() })
}

// order asks for an export of the newest snapshot. It returns an error for no answer
// and for any other than that it is accepted.
func (f *killFolder) order(o *killOrder) error {
	f.t.Helper()
	begin := time.Now()
	status, answer, err := f.call("POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q,"fresh":true,"goLive":true}`, server.SeedDomain), o.key)
	if err != nil {
		return err
	}
	id, _ := answer["jobId"].(string)
	if status != http.StatusAccepted || id == "" {
		return fmt.Errorf("the start of an export: %d %v", status, answer)
	}
	switch o.id {
	case "":
		f.asked = max(time.Since(begin), time.Millisecond)
	case id:
	default:
		f.fault(killLost, "the request of %s, repeated, made %s", o.id, id)
	}
	o.id = id
	return nil
}

// newOrder is an export that is not asked for yet.
func (f *killFolder) newOrder() *killOrder {
	o := &killOrder{key: fmt.Sprintf("kill-%d-%d", f.number, len(f.orders))}
	f.orders = append(f.orders, o)
	return o
}

// read reads an export, and checks that it never goes back.
func (f *killFolder) read(o *killOrder) {
	f.t.Helper()
	status, answer, err := f.call("GET", "/v1/static-export/jobs/"+o.id, "", "")
	if err != nil {
		f.t.Fatalf("reading %s: %v", o.id, err)
	}
	if status != http.StatusOK {
		f.fault(killLost, "%s is %d %v", o.id, status, answer)
		o.status = "failed"
		return
	}
	before := *o
	o.status, o.version = answer["status"].(string), answer["version"].(string)
	o.progress, o.pages = answer["progress"].(float64), answer["pageCount"].(float64)
	if text, _ := answer["createdAt"].(string); text != "" {
		created, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			f.t.Fatal(err)
		}
		o.created = created
	}
	if before.final() && o.status != before.status {
		f.fault(killLost, "%s was %s and is %s", o.id, before.status, o.status)
	}
	if o.progress < before.progress || o.pages < before.pages && !o.final() {
		f.fault(killLost, "%s had %v %% and %v pages, and has %v %% and %v pages", o.id, before.progress, before.pages, o.progress, o.pages)
	}
	if o.status == "failed" && !before.final() {
		failure, _ := answer["failure"].(map[string]any)
		if !o.mayFail || failure["code"] != "process_ended" {
			f.fault(killLost, "%s failed: %v", o.id, failure)
		}
	}
}

// stage is what an export is at, as its record and the log show it.
func (f *killFolder) stage(o *killOrder) string {
	switch {
	case o.final():
		return "export completed"
	case o.status == "running" && int(o.pages) >= f.site.pages():
		return "assembling"
	case o.status == "running":
		return "rendering"
	case f.log.hasBegun(o.id):
		return "planning"
	}
	return "export queued"
}

// reach waits until an export is at a stage, from some page of rendering on, and
// returns the stage of the one that came closest. Where all are past it, another
// export is begun.
func (f *killFolder) reach(stage string, pages int) string {
	f.t.Helper()
	at := ""
	tries := 0
	f.until("an export reaches the stage "+stage, 300*time.Microsecond, func() bool {
		under := f.under()
		if len(under) == 0 {
			if tries++; tries > 4 { // too fast to be seen
				at = "export completed"
				return true
			}
			o := f.newOrder()
			if err := f.order(o); err != nil {
				f.t.Fatal(err)
			}
			o.status = "queued"
			under = []*killOrder{o}
			if stage == "export queued" {
				at = stage
				return true
			}
		}
		for _, o := range under {
			f.read(o)
			if at = f.stage(o); at == stage && (stage != "rendering" || int(o.pages) >= pages) {
				return true
			}
		}
		return false
	})
	return at
}

// exportRound exports the newest snapshot several times at once and kills in the
// midst of it.
func (f *killFolder) exportRound(kills int) {
	since := len(f.orders)
	for range 1 + f.rnd.IntN(3) {
		if err := f.order(f.newOrder()); err != nil {
			f.t.Fatal(err)
		}
	}
	for until := f.left - kills; f.left > until && !f.t.Failed(); {
		switch f.rnd.IntN(10) {
		case 0, 1:
			f.strikeRequest()
		case 2, 3, 4:
			f.strikeChild()
		default:
			f.strikeExport()
		}
	}
	f.settle()
	if !f.t.Failed() {
		f.checkLive(since)
	}
	f.compare()
}

// strikeRequest kills the server while it answers the request of an export.
func (f *killFolder) strikeRequest() {
	under := f.under()
	o := f.newOrder()
	moment := time.Duration(f.rnd.Float64() * 1.3 * float64(f.asked))
	answered := make(chan error, 1)
	go func() { answered <- f.order(o) }()
	time.Sleep(moment)
	f.kill()
	first := <-answered
	const phase = "request of an export"
	f.struck(phase)
	f.again()
	if err := f.order(o); err != nil {
		f.t.Fatalf("the request, repeated after %v: %v", first, err)
	}
	f.hits = append(f.hits, killHit{phase, append(under, o)})
}

// killPlace is where the next kill is to hit.
func (f *killFolder) killPlace() string {
	stages := []string{"export queued", "planning", "planning", "rendering", "rendering", "rendering", "assembling", "assembling", "export completed"}
	at := f.reach(stages[f.rnd.IntN(len(stages))], f.rnd.IntN(killPages))
	time.Sleep(time.Duration(f.rnd.IntN(15000)) * time.Microsecond)
	return at
}

// strikeExport kills the server, and sometimes a process of an export with it.
func (f *killFolder) strikeExport() {
	at := f.killPlace()
	child := 0
	if f.rnd.IntN(4) == 0 {
		child = f.child(f.rnd.IntN(8))
	}
	under := f.under()
	if child == 0 {
		f.kill()
	} else {
		_ = f.cmd.Process.Kill()
		_ = syscall.Kill(child, syscall.SIGKILL)
		f.kill()
		at = besides("both", at)
	}
	f.struck(at)
	f.hits = append(f.hits, killHit{at, under})
	f.again()
	for _, o := range f.orders {
		f.read(o)
	}
}

// besides is the phase of a kill of an export's process.
func besides(who, stage string) string {
	switch stage {
	case "planning", "rendering", "assembling":
		return who + ": " + stage
	}
	return who + ": between"
}

// strikeChild kills the process of an export, and nothing else. Of the second in
// a life of the server, the export may have to fail.
func (f *killFolder) strikeChild() {
	at := f.killPlace()
	child := f.child(f.rnd.IntN(8))
	under := f.under()
	if child == 0 || f.childKills > 0 && len(under) > 1 {
		f.strikeExport()
		return
	}
	if f.childKills++; f.childKills > 1 {
		for _, o := range under {
			o.mayFail = true
		}
	}
	_ = syscall.Kill(child, syscall.SIGKILL)
	at = besides("child", at)
	f.struck(at)
	f.hits = append(f.hits, killHit{at, under})
	if len(under) == 1 && f.childKills == 1 && f.left > 0 && f.rnd.IntN(2) == 0 {
		f.strikeNext(child, under[0])
	}
}

// strikeNext kills the process that takes the place of one that was killed, if
// the export still needs one.
func (f *killFolder) strikeNext(first int, o *killOrder) {
	next := 0
	f.until("the export has another process", 300*time.Microsecond, func() bool {
		f.read(o)
		next = f.child(0)
		return o.final() || next != 0 && next != first
	})
	if o.final() {
		return
	}
	o.mayFail = true
	f.childKills++
	time.Sleep(time.Duration(f.rnd.IntN(100)) * time.Millisecond)
	_ = syscall.Kill(next, syscall.SIGKILL)
	const phase = "child: the next one too"
	f.struck(phase)
	f.hits = append(f.hits, killHit{phase, []*killOrder{o}})
}

// settle waits until nothing is under way, and looks at what became of it.
func (f *killFolder) settle() {
	deadline := time.Now().Add(killPatience)
	for _, o := range f.orders {
		for f.read(o); !o.final(); f.read(o) {
			if time.Now().After(deadline) {
				f.fault(killStuck, "%s is %s at %v %%", o.id, o.status, o.progress)
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	for _, h := range f.hits {
		if len(h.orders) == 0 {
			continue
		}
		f.run.count(h.phase, func(c *tally) {
			switch {
			case slices.ContainsFunc(h.orders, func(o *killOrder) bool { return o.status == "failed" }):
				c.ended++
			default:
				c.resumed++
			}
		})
	}
	f.hits = nil
	f.buried()
}

// compare holds the bundles of a snapshot's exports against each other, one of
// them exported in peace, by a client.
func (f *killFolder) compare() {
	if f.t.Failed() {
		return
	}
	out := filepath.Join(f.t.TempDir(), "bundle.tar.gz")
	c := f.client("export", "--domain", server.SeedDomain, "--out", out, "--fresh", "--json")
	if !c.wait(f.victim) {
		f.t.Fatalf("an export in peace: %s", c.err.Bytes())
	}
	made := c.answer(f.victim)
	f.clients = append(f.clients, made["jobId"].(string))
	f.same(killBundle{made["sha256"].(string), made["sizeBytes"].(float64), made["jobId"].(string)}, f.newest)
	_ = os.Remove(out)
	if found, _ := made["diagnostics"].(map[string]any); found["errors"] != 0.0 || found["warnings"] != 0.0 {
		f.fault(killDifferent, "the site has faults: %v", made)
	}
	for _, o := range f.orders {
		if err := f.order(o); err != nil { // once more, with the same key
			f.t.Fatal(err)
		}
		if o.status != "completed" {
			continue
		}
		status, link, err := f.call("POST", "/v1/static-export/jobs/"+o.id+"/bundle", "", "")
		if err != nil || status != http.StatusOK {
			f.fault(killLost, "the bundle of %s: %d %v %v", o.id, status, link, err)
			continue
		}
		f.same(killBundle{link["sha256"].(string), link["sizeBytes"].(float64), o.id}, o.version)
	}
}

// same holds a bundle against that of the same snapshot.
func (f *killFolder) same(b killBundle, version string) {
	f.t.Helper()
	want, known := f.bundles[version]
	if !known {
		f.bundles[version] = b
		return
	}
	if b.sha256 != want.sha256 || b.size != want.size {
		f.fault(killDifferent, "the bundle of %s is %s with %v bytes, that of %s is %s with %v bytes", b.job, b.sha256, b.size, want.job, want.sha256, want.size)
	}
}

// objects counts the files of objects, and those that are being written.
func (f *killFolder) objects() (files, writing int) {
	root := filepath.Join(f.data, "objects")
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case filepath.Base(filepath.Dir(path)) == "tmp":
			writing++
		default:
			files++
		}
		return nil
	})
	return files, writing
}

// publishRound publishes the site's edition by the client, and kills in the
// midst of it.
func (f *killFolder) publishRound(kills int) {
	before := f.newest
	begin := time.Now()
	c := f.client("publish", f.site.dir, "--domain", server.SeedDomain, "--json")
	alone := true
	var phases []string
	for range kills {
		phases = append(phases, f.strikePublish(c, before))
		if f.rnd.IntN(6) == 0 && !c.isDone() {
			alone = false
			_ = c.cmd.Process.Kill()
		}
		f.again()
		if now := f.latest(); now != nil && now["snapshotId"] != before {
			f.whole(now)
		} else if before != "" && now == nil {
			f.fault(killLost, "the snapshot %s is gone", before)
		}
	}
	well := c.wait(f.victim)
	if well && alone {
		f.took = (3*f.took + min(time.Since(begin), 2*time.Second)) / 4
	}
	if !well {
		if alone {
			f.t.Logf("round %d: the client gave up after kills in %q: %s", f.round, phases, strings.TrimSpace(c.err.String()))
		}
		if c = f.client("publish", f.site.dir, "--domain", server.SeedDomain, "--json"); !c.wait(f.victim) {
			f.fault(killLost, "a second publish: %s", c.err.Bytes())
			return
		}
	}
	for _, phase := range phases {
		if well || !alone {
			f.run.count(phase, func(c *tally) { c.resumed++ })
		}
	}
	now := f.latest()
	if now == nil || now["snapshotId"] == before {
		f.fault(killLost, "a snapshot that was published is not the newest: %v", now)
		return
	}
	f.whole(now)
	f.newest = now["snapshotId"].(string)
	// Nothing is left to send: the manifest is the folder's.
	if c = f.client("publish", f.site.dir, "--domain", server.SeedDomain, "--json"); !c.wait(f.victim) {
		f.t.Fatalf("a publish in peace: %s", c.err.Bytes())
	}
	if said := c.answer(f.victim); said["upToDate"] != true || said["snapshotId"] != f.newest {
		f.fault(killDifferent, "the snapshot %s is not the folder: %v", f.newest, said)
	}
}

// whole checks that a snapshot has the files of the site's edition.
func (f *killFolder) whole(snapshot map[string]any) {
	files := 0
	_ = filepath.WalkDir(f.site.dir, func(_ string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if snapshot["fileCount"] != float64(files) || snapshot["status"] != "published" {
		f.fault(killDifferent, "a snapshot of %d files is %v", files, snapshot)
	}
}

// strikePublish kills the server at some moment of a publish.
func (f *killFolder) strikePublish(c *killClient, before string) string {
	had, _ := f.objects()
	wait := func(what string, done func() bool) {
		f.until(what, 200*time.Microsecond, func() bool { return c.isDone() || done() })
	}
	switch f.rnd.IntN(4) {
	case 0:
		time.Sleep(time.Duration(f.rnd.Int64N(int64(f.took))))
	case 1:
		wait("an upload begins", func() bool { _, writing := f.objects(); return writing > 0 })
		time.Sleep(time.Duration(f.rnd.IntN(3000)) * time.Microsecond)
	case 2:
		wait("an upload ends", func() bool { files, _ := f.objects(); return files > had })
		time.Sleep(time.Duration(f.rnd.IntN(6000)) * time.Microsecond)
	case 3:
		wait("the snapshot is published", func() bool { now := f.latest(); return now != nil && now["snapshotId"] != before })
	}
	files, writing := f.objects()
	f.kill()
	phase := "publish: before the upload"
	switch {
	case c.isDone():
		phase = "publish: published"
	case writing > 0:
		phase = "publish: during the upload"
	case files > had:
		phase = "publish: after the upload"
	}
	f.struck(phase)
	return phase
}

// downloadRound downloads a bundle by the client, and kills when a part of it is
// there: the server, and sometimes the client too.
func (f *killFolder) downloadRound(kills int) {
	// The largest has most to interrupt.
	var b killBundle
	for _, known := range f.bundles {
		if known.size > b.size {
			b = known
		}
	}
	out := filepath.Join(f.t.TempDir(), "bundle.tar.gz")
	begin := func() *killClient { return f.client("export", "--job", b.job, "--out", out, "--json") }
	there := func() int64 {
		info, err := os.Stat(out + ".part")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	c := begin()
	var phases []string
	least := int64(0) // bytes that must never be fetched again
	for range kills {
		from := least + int64(f.rnd.Float64()*(b.size-float64(least))*0.8)
		f.until("the download comes so far", 50*time.Microsecond, func() bool { return c.isDone() || there() >= from && there() > 0 })
		_ = c.cmd.Process.Signal(syscall.SIGSTOP)
		phase := "download"
		have := there()
		if c.isDone() || float64(have) >= b.size || have == 0 {
			phase, have = "download: all sent", least
		}
		f.kill()
		if phase == "download" && f.rnd.IntN(2) == 0 {
			phase = "download: both ends"
			_ = c.cmd.Process.Kill()
			<-c.done
		}
		least = have
		f.struck(phase)
		f.again()
		if phase == "download: both ends" {
			c = begin()
		} else {
			_ = c.cmd.Process.Signal(syscall.SIGCONT)
		}
		phases = append(phases, phase)
	}
	f.until("the download ends", 100*time.Microsecond, func() bool {
		if !c.isDone() && there() < least && there() > 0 {
			f.fault(killDifferent, "a download that had %d bytes began anew", least)
			return true
		}
		return c.isDone()
	})
	if !c.wait(f.victim) {
		f.fault(killLost, "the download: %s", c.err.Bytes())
		return
	}
	archive, err := os.ReadFile(out)
	if err != nil {
		f.t.Fatal(err)
	}
	if got := harness.Digest(archive); got != b.sha256 {
		f.fault(killDifferent, "the download of %s is %s, not %s", b.job, got, b.sha256)
	}
	if there() > 0 {
		f.fault(killDifferent, "a part of a download is left")
	}
	for _, phase := range phases {
		f.run.count(phase, func(c *tally) { c.resumed++ })
	}
	_ = os.Remove(out)
}
