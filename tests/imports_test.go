package tests

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

const module = "github.com/bindery-docs/bindery/"

// rooms is the table of rooms: what each may import of ours. A room is a
// folder with all folders below it, save those that are rooms themselves.
// A new room must earn its row.
var rooms = map[string][]string{
	"functions": {
		"shared/base/config", "shared/service/cloud", "shared/service/cloud/awsconfig", "shared/service/cloud/dynamo", "shared/service/cloud/s3store",
		"shared/service/cloud/sfnrun", "shared/service/admin", "shared/service/api", "shared/service/export", "shared/render/script/island",
		"shared/base/remote",
	},
	"infra": {"shared/base/config", "shared/service/api", "statemachine"},
	"infra/cmd/bindery": {
		"shared/service/admin", "shared/service/api", "shared/service/asl", "shared/delivery/bundle", "shared/service/client", "shared/service/cloud/dynamo",
		"shared/service/cloud/s3store", "shared/service/cloud/stack", "shared/render/component",
		"shared/base/config", "shared/service/export", "shared/render/highlight", "shared/service/local", "shared/render/mdx", "shared/render/page", "shared/base/remote",
		"shared/render/script/island", "shared/delivery/serve", "shared/render/site", "shared/service/snapshot", "shared/service/store", "shared/render/theme", "statemachine",
	},
	// The program for clusters: no database and no JavaScript engine
	// (serve_imports_test.go).
	"infra/cmd/bindery-serve":     {"shared/delivery/serve", "shared/base/config"},
	"infra/docs":                  {},
	"infra/image":                 {},
	"statemachine":                {},
	"shared/service/store":        {},
	"shared/service/storetest":    {"shared/service/store"},
	"shared/service/admin":        {"shared/service/store"},
	"shared/service/snapshot":     {"shared/service/store"},
	"shared/render/expr":          {},
	"shared/render/mdx":           {"shared/render/expr"},
	"shared/render/component":     {"shared/render/mdx"},
	"shared/render/reference":     {"shared/render/mdx", "shared/render/component"},
	"shared/render/site":          {"shared/render/mdx", "shared/render/reference"},
	"shared/render/highlight":     {},
	"shared/base/remote":          {},
	"shared/render/script":        {},
	"shared/render/script/island": {},
	"shared/render/page":          {"shared/render/expr", "shared/render/site", "shared/render/reference", "shared/render/mdx", "shared/render/component", "shared/render/highlight", "shared/render/script", "shared/render/script/island"},
	"shared/render/theme":         {},
	"shared/render/search":        {},
	"shared/delivery/bundle":      {},
	"shared/service/export": {
		"shared/service/admin", "shared/service/store", "shared/service/snapshot", "shared/render/site", "shared/render/reference", "shared/render/page", "shared/render/mdx",
		"shared/render/component", "shared/render/highlight", "shared/render/script", "shared/render/theme", "shared/render/search", "shared/delivery/bundle",
		"shared/base/remote",
	},
	"shared/service/api":    {"shared/service/admin", "shared/service/store", "shared/service/snapshot"},
	"shared/service/client": {"shared/service/api", "shared/service/snapshot", "shared/delivery/bundle"},
	"shared/delivery/serve": {"shared/delivery/bundle"},
	"shared/service/asl":    {},
	"shared/service/local":  {"shared/service/store", "shared/service/asl", "statemachine"},
	"shared/service/cloud":  {"shared/service/store"},
	// What speaks to AWS: each service on its own, so that a function links
	// only what it calls.
	"shared/service/cloud/awsconfig":     {},
	"shared/service/cloud/dynamo":        {"shared/service/store", "shared/service/cloud/internal/call"},
	"shared/service/cloud/s3store":       {"shared/service/store", "shared/service/cloud/internal/call"},
	"shared/service/cloud/sfnrun":        {"shared/service/store", "shared/service/cloud/internal/call"},
	"shared/service/cloud/internal/call": {"shared/service/store"},
	"shared/service/cloud/stack":         {},
	// For tests alone: no program may import it, and no program's row names it.
	"shared/service/cloud/cloudtest":  {"shared/service/store", "shared/service/cloud/dynamo", "statemachine", "tests/outside"},
	"shared/render/search/searchtest": {"shared/render/search"}, // the same
	"tests/outside":                   {},                       // the same
	"shared/base/config":              {},
}

