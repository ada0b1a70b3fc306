package dashboard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/publish"
	"github.com/bindery-docs/bindery/shared/service/sitefolder"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// A browser publishes a folder in four calls with bodies and answers in JSON. It knows
// no rule: it asks which files are published, what goes into which pack, and what of
// that is missing. Only the server writes manifests.
//
//	look    which of these folders to look into, which of these files are published
//	plan    the files with their digests: which packs they go into
//	begin   the packs with their digests: links for those that are missing
//	finish  publishes, and starts an export

const (
	// maxList is the most bytes of a call: the list of some 30,000 files. On AWS, a call
	// of a Lambda function takes 6 MB, with every quote in the list as two characters.
	maxList = 4 << 20
	// maxHashed is the most bytes of a file that a browser hashes: it has to hold all of
	// them in memory at once.
	maxHashed = 512 << 20
	// maxBase is the most bytes of the newest snapshot's manifest: some 100,000 files,
	// which a function has to hold in memory.
	maxBase = 16 << 20
)

type publishView struct {
	admin.Project
	// Exports reports that an export is started, Live that it may go live.
	Exports, Live bool
	// MaxList, MaxFile and MaxBytes are limits in bytes: of a call, of a file, and of all
	// files together.
	MaxList, MaxFile, MaxBytes int64
	IgnoreFile, RulesFile      string
	// RulesBytes is the number of bytes of RulesFile that are sent: enough to see that it is too long.
	RulesBytes int64
}

func publishPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	if q.d.opt.Objects == nil {
		return notFound()
	}
	origin, err := q.uploadOrigin()
	if err != nil {
		return err
	}
	if origin != "" {
		q.w.Header().Set("Content-Security-Policy", strings.Replace(q.d.policy, "connect-src 'self'", "connect-src 'self' "+origin, 1))
	}
	v := publishView{
		Project: p, MaxList: maxList, MaxFile: maxHashed, MaxBytes: snapshot.MaxBytes,
		IgnoreFile: sitefolder.IgnoreFile, RulesFile: rulesfile.Name, RulesBytes: rulesfile.MaxBytes + 1,
	}
	v.Exports = admin.RequirePlan(q.caller, admin.PlanEnterprise) == nil
	v.Live = v.Exports && q.may(admin.ActionDeploy)
	return q.page("publish", "Publish a folder", v)
}

