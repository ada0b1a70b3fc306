// Package upload brings a bundle's files to a bucket of S3, from where a host of
// static pages shows them. What pages load comes before the pages that name it,
// and what is gone goes last, so that no reader meets half of a version.
package upload

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// ErrNoBundle: the folder is not one that a bundle was unpacked into.
var ErrNoBundle = errors.New("no bundle was unpacked into it")

// Target is a place in a bucket.
type Target struct {
	Bucket string
	// Prefix is what all keys begin with, without slashes at its ends; "" for the
	// bucket's root.
	Prefix string
}

// ParseTarget reads an address such as s3://bucket/docs.
func ParseTarget(s string) (Target, error) {
	rest, ok := strings.CutPrefix(s, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	if !ok || bucket == "" || prefix != "" && !fs.ValidPath(prefix) {
		return Target{}, fmt.Errorf("%q is no place in a bucket; write s3://BUCKET or s3://BUCKET/PREFIX", s)
	}
	return Target{Bucket: bucket, Prefix: prefix}, nil
}

// String returns the target as ParseTarget reads it.
func (t Target) String() string { return strings.TrimSuffix("s3://"+t.Bucket+"/"+t.Prefix, "/") }

func (t Target) key(name string) string { return path.Join(t.Prefix, name) }

// within is what the keys of all its objects begin with.
func (t Target) within() string {
	if t.Prefix == "" {
		return ""
	}
	return t.Prefix + "/"
}

// Options say what becomes of objects that are there.
type Options struct {
	// Delete removes all objects below the target that are not the bundle's. Files
	// with a digest in their name stay for one upload more: somebody may have a page
	// open that loads them. Folders that another bundle was uploaded to stay whole.
	Delete bool
	// All uploads unchanged files, too, which gives them their types again.
	All bool
	// DryRun changes nothing.
	DryRun bool
}

// Result is what was done, or would be.
type Result struct {
	// Uploaded and Deleted are the files, by their paths in the bundle, sorted.
	Uploaded []string `json:"uploaded"`
	Deleted  []string `json:"deleted"`
	// Bytes is how much was uploaded, Unchanged how many files were there already.
	Bytes     int64 `json:"bytes"`
	Unchanged int   `json:"unchanged"`
}

const (
	// together is how many requests are made at once.
	together = 16
	// maxDeleted is how many objects one request removes at most, in S3.
	maxDeleted = 1000
)

// file is one file of the bundle.
type file struct {
	name   string
	size   int64
	sha256 [sha256.Size]byte
	md5    string // in hex, as S3 has it in the entity tag of an object
}

// stages are those of an upload, in their order: the files of one may name those of
// an earlier one.
const (
	stageAssets = iota // never change under their names
	stageFiles         // pictures and others
	stagePages
	stageLists // what is there now, for the next upload
	stages
)

func (f *file) stage() int {
	switch {
	case f.name == bundle.InfoPath, f.name == bundle.FilesPath, f.name == bundle.DiagnosticsPath:
		return stageLists
	case forever(f.name):
		return stageAssets
	case path.Ext(f.name) == ".html":
		return stagePages
	}
	return stageFiles
}

// forever reports whether a file never changes under its name.
func forever(name string) bool { return strings.Contains(site.CacheControl(name), "immutable") }

// Run uploads a bundle that was unpacked into a folder. Each file must be what the
// bundle's list says, or nothing is uploaded.
func Run(ctx context.Context, cfg aws.Config, site fs.FS, to Target, opt Options) (*Result, error) {
	files, err := read(ctx, site)
	if err != nil {
		return nil, err
	}
	u := &upload{to: to, opt: opt, site: site, client: s3.NewFromConfig(cfg, func(o *s3.Options) {
		// Host names for buckets need a name service, which stores of one's own rarely have.
		o.UsePathStyle = o.BaseEndpoint != nil
		// All uploads carry their SHA-256.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})}
	if err := u.list(ctx); err != nil {
		return nil, err
	}
	before, err := u.before(ctx)
	if err != nil {
		return nil, err
	}
	for stage := range stages {
		if err := u.put(ctx, slices.DeleteFunc(slices.Clone(files), func(f *file) bool { return f.stage() != stage })); err != nil {
			return nil, err
		}
	}
	if opt.Delete {
		for _, f := range files {
			delete(u.there, f.name)
		}
		if err := u.remove(ctx, before); err != nil {
			return nil, err
		}
	}
	slices.Sort(u.result.Uploaded)
	return &u.result, nil
}

// read reads all files of a bundle, and holds them against its list.
func read(ctx context.Context, site fs.FS) ([]*file, error) {
	list, err := site.Open(bundle.FilesPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoBundle
	}
	if err != nil {
		return nil, err
	}
	defer list.Close()
	entries, err := parse(list)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{bundle.FilesPath, bundle.DiagnosticsPath, bundle.InfoPath} {
		entries = append(entries, bundle.File{Path: name})
	}
	files := make([]*file, len(entries))
	for i, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := digest(site, entry.Path)
		if err != nil {
			return nil, err
		}
		if entry.SHA256 != "" && (entry.SHA256 != hex.EncodeToString(f.sha256[:]) || entry.Size != f.size) {
			return nil, fmt.Errorf("%s is not as the bundle has it", entry.Path)
		}
		files[i] = f
	}
	return files, nil
}

// parse reads a list of files.
func parse(r io.Reader) (list []bundle.File, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var f bundle.File
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%s: %w", bundle.FilesPath, err)
		}
		list = append(list, f)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.FilesPath, err)
	}
	return list, nil
}