// keepers names outside modules that only some rooms may use, so that a
// Lambda never carries a weight it has no need of.
var keepers = map[string][]string{
	"modernc.org/sqlite":              {"shared/service/local"},
	"github.com/spf13/cobra":          {"infra/cmd/bindery"},
	"github.com/vbauerster/mpb/v8":    {"infra/cmd/bindery"},
	"github.com/alecthomas/chroma/v2": {"shared/render/highlight"},
	"github.com/aws/aws-sdk-go-v2": {
		"shared/service/cloud/awsconfig", "shared/service/cloud/dynamo", "shared/service/cloud/s3store", "shared/service/cloud/sfnrun",
		"shared/service/cloud/internal/call", "shared/service/cloud/stack", "shared/service/cloud/cloudtest", "shared/delivery/serve",
	},
	"github.com/aws/aws-cdk-go/awscdk/v2":    {"infra"},
	"github.com/aws/jsii-runtime-go":         {"infra"},
	"github.com/aws/constructs-go":           {"infra"},
	"github.com/cdklabs/cdk-nag-go":          {"infra"},
	"github.com/aws/smithy-go":               {"shared/service/cloud/internal/call", "shared/service/cloud/stack"},
	"github.com/aws/aws-lambda-go":           {"shared/service/cloud"},
	"github.com/tdewolff/minify/v2":          {"shared/render/theme", "shared/render/script", "shared/render/search"},
	"github.com/sabhiram/go-gitignore":       {"shared/service/client", "shared/render/site"},
	"github.com/goccy/go-yaml":               {"shared/render/site", "shared/render/page", "shared/render/theme", "shared/render/script"}, // theme: the icons' generator
	"github.com/klauspost/compress":          {"infra/cmd/bindery", "shared/delivery/bundle", "shared/render/theme", "shared/service/export", "shared/render/script", "shared/delivery/serve"},
	"go.yaml.in/yaml/v3":                     {"shared/render/reference"},
	"github.com/chromedp/chromedp":           {},
	"github.com/getkin/kin-openapi":          {},
	"github.com/rogpeppe/go-internal":        {},
	"pgregory.net/rapid":                     {},
	"github.com/google/go-cmp":               {},
	"honnef.co/go/tools":                     {},
	"github.com/golang/protobuf":             {},
	"github.com/sirupsen/logrus":             {},
	"github.com/google/go-containerregistry": {"infra/image"},
	"golang.org/x/crypto":                    {"infra/image"}, // the roots in images
	"k8s.io":                                 {},
	"sigs.k8s.io":                            {},
	"github.com/prometheus-operator":         {},
	"github.com/pkg/errors":                  {},
	"gopkg.in/yaml.v2":                       {},
	"github.com/stretchr/testify":            {},
	"github.com/wyatt915/treeblood":          {"shared/render/page"},
	"github.com/yuin/goldmark":               {"shared/render/mdx"},
	"github.com/evanw/esbuild":               {"shared/render/script", "shared/render/script/island"},
	"github.com/go-sourcemap/sourcemap":      {"shared/render/script/island"},
	"github.com/dop251/goja":                 {"shared/render/script", "shared/render/script/island", "shared/render/search/searchtest"},
	"golang.org/x/image":                     {"shared/render/theme"}, // pictures for links
	"github.com/mattn/go-isatty":             {"infra/cmd/bindery"},
	"github.com/fatih/color":                 {"infra/cmd/bindery"},
	"github.com/schollz/progressbar/v3":      {},
	"github.com/dlclark/regexp2/v2":          {"shared/render/highlight"},
	"github.com/dlclark/regexp2":             {},
	"github.com/santhosh-tekuri/jsonschema":  {},
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	root := outside.Checkout(t)
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		room := roomOf(path.Dir(rel))
		if room == "" && strings.HasPrefix(rel, "tests/") {
			return nil // tests of more than one room
		}
		if room == "" {
			t.Errorf("%s: its folder belongs to no room of the table", rel)
			return nil
		}
		seen[room] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(imported, module); ok {
				target := roomOf(ours)
				if target != room && !slices.Contains(rooms[room], target) {
					t.Errorf("%s: room %s may not import %s", rel, room, ours)
				}
				continue
			}
			if by, ok := keeperOf(imported); ok && !slices.Contains(by, room) {
				t.Errorf("%s: room %s may not import %s (allowed: %v)", rel, room, imported, by)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range rooms {
		if info, err := os.Stat(filepath.Join(root, room)); err != nil || !info.IsDir() {
			t.Errorf("the table has a room %s that is not there", room)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d rooms with code were found: is the walk right?", len(seen))
	}
}

// TestREADMEHasTheTableOfRooms holds the README's table against the code's.
func TestREADMEHasTheTableOfRooms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(outside.Checkout(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for room := range rooms {
		names = append(names, room)
	}
	sort.Strings(names)
	for _, room := range names {
		if !strings.Contains(string(text), "| `"+room+"` |") {
			t.Errorf("README.md has no row for the room %s", room)
		}
	}
}

// TestTopLevel keeps the repository's top level to what was agreed.
func TestTopLevel(t *testing.T) {
	agreed := []string{
		"functions", "infra", "statemachine", "shared", "events", "tests", "go.mod", "go.sum", "cdk.json",
		"README.md", "Makefile", "LICENSE",
	}
	entries, err := os.ReadDir(outside.Checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := os.ReadFile(filepath.Join(outside.Checkout(t), ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(string(ignored), "/"+e.Name()+"/\n") {
			continue // made here, and not part of the repository
		}
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(agreed, e.Name()) {
			t.Errorf("%s is not part of the agreed top level", e.Name())
		}
	}
}

func roomOf(dir string) string {
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if _, ok := rooms[d]; ok {
			return d
		}
	}
	return ""
}

func keeperOf(imported string) ([]string, bool) {
	for p := imported; p != "." && p != "/"; p = path.Dir(p) {
		if by, ok := keepers[p]; ok {
			return by, true
		}
	}
	return nil, false
}