// uploadOrigin returns the origin of links for uploads, for the policy; empty if that
// is the dashboard's own server. Storage alone knows it, so it is that of a link, which
// nobody gets.
func (q *request) uploadOrigin() (string, error) {
	sum := sha256.Sum256(nil)
	digest := hex.EncodeToString(sum[:])
	link, err := q.d.opt.Objects.PresignPut(q.ctx(), admin.PackKey(q.org.ID, digest), 1, digest, time.Minute)
	if err != nil {
		return "", fmt.Errorf("find where uploads go: %w", err)
	}
	u, err := url.Parse(q.d.near(link.URL))
	if err != nil || u.Host == "" {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}

// near is a link of the dashboard's own server without its host: a browser may know the
// server by another name.
func (d *Dashboard) near(link string) string {
	base, err := url.Parse(d.opt.URL)
	if err != nil {
		return link
	}
	if path, ok := strings.CutPrefix(link, base.Scheme+"://"+base.Host+"/"); ok {
		return "/" + path
	}
	return link
}

// listed is a file of a folder that a browser has.
type listed struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// lookAround asks what of one level of a folder is published.
type lookAround struct {
	// Ignores and Rules are the texts of the site's files of rules.
	Ignores string `json:"ignores"`
	Rules   string `json:"rules"`
	// Root reports that Files are all files of the root.
	Root    bool     `json:"root"`
	Folders []string `json:"folders"`
	Files   []string `json:"files"`
}

// around are the folders to look into and the files to publish, by their places in the
// lists.
type around struct {
	Folders []int `json:"folders"`
	Files   []int `json:"files"`
}

func lookFolder(q *request) error {
	var in lookAround
	if _, err := q.call(&in); err != nil {
		return err
	}
	for _, list := range [][]string{in.Files, in.Folders} {
		names, _ := sitefolder.Names(list)
		if err := snapshot.CheckNames(slices.DeleteFunc(names, func(name string) bool { return name == "" })); err != nil {
			return folderFault(err) // such as ../a, of a zip
		}
	}
	rules := sitefolder.ParseRules(in.Ignores, in.Rules)
	out := around{Folders: []int{}, Files: []int{}}
	published := make(map[string]bool)
	for i, name := range in.Files {
		if rules.Publishes(name) {
			out.Files = append(out.Files, i)
			published[sitefolder.Name(name)] = true
		}
	}
	if in.Root {
		if fault := sitefolder.Config(func(name string) bool { return published[name] }); fault != nil {
			return folderFault(snapshot.PathErrors{fault})
		}
	}
	for i, name := range in.Folders {
		if rules.Enters(name) {
			out.Folders = append(out.Folders, i)
		}
	}
	return q.writeJSON(out)
}

// planned has the result of a plan: nothing was sent yet.
type planned struct {
	// Base is the snapshot that it is made on top of, and Snapshot that snapshot if it has
	// the same files: nothing is to be published then.
	Base     string `json:"base"`
	Snapshot string `json:"snapshot,omitempty"`
	// Packs are the new packs, each as the places of its files in the list.
	Packs [][]int `json:"packs"`
	// LeftOut are files with the name of another one.
	LeftOut []string `json:"leftOut"`
	Files   int      `json:"files"` // that are published
	// Once names the publish, so that ending it twice starts one export.
	Once string `json:"once"`
}

func planFolder(q *request) error {
	var in struct {
		Files []listed `json:"files"`
	}
	project, err := q.call(&in)
	if err != nil {
		return err
	}
	f, err := q.folder(project, in.Files)
	if err != nil {
		return err
	}
	out := planned{Base: f.base.ID, Packs: [][]int{}, LeftOut: []string{}, Files: len(f.place), Once: once()}
	for _, one := range f.refused {
		out.LeftOut = append(out.LeftOut, one.Error())
	}
	for _, pack := range f.plan.New {
		places := make([]int, len(pack.Files))
		for i, file := range pack.Files {
			places[i] = f.place[file.Path]
		}
		out.Packs = append(out.Packs, places)
	}
	if len(f.plan.New) == 0 {
		_, blob, err := f.seal(q, nil)
		if err != nil {
			return err
		}
		if blob == f.base.Manifest {
			out.Snapshot = f.base.ID
		}
	}
	return q.writeJSON(out)
}

// begun lists the missing packs of a snapshot.
type begun struct {
	Snapshot string   `json:"snapshot"`
	Uploads  []upping `json:"uploads"`
}

// upping is a pack that is to be sent: its place among the plan's.
type upping struct {
	Pack    int               `json:"pack"`
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

func beginFolder(q *request) error {
	var in struct {
		Base  string   `json:"base"`
		Files []listed `json:"files"`
		Packs []string `json:"packs"` // digests, in the order of the plan
	}
	project, err := q.call(&in)
	if err != nil {
		return err
	}
	f, err := q.folder(project, in.Files)
	if err != nil {
		return err
	}
	if f.base.ID != in.Base {
		return errOvertaken
	}
	text, blob, err := f.seal(q, in.Packs)
	if err != nil {
		return err
	}
	create := admin.CreateSnapshot{Domain: project.Domain, Base: in.Base, Manifest: blob}
	for _, pack := range f.manifest.Packs {
		create.Packs = append(create.Packs, admin.Blob(pack))
	}
	pending, err := q.admin().CreateSnapshot(q.ctx(), q.caller, create)
	if err != nil {
		return err
	}
	fresh := make(map[string]int, len(f.plan.New))
	for i, pack := range f.plan.New {
		fresh[pack.SHA256] = i
	}
	out := begun{Snapshot: pending.ID, Uploads: []upping{}}
	for _, u := range pending.Uploads {
		if u.Kind == admin.UploadManifest {
			if _, err := q.d.opt.Objects.Put(q.ctx(), pending.ManifestKey(), bytes.NewReader(text), store.PutOptions{SHA256: blob.SHA256}); err != nil {
				return fmt.Errorf("write the manifest of %s: %w", pending.ID, err)
			}
			continue
		}
		i, ok := fresh[u.SHA256]
		if !ok { // the service has lost it
			return admin.Errorf(admin.CodeInconsistent, "the pack %s is missing, which is of an earlier snapshot", u.SHA256)
		}
		one := upping{Pack: i, Method: http.MethodPut, URL: q.d.near(u.Link.URL), Headers: map[string]string{}}
		for name := range u.Link.Header {
			one.Headers[name] = u.Link.Header.Get(name)
		}
		out.Uploads = append(out.Uploads, one)
	}
	return q.writeJSON(out)
}

// errOvertaken is for a publish on top of a snapshot that is the newest no more.
var errOvertaken = admin.Errorf(admin.CodeOvertaken, "another snapshot of this domain was published meanwhile; look at it, then publish the folder again")

// published has the address of the page that shows a publish.
type published struct {
	Page string `json:"page"`
}

func finishFolder(q *request) error {
	var in struct {
		Snapshot string `json:"snapshot"`
		Once     string `json:"once"`
	}
	project, err := q.call(&in)
	if err != nil {
		return err
	}
	snapshot, err := q.admin().Publish(q.ctx(), q.caller, admin.Publish{Domain: project.Domain, SnapshotID: in.Snapshot, Check: publish.Check(q.d.opt.Objects)})
	if admin.CodeOf(err) == admin.CodeOvertaken {
		return errOvertaken
	}
	if err != nil {
		return err
	}
	if admin.RequirePlan(q.caller, admin.PlanEnterprise) != nil {
		return q.writeJSON(published{q.d.below + q.path("projects", project.ID, "snapshots") + "?done=published"})
	}
	j, err := q.admin().StartExport(q.ctx(), q.caller, admin.StartExport{
		Domain: project.Domain, GoLive: q.may(admin.ActionDeploy), Newest: snapshot.ID, IdempotencyKey: in.Once,
	})
	switch admin.CodeOf(err) {
	case admin.CodeOvertaken: // its own snapshot is the newest no more
		return errOvertaken
	case admin.CodeKeyRunning, admin.CodeTemporary: // an export may have been started
		return err
	}
	if own, ok := errors.AsType[*admin.Error](err); ok {
		return admin.Errorf(own.Code(), "the folder is published, and no export was started: %s", plain(own)).After(own.RetryAfter)
	}
	if err != nil {
		return err
	}
	return q.writeJSON(published{q.d.below + q.path("exports", j.ID) + "?done=exporting"})
}

// folder is a folder that a browser has, on top of a site's newest snapshot.
type folder struct {
	base    admin.Snapshot // zero if there is none
	plan    *snapshot.Plan
	place   map[string]int // path in the snapshot → place in the browser's list
	refused snapshot.PathErrors

	manifest *snapshot.Manifest // once it is sealed
}

// folder plans a publish. The same list and the same newest snapshot make the same plan.
func (q *request) folder(project admin.Project, list []listed) (*folder, error) {
	f := &folder{place: make(map[string]int, len(list))}
	var base *snapshot.Manifest
	var err error
	f.base, err = q.admin().LatestSnapshot(q.ctx(), q.caller, project.Domain)
	switch code := admin.CodeOf(err); {
	case code == admin.CodeNotFound || code == admin.CodeNoSnapshot:
		f.base = admin.Snapshot{}
	case err != nil:
		return nil, err
	case f.base.Manifest.Size > maxBase:
		return nil, errTooMany
	default:
		if base, err = publish.Manifest(q.ctx(), q.d.opt.Objects, f.base); err != nil {
			return nil, err
		}
	}
	disk := make([]string, len(list))
	for i, one := range list {
		disk[i] = one.Path
	}
	names, refused := sitefolder.Names(disk)
	f.refused = refused
	var files []snapshot.File
	for i, name := range names {
		if name == "" && disk[i] != "" {
			continue
		}
		file := snapshot.File{Path: name, SHA256: list[i].SHA256, Size: list[i].Size}
		if base != nil {
			// A folder in a browser has no commits: a file that is as it was is of then.
			if was, ok := base.Entry(name); ok && was.SHA256 == file.SHA256 {
				file.Modified = was.Modified
			}
		}
		files = append(files, file)
		f.place[name] = i
	}
	if fault := sitefolder.Config(func(name string) bool { _, ok := f.place[name]; return ok }); fault != nil {
		return nil, folderFault(snapshot.PathErrors{fault})
	}
	if _, err := sitefolder.Bytes(files); err != nil {
		return nil, admin.Errorf(admin.CodeTooLarge, "%s", err)
	}
	if f.plan, err = snapshot.NewPlan(files, base); err != nil {
		return nil, folderFault(err)
	}
	return f, nil
}

// folderFault describes the faults of a folder, and of files in it by their paths.
func folderFault(err error) error {
	err = publish.Fault(err)
	if own, ok := errors.AsType[*admin.Error](err); ok {
		return admin.Errorf(own.Code(), "the folder can't be published: %s", own.SafeMessage())
	}
	return err
}

var errPacks = admin.Errorf(admin.CodeInvalid, "the packs are not those of the plan; publish the folder again")

// seal makes the manifest of a folder with new packs of these digests, and returns its
// text.
func (f *folder) seal(q *request, packs []string) ([]byte, admin.Blob, error) {
	if len(packs) != len(f.plan.New) {
		return nil, admin.Blob{}, errPacks
	}
	for i, pack := range f.plan.New {
		pack.SHA256 = packs[i]
		if pack.SHA256 == "" {
			return nil, admin.Blob{}, errPacks
		}
	}
	m, err := f.plan.Seal(q.ctx(), func(string) (io.ReadCloser, error) { return nil, errPacks })
	if err != nil {
		return nil, admin.Blob{}, folderFault(err)
	}
	text, err := snapshot.Encode(m)
	if err != nil {
		return nil, admin.Blob{}, folderFault(err)
	}
	f.manifest = m
	sum := sha256.Sum256(text)
	return text, admin.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))}, nil
}

var errTooMany = admin.Errorf(admin.CodeTooLarge, "the site has too many files for a browser; publish it with the command line")

// call reads the body of a call, and the project that it is about.
func (q *request) call(into any) (admin.Project, error) {
	project, err := q.project()
	if err != nil {
		return admin.Project{}, err
	}
	if q.d.opt.Objects == nil {
		return admin.Project{}, notFound()
	}
	body, err := io.ReadAll(q.r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return admin.Project{}, errTooMany
	}
	if err != nil {
		return admin.Project{}, errForm
	}
	if err := basejson.Unmarshal(body, into); err != nil {
		return admin.Project{}, admin.Errorf(admin.CodeInvalid, "the call can't be read: %s", err)
	}
	return project, nil
}

// refuseJSON answers a call with what went wrong: a sentence, and the code of admin that
// scripts act on.
func (q *request) refuseJSON(code, message string) {
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status(code))
	_ = json.NewEncoder(q.w).Encode(map[string]string{"code": code, "error": message}) // the reader has gone
}

// writeJSON answers a call.
func (q *request) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = q.w.Write(text) // the reader has gone, and nobody else could be told
	return nil
}
