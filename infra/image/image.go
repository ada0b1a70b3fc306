package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	// user is who the programs run as where nothing else is said; any other
	// works as well.
	user = "65532:65532"
	// rootsFile is where Go's programs look for certificates first.
	rootsFile = "etc/ssl/certs/ca-certificates.crt"
	// bundleFile is where the bundle of an image with one is.
	bundleFile = "bundle.tar.gz"
)

// entry is a file or folder of a layer.
type entry struct {
	name string // without a leading slash; a folder's ends in one
	mode int64
	data []byte
	file string // in place of data
}

// build makes an image and writes it; the digest is that of its index.
func build(ctx context.Context, o order) (v1.Hash, error) {
	work, err := os.MkdirTemp("", "bindery-image-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer os.RemoveAll(work)
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range o.archs {
		layers, entrypoint, err := contents(ctx, o, arch, work)
		if err != nil {
			return v1.Hash{}, err
		}
		image, err := assemble(o, arch, layers, entrypoint)
		if err != nil {
			return v1.Hash{}, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			MediaType: types.OCIManifestSchema1, Platform: &v1.Platform{OS: "linux", Architecture: arch},
		}})
	}
	if err := writeArchive(o, index, filepath.Join(work, "layout")); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// contents are the layers of an image, what changes least first, and what it
// starts.
func contents(ctx context.Context, o order, arch, work string) (layers [][]entry, entrypoint string, err error) {
	license := entry{name: "LICENSE", mode: 0o444, file: filepath.Join(o.root, "LICENSE")}
	base := []entry{
		{name: "data/", mode: 0o777}, {name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: rootsFile, mode: 0o444, data: roots()}, license, {name: "tmp/", mode: 0o1777},
	}
	if o.kind == "serve" {
		program, err := compile(ctx, o, "./infra/cmd/bindery-serve", arch, work)
		if err != nil {
			return nil, "", err
		}
		layers = [][]entry{base, {{name: "bindery-serve", mode: 0o555, file: program}}}
		if o.bundle != "" {
			layers = append(layers, []entry{{name: bundleFile, mode: 0o444, file: o.bundle}})
		}
		return layers, "/bindery-serve", nil
	}
	helm, err := compileModule(ctx, helmModule, arch, work)
	if err != nil {
		return nil, "", err
	}
	program, err := compile(ctx, o, "./infra/cmd/bindery", arch, work)
	if err != nil {
		return nil, "", err
	}
	chart, err := folder(filepath.Join(o.root, "infra", "chart"), "chart")
	if err != nil {
		return nil, "", err
	}
	return [][]entry{base, {{name: "helm", mode: 0o555, file: helm}}, {{name: "bindery", mode: 0o555, file: program}}, chart}, "/bindery", nil
}

// folder lists a folder's files and folders under another name.
func folder(dir, name string) (entries []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		target := path.Join(name, filepath.ToSlash(rel))
		switch {
		case d.IsDir():
			entries = append(entries, entry{name: target + "/", mode: 0o755})
		case d.Type().IsRegular():
			entries = append(entries, entry{name: target, mode: 0o444, file: file})
		default:
			return fmt.Errorf("%s is neither a file nor a folder", file)
		}
		return nil
	})
	return entries, err
}

// roots are Mozilla's, in PEM, from the pinned module. Those with constraints
// that PEM can't state are left out.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return text.Bytes()
}

// assemble makes the image of one architecture.
func assemble(o order, arch string, layers [][]entry, entrypoint string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, entries := range layers {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			read, write := io.Pipe()
			go func() { write.CloseWithError(pack(write, entries)) }()
			return read, nil
		}, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: time.Unix(0, 0).UTC()}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{entrypoint}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "bindery-" + o.kind,
			"org.opencontainers.image.source":   "https://github.com/bindery-docs/bindery",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	if o.version != "" {
		config.Config.Labels["org.opencontainers.image.version"] = o.version
	}
	if o.kind == "serve" {
		config.Config.Env = []string{"BINDERY_DATA=/data"}
		if o.bundle != "" {
			config.Config.Env = append(config.Config.Env, "BINDERY_BUNDLE_URL=file:///"+bundleFile)
		}
		config.Config.ExposedPorts = map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}}
	}
	return mutate.ConfigFile(image, config)
}

// pack writes a layer: the same entries give the same bytes.
func pack(w io.Writer, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		if err := packEntry(t, e); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return t.Close()
}

func packEntry(t *tar.Writer, e entry) error {
	header := &tar.Header{Name: e.name, Mode: e.mode, Format: tar.FormatPAX, Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0)}
	if strings.HasSuffix(e.name, "/") {
		header.Typeflag = tar.TypeDir
		return t.WriteHeader(header)
	}
	var data io.Reader = bytes.NewReader(e.data)
	header.Size = int64(len(e.data))
	if e.file != "" {
		f, err := os.Open(e.file)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		data, header.Size = f, info.Size()
	}
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(t, data)
	return err
}

// writeArchive writes an index as an archive in OCI's layout: whole or not at
// all.
func writeArchive(o order, index v1.ImageIndex, dir string) error {
	out, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := out.AppendIndex(index, layout.WithAnnotations(names(o))); err != nil {
		return err
	}
	return writeLayout(dir, o.out)
}

// names are the annotations of what an archive holds: one name for OCI's programs,
// one for containerd.
func names(o order) map[string]string {
	return map[string]string{"org.opencontainers.image.ref.name": o.name, "io.containerd.image.name": o.name}
}

// writeLayout packs a folder in OCI's layout into the archive out.
func writeLayout(dir, out string) error {
	entries, err := folder(dir, "")
	if err != nil {
		return err
	}
	// The folder itself has no name of its own in the archive.
	return writeWhole(out, func(w io.Writer) error { return pack(w, entries[1:]) })
}

// writeWhole writes a file: whole or not at all.
func writeWhole(file string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".image-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
