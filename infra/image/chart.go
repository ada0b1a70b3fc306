package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Media types of charts in registries (https://helm.sh/docs/topics/registries/).
const (
	chartConfig  = "application/vnd.cncf.helm.config.v1+json"
	chartContent = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// buildChart packs the chart at a version, as a .tgz beside the archive and as an
// artefact for registries in it; the digest is that of the artefact's manifest.
func buildChart(_ context.Context, o order) (v1.Hash, error) {
	work, err := os.MkdirTemp("", "bindery-chart-")
	if err != nil {
		return v1.Hash{}, err
	}
	defer os.RemoveAll(work)
	about, packed, err := packChart(filepath.Join(o.root, "infra", "chart"), o.version)
	if err != nil {
		return v1.Hash{}, err
	}
	tgz := filepath.Join(filepath.Dir(o.out), "bindery-"+o.version+".tgz")
	if err := writeWhole(tgz, func(w io.Writer) error { _, err := w.Write(packed); return err }); err != nil {
		return v1.Hash{}, err
	}
	out, err := layout.Write(filepath.Join(work, "layout"), empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: map[string]string{
		"org.opencontainers.image.title": "bindery", "org.opencontainers.image.version": o.version,
		"org.opencontainers.image.source": "https://github.com/bindery-docs/bindery", "org.opencontainers.image.licenses": "Apache-2.0",
	}}
	if manifest.Config, err = writeBlob(out, chartConfig, about); err != nil {
		return v1.Hash{}, err
	}
	content, err := writeBlob(out, chartContent, packed)
	if err != nil {
		return v1.Hash{}, err
	}
	manifest.Layers = []v1.Descriptor{content}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return v1.Hash{}, err
	}
	whole, err := writeBlob(out, types.OCIManifestSchema1, raw)
	if err != nil {
		return v1.Hash{}, err
	}
	whole.Annotations = names(o)
	if err := out.AppendDescriptor(whole); err != nil {
		return v1.Hash{}, err
	}
	return whole.Digest, writeLayout(filepath.Join(work, "layout"), o.out)
}

func writeBlob(out layout.Path, kind types.MediaType, data []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(data))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Size: size, Digest: digest}, out.WriteBlob(digest, io.NopCloser(bytes.NewReader(data)))
}

var (
	chartVersion = regexp.MustCompile(`(?m)^version: .*$`)
	appVersion   = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

// packChart returns what Chart.yaml says at a version, as JSON, and the chart as
// an archive that helm reads. What .helmignore names is left out.
func packChart(dir, version string) (about, packed []byte, err error) {
	all, err := folder(dir, "bindery")
	if err != nil {
		return nil, nil, err
	}
	ignored, err := os.ReadFile(filepath.Join(dir, ".helmignore"))
	if err != nil {
		return nil, nil, err
	}
	patterns := strings.Fields(string(ignored))
	entries := slices.DeleteFunc(all, func(e entry) bool {
		for _, part := range strings.Split(strings.TrimSuffix(e.name, "/"), "/")[1:] {
			for _, pattern := range patterns {
				if ok, _ := path.Match(pattern, part); ok {
					return true
				}
			}
		}
		// Helm's archives have files alone.
		return strings.HasSuffix(e.name, "/")
	})
	for i, e := range entries {
		if e.name != "bindery/Chart.yaml" {
			continue
		}
		text, err := os.ReadFile(e.file)
		if err != nil {
			return nil, nil, err
		}
		text = chartVersion.ReplaceAll(text, []byte("version: "+version))
		text = appVersion.ReplaceAll(text, []byte(`appVersion: "`+version+`"`))
		if about, err = yaml.YAMLToJSON(text); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.file, err)
		}
		entries[i].data, entries[i].file = text, ""
	}
	var buffer bytes.Buffer
	z, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(pack(z, entries), z.Close()); err != nil {
		return nil, nil, err
	}
	return bytes.TrimSpace(about), buffer.Bytes(), nil
}
