package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestDataIsOfLibraries: what is packed is what the pinned libraries give.
func TestDataIsOfLibraries(t *testing.T) {
	npm := filepath.Dir(outside.Tool(t, "the libraries of shared/render/script", "script", "node_modules"))
	programs, err := build(npm, "js")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		packed, err := os.ReadFile(filepath.Join("../../data", p.Name+".js.zst"))
		if err != nil {
			t.Fatal(err)
		}
		if len(packed) > maxPacked {
			t.Errorf("%s has %d bytes packed", p.Name, len(packed))
		}
		r, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		code, err := r.DecodeAll(packed, nil)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(code, p.Code) {
			t.Errorf("%s is of other libraries; run bundlegen", p.Name)
		}
	}
	rules, err := styles(npm)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(filepath.Join("../..", stylesFile)); err != nil || !bytes.Equal(have, rules) {
		t.Errorf("%s is of other libraries, %v; run bundlegen", stylesFile, err)
	}
}