func digest(site fs.FS, name string) (*file, error) {
	in, err := site.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	sum, tag := sha256.New(), md5.New()
	n, err := io.Copy(io.MultiWriter(sum, tag), in)
	if err != nil {
		return nil, err
	}
	return &file{name: name, size: n, sha256: [sha256.Size]byte(sum.Sum(nil)), md5: hex.EncodeToString(tag.Sum(nil))}, nil
}

// upload is one under way.
type upload struct {
	to     Target
	opt    Options
	site   fs.FS
	client *s3.Client
	there  map[string]string // entity tags of all objects below the target, by their names there

	mu     sync.Mutex
	result Result
}

// list asks what is there.
func (u *upload) list(ctx context.Context) error {
	u.there = map[string]string{}
	u.result.Uploaded, u.result.Deleted = []string{}, []string{}
	pages := s3.NewListObjectsV2Paginator(u.client, &s3.ListObjectsV2Input{Bucket: &u.to.Bucket, Prefix: aws.String(u.to.within())})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list %s: %w", u.to, err)
		}
		for _, o := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(o.Key), u.to.within())
			u.there[name] = strings.Trim(aws.ToString(o.ETag), `"`)
		}
	}
	return nil
}

// before returns the names of the bundle that was uploaded before this one.
func (u *upload) before(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	if _, ok := u.there[bundle.FilesPath]; !ok || !u.opt.Delete {
		return names, nil
	}
	out, err := u.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &u.to.Bucket, Key: aws.String(u.to.key(bundle.FilesPath))})
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", bundle.FilesPath, u.to, err)
	}
	defer out.Body.Close()
	list, err := parse(out.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.to, err)
	}
	for _, f := range list {
		names[f.Path] = true
	}
	return names, nil
}

// put uploads what is not there.
func (u *upload) put(ctx context.Context, files []*file) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for _, f := range files {
		if u.there[f.name] == f.md5 && !u.opt.All {
			u.result.Unchanged++
			continue
		}
		group.Go(func() error {
			if !u.opt.DryRun {
				if err := u.putOne(ctx, f); err != nil {
					return fmt.Errorf("upload %s to %s: %w", f.name, u.to, err)
				}
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			u.result.Uploaded = append(u.result.Uploaded, f.name)
			u.result.Bytes += f.size
			return nil
		})
	}
	return group.Wait()
}

func (u *upload) putOne(ctx context.Context, f *file) error {
	in, err := u.site.Open(f.name)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = u.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &u.to.Bucket, Key: aws.String(u.to.key(f.name)), Body: in, ContentLength: &f.size,
		ContentType: aws.String(site.ContentType(f.name)), CacheControl: aws.String(site.CacheControl(f.name)),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(f.sha256[:])),
	})
	return err
}

// leaveOthers takes from there what is below a folder that has a bundle of its own,
// such as one of an earlier release of what is documented.
func (u *upload) leaveOthers(before map[string]bool) {
	others := map[string]bool{}
	for name := range u.there {
		if dir, ok := strings.CutSuffix(name, "/"+bundle.FilesPath); ok && !before[name] {
			others[dir] = true
		}
	}
	maps.DeleteFunc(u.there, func(name, _ string) bool {
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if others[dir] {
				return true
			}
		}
		return false
	})
}

// remove removes what is left in there.
func (u *upload) remove(ctx context.Context, before map[string]bool) error {
	for name := range u.there {
		if forever(name) && before[name] {
			delete(u.there, name)
		}
	}
	u.leaveOthers(before)
	u.result.Deleted = slices.AppendSeq(u.result.Deleted, maps.Keys(u.there))
	slices.Sort(u.result.Deleted)
	if u.opt.DryRun {
		return nil
	}
	for names := range slices.Chunk(u.result.Deleted, maxDeleted) {
		gone := make([]types.ObjectIdentifier, len(names))
		for i, name := range names {
			gone[i].Key = aws.String(u.to.within() + name)
		}
		out, err := u.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &u.to.Bucket, Delete: &types.Delete{Objects: gone, Quiet: aws.Bool(true)}})
		if err != nil {
			return fmt.Errorf("delete from %s: %w", u.to, err)
		}
		if len(out.Errors) > 0 {
			e := out.Errors[0]
			return fmt.Errorf("delete %s from %s: %s (%d objects stay)", aws.ToString(e.Key), u.to, aws.ToString(e.Message), len(out.Errors))
		}
	}
	return nil
}
