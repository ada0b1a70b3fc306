package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestInitKeepsAnyName: what stands in a name is part of it.
func TestInitKeepsAnyName(t *testing.T) {
	for _, name := range []string{`Say "hi"`, `"`, `C:\docs`, "A & B", "<b>"} {
		dir := filepath.Join(t.TempDir(), "docs")
		if _, err := begin(t.Context(), dir, name); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "docs.json"))
		if err != nil {
			t.Fatal(err)
		}
		var config struct{ Name string }
		if err := json.Unmarshal(text, &config); err != nil || config.Name != name {
			t.Errorf("the site %q is called %q, %v", name, config.Name, err)
		}
	}
}
