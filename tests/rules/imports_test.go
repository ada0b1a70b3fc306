package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
		"functions/internal/wire", "shared/base/config", "shared/base/remote", "shared/render/script/island", "shared/service/admin",
		"shared/service/api", "shared/service/cloud", "shared/service/cloud/secretvalue", "shared/service/dashboard", "shared/service/export",
		"shared/service/job", "shared/service/webhook",
	},
	"functions/internal/wire": {
		"shared/base/config", "shared/base/remote", "shared/service/admin", "shared/render/script/island", "shared/service/agent", "shared/service/agent/model", "shared/service/agent/pull",
		"shared/service/agent/review", "shared/service/agent/setup/forges", "shared/service/agent/setup/models", "shared/service/api", "shared/service/cloud",
		"shared/service/cloud/awsconfig", "shared/service/cloud/dynamo", "shared/service/cloud/invoke", "shared/service/cloud/kmsstore",
		"shared/service/cloud/s3store", "shared/service/cloud/secretrow", "shared/service/cloud/secretvalue", "shared/service/cloud/sfnrun",
		"shared/service/forge", "shared/service/job", "shared/service/store",
	},

	"infra": {"statemachine", "shared/base/config", "shared/service/admin", "shared/service/api", "shared/service/cloud", "shared/service/cloud/secretrow", "shared/service/job"},
	"infra/cmd/bindery": {
		"shared/base/config", "shared/base/hosts", "shared/base/httpend", "shared/base/json", "shared/base/proxy", "shared/base/remote", "shared/base/tempdir", "shared/render/check", "shared/render/edit", "shared/render/script/island", "shared/render/site", "shared/service/admin",
		"shared/service/agent/model", "shared/service/agent/setup/models", "shared/service/api", "shared/service/client", "shared/service/cloud/awsconfig",
		"shared/service/cloud/dynamo", "shared/service/cloud/kmsstore", "shared/service/cloud/s3store", "shared/service/cloud/stack",
		"shared/service/dashboard", "shared/service/forge", "shared/service/job", "shared/service/kept", "shared/service/local", "shared/service/preview", "shared/service/server", "shared/service/store",
		"shared/delivery/address", "shared/delivery/archive", "shared/delivery/bundle", "shared/delivery/diff", "shared/delivery/site", "shared/delivery/upload",
	},
	// The program for clusters: no database and no JavaScript engine
	// (serve_imports_test.go).
	"infra/cmd/bindery-serve": {"shared/base/config", "shared/delivery/serve"},
	"infra/docs":              {},
	"infra/image":             {},
	"infra/sbom":              {},

	"statemachine": {"shared/base/lazy"},

	"shared/base/buildid":  {},
	"shared/base/config":   {},
	"shared/base/filelock": {},
	"shared/base/filename": {},
	"shared/base/html":     {},
	"shared/base/hosts":    {},
	"shared/base/httpend":  {},
	"shared/base/ignore":   {},
	"shared/base/json":     {},
	"shared/base/lazy":     {},
	"shared/base/memo":     {},
	"shared/base/golden":   {},
	"shared/base/proptest": {},
	"shared/base/proxy":    {},
	"shared/base/redirect": {"shared/base/lazy"},
	"shared/base/remote":   {"shared/base/lazy"},
	"shared/base/tempdir":  {"shared/base/filelock"},

	"shared/render/capability": {},
	"shared/render/check": {
		"shared/base/ignore", "shared/base/json", "shared/base/lazy", "shared/base/remote", "shared/render/component", "shared/render/css", "shared/render/diagram", "shared/render/edit", "shared/render/frame",
		"shared/render/highlight", "shared/render/mdx", "shared/render/page", "shared/render/reference", "shared/render/rulesfile", "shared/render/script", "shared/render/script/island", "shared/render/site",
		"shared/render/theme",
	},
	"shared/render/component":      {"shared/base/html", "shared/base/lazy", "shared/render/css", "shared/render/mdx", "shared/render/words"},
	"shared/render/css":            {},
	"shared/render/diagram":        {"shared/base/html", "shared/base/lazy", "shared/render/diagram/layout", "shared/render/theme"},
	"shared/render/diagram/layout": {},
	"shared/render/edit":           {"shared/base/json", "shared/base/lazy", "shared/render/component", "shared/render/expr", "shared/render/mdx"},
	"shared/render/expr":           {},
	"shared/render/frame": {
		"shared/base/filename", "shared/base/html", "shared/base/lazy", "shared/render/capability", "shared/render/component", "shared/render/diagram", "shared/render/highlight", "shared/render/mdx",
		"shared/render/page", "shared/render/reference", "shared/render/script", "shared/render/search", "shared/render/site", "shared/render/theme",
	},
	"shared/render/highlight": {"shared/base/html", "shared/base/lazy", "shared/base/memo"},
	"shared/render/mdx":       {"shared/render/expr"},
	"shared/render/page": {
		"shared/base/html", "shared/base/lazy", "shared/render/capability", "shared/render/component", "shared/render/css", "shared/render/diagram", "shared/render/expr",
		"shared/render/highlight", "shared/render/mdx", "shared/render/reference", "shared/render/script", "shared/render/script/island", "shared/render/site", "shared/render/words",
	},
	"shared/render/reference":     {"shared/base/json", "shared/base/lazy", "shared/render/capability", "shared/render/component", "shared/render/mdx", "shared/render/words"},
	"shared/render/rulesfile":     {"shared/base/ignore"},
	"shared/render/script":        {"shared/base/html", "shared/base/memo"},
	"shared/render/script/island": {"shared/base/lazy", "shared/render/expr"},
	"shared/render/search":        {"shared/render/words"},
	// For tests alone.
	"shared/render/search/searchtest": {"shared/render/search"},
	"shared/render/site":              {"shared/base/filename", "shared/base/html", "shared/base/ignore", "shared/base/json", "shared/base/lazy", "shared/base/redirect", "shared/render/capability", "shared/render/mdx", "shared/render/reference", "shared/render/rulesfile"},
	"shared/render/theme":             {"shared/base/html", "shared/render/capability", "shared/render/words"},
	"shared/render/words":             {},

	"shared/service/admin": {"shared/base/lazy", "shared/base/remote", "shared/service/store"},
	// No forge: a program that works on rounds links none.
	"shared/service/agent": {
		"shared/render/check", "shared/service/admin", "shared/service/agent/merge", "shared/service/agent/model", "shared/service/agent/tool",
		"shared/service/job", "shared/service/store",
	},
	"shared/service/agent/merge": {"shared/base/json"},
	"shared/service/agent/model": {"shared/base/json", "shared/base/lazy", "shared/base/remote", "shared/service/store"},
	// For tests, and for programs that play a model.
	"shared/service/agent/model/modeltest": {"shared/service/agent/model"},
	"shared/service/agent/pull": {
		"shared/base/lazy", "shared/service/admin", "shared/service/agent", "shared/service/agent/tool", "shared/service/forge", "shared/service/job",
		"shared/service/store",
	},
	// No model and no forge: it renders what authors and a model wrote.
	"shared/service/agent/review": {
		"shared/render/edit", "shared/render/page", "shared/render/site", "shared/service/admin", "shared/service/agent", "shared/service/agent/tool", "shared/service/export",
		"shared/service/job", "shared/service/store",
	},
	"shared/service/agent/setup/forges": {"shared/service/admin", "shared/service/forge", "shared/service/store"},
	"shared/service/agent/setup/models": {"shared/service/admin", "shared/service/agent/model"},
	// No store, no network, no clock (its doc.go).
	"shared/service/agent/tool": {
		"shared/base/filename", "shared/base/html", "shared/base/json", "shared/base/lazy", "shared/base/redirect", "shared/render/capability", "shared/render/component",
		"shared/render/css", "shared/render/edit", "shared/render/expr", "shared/render/mdx", "shared/render/page", "shared/render/reference", "shared/render/site",
	},
	"shared/service/api":    {"shared/base/json", "shared/base/proxy", "shared/service/admin", "shared/service/publish", "shared/service/store"},
	"shared/service/asl":    {"shared/base/json"},
	"shared/service/client": {"shared/base/json", "shared/base/remote", "shared/service/api", "shared/service/kept", "shared/service/sitefolder", "shared/service/snapshot"},
	"shared/service/cloud":  {"shared/service/admin", "shared/service/job", "shared/service/store"},
	// What speaks to AWS: each service on its own, so that a function links
	// only what it calls.
	"shared/service/cloud/awsconfig": {},
	// For tests alone: no program may import it, and no program's row names it.
	"shared/service/cloud/cloudtest":     {"shared/service/cloud/dynamo", "shared/service/job", "shared/service/store", "tests/outside"},
	"shared/service/cloud/dynamo":        {"shared/service/cloud/internal/call", "shared/service/store"},
	"shared/service/cloud/internal/call": {"shared/service/store"},
	"shared/service/cloud/kmsstore":      {"shared/service/cloud/internal/call", "shared/service/cloud/secretrow", "shared/service/store"},
	"shared/service/cloud/s3store":       {"shared/service/admin", "shared/service/cloud/internal/call", "shared/service/job", "shared/service/store"},
	"shared/service/cloud/secretrow":     {"shared/service/store"},
	"shared/service/cloud/invoke":        {"shared/service/cloud/awsconfig"},
	"shared/service/cloud/secretvalue":   {"shared/service/cloud/awsconfig", "shared/service/cloud/internal/call"},
	"shared/service/cloud/sfnrun":        {"shared/service/cloud/internal/call", "shared/service/store"},
	"shared/service/cloud/stack":         {},
	"shared/service/dashboard":           {"shared/base/hosts", "shared/base/json", "shared/base/proxy", "shared/render/rulesfile", "shared/render/theme", "shared/service/admin", "shared/service/publish", "shared/service/sitefolder", "shared/service/snapshot", "shared/service/store", "shared/delivery/diff"},
	"shared/service/export": {
		"shared/base/buildid", "shared/base/html", "shared/base/json", "shared/base/lazy", "shared/base/remote", "shared/render/check", "shared/render/component", "shared/render/css",
		"shared/render/diagram", "shared/render/frame", "shared/render/highlight", "shared/render/mdx", "shared/render/page", "shared/render/reference",
		"shared/render/script", "shared/render/script/island", "shared/render/search", "shared/render/site", "shared/render/theme",
		"shared/service/admin", "shared/service/job", "shared/service/kept", "shared/service/snapshot", "shared/service/store", "shared/delivery/address", "shared/delivery/bundle", "shared/delivery/diff",
	},
	"shared/service/forge": {"shared/base/remote"},
	// For tests alone: no program may import it, and no program's row names it.
	"shared/service/forge/forgetest": {"shared/service/forge", "tests/outside"},
	"shared/service/job":             {"statemachine", "shared/base/json", "shared/base/remote", "shared/service/admin", "shared/service/snapshot", "shared/service/store"},
	"shared/service/kept":            {"shared/base/lazy", "shared/service/store"},
	"shared/service/local":           {"shared/base/filelock", "shared/service/asl", "shared/service/job", "shared/service/store"},
	"shared/service/server": {
		"shared/base/config", "shared/base/hosts", "shared/base/httpend", "shared/base/proxy", "shared/base/remote", "shared/base/tempdir", "shared/render/script/island", "shared/service/admin", "shared/service/agent",
		"shared/service/agent/model", "shared/service/agent/pull", "shared/service/agent/review", "shared/service/agent/setup/forges", "shared/service/agent/setup/models",
		"shared/service/api", "shared/service/asl", "shared/service/dashboard",
		"shared/service/export", "shared/service/forge", "shared/service/job", "shared/service/kept", "shared/service/local", "shared/service/sites", "shared/service/store", "shared/service/webhook",
	},
	"shared/service/sites": {"shared/base/html", "shared/delivery/archive", "shared/delivery/bundle", "shared/delivery/site", "shared/service/admin", "shared/service/store"},
	"shared/service/preview": {
		"shared/base/hosts", "shared/base/html", "shared/render/check", "shared/render/mdx", "shared/render/page", "shared/render/site",
		"shared/service/admin", "shared/service/client", "shared/service/export", "shared/delivery/address", "shared/delivery/bundle", "shared/delivery/site",
	},
	"shared/service/publish":    {"shared/service/admin", "shared/service/sitefolder", "shared/service/snapshot", "shared/service/store"},
	"shared/service/sitefolder": {"shared/base/ignore", "shared/render/rulesfile", "shared/service/snapshot"},
	"shared/service/snapshot":   {"shared/base/json", "shared/service/store"},
	"shared/service/store":      {},
	"shared/service/storetest":  {"shared/service/job", "shared/service/store"},
	"shared/service/webhook":    {"shared/base/remote", "shared/service/admin", "shared/service/api"},

	"shared/delivery/bundle":  {"shared/base/json", "shared/base/redirect"},
	"shared/delivery/address": {"shared/base/redirect", "shared/delivery/bundle"},
	"shared/delivery/archive": {"shared/delivery/address", "shared/delivery/bundle", "shared/delivery/site"},
	"shared/delivery/diff":    {"shared/base/json", "shared/delivery/address", "shared/delivery/bundle"},
	"shared/delivery/serve":   {"shared/base/filelock", "shared/base/httpend", "shared/base/json", "shared/base/remote", "shared/delivery/address", "shared/delivery/archive", "shared/delivery/bundle", "shared/delivery/site"},
	"shared/delivery/site":    {"shared/delivery/address", "shared/delivery/bundle"},
	// For tests alone: no program may import it, and no program's row names it.
	"shared/delivery/site/sitetest": {"shared/base/redirect", "shared/delivery/address", "shared/delivery/bundle", "shared/delivery/site"},
	"shared/delivery/upload":        {"shared/base/json", "shared/delivery/bundle", "shared/delivery/site"},

	"tests/outside": {},
}

// wings are the folders of rooms in shared, with what each may import beside
// itself and base: a rule above all rows of rooms.
var wings = map[string][]string{
	"shared/base":     {},                                   // small crafts, which know nothing of ours
	"shared/render":   {},                                   // from a site's source to documents: no job, no store, no AWS
	"shared/service":  {"shared/render", "shared/delivery"}, // records, jobs, the API: writes no page
	"shared/delivery": {},                                   // archives, and those who serve them
}

// keeper is an outside module that only some rooms may import.
type keeper struct {
	why   string
	rooms []string
}

const (
	forTests  = "for tests alone"
	notDirect = "an outside module's own choice: we use another"
)

// keepers names outside modules that only some rooms may import, each with the
// reason. A room that no longer does fails the test.
var keepers = map[string]keeper{
	"modernc.org/sqlite":              {"a database in a Lambda function is weight without use", []string{"shared/service/local"}},
	"github.com/coreos/go-oidc/v3":    {"people sign in at the dashboard", []string{"shared/service/dashboard"}},
	"golang.org/x/oauth2":             {"people sign in at the dashboard", []string{"shared/service/dashboard"}},
	"github.com/fsnotify/fsnotify":    {"only authors' folders are watched", []string{"shared/service/preview"}},
	"github.com/spf13/cobra":          {"terminals are of one program", []string{"infra/cmd/bindery"}},
	"github.com/vbauerster/mpb/v8":    {"terminals are of one program", []string{"infra/cmd/bindery"}},
	"github.com/mattn/go-isatty":      {"terminals are of one program", nil},
	"github.com/fatih/color":          {"terminals are of one program", nil},
	"github.com/alecthomas/chroma/v2": {"its own driver is six times slower than ours", []string{"shared/render/highlight"}},
	"github.com/dlclark/regexp2/v2":   {"backtracks without a bound", []string{"shared/render/highlight"}},
	"github.com/aws/aws-sdk-go-v2": {"AWS stands behind the ports", []string{
		"shared/service/cloud/awsconfig", "shared/service/cloud/dynamo", "shared/service/cloud/invoke", "shared/service/cloud/kmsstore", "shared/service/cloud/s3store",
		"shared/service/cloud/secretvalue", "shared/service/cloud/sfnrun", "shared/service/cloud/internal/call", "shared/service/cloud/stack", "shared/service/cloud/cloudtest", "shared/delivery/serve", "shared/delivery/upload",
		"functions/internal/wire",
	}},
	"github.com/aws/smithy-go":               {"AWS stands behind the ports", []string{"shared/service/cloud/internal/call", "shared/service/cloud/stack"}},
	"github.com/aws/aws-lambda-go":           {"one adapter turns handlers and steps into functions", []string{"shared/service/cloud"}},
	"github.com/aws/aws-cdk-go/awscdk/v2":    {"CDK starts Node", []string{"infra"}},
	"github.com/aws/jsii-runtime-go":         {"CDK starts Node", []string{"infra"}},
	"github.com/aws/constructs-go":           {"CDK starts Node", []string{"infra"}},
	"github.com/cdklabs/cdk-nag-go":          {"CDK starts Node", []string{"infra"}},
	"github.com/tdewolff/minify/v2":          {"only assets of our own are minified", []string{"shared/render/theme", "shared/render/script", "shared/render/search"}},
	"github.com/goccy/go-yaml":               {"one reader of front matter, one of rules, the chart's head", []string{"shared/render/check", "shared/render/rulesfile", "shared/render/site", "shared/render/theme", "shared/render/diagram", "infra/image"}},
	"go.yaml.in/yaml/v3":                     {"the one YAML library that keeps order and lines", []string{"shared/render/reference"}},
	"github.com/zricethezav/gitleaks/v8":     {"rules of secrets are judged in one place", []string{"shared/service/agent/tool"}},
	"github.com/pelletier/go-toml/v2":        {"rules of secrets are judged in one place", []string{"shared/service/agent/tool"}},
	"github.com/klauspost/compress":          {"compression is the archive's and the assets'", []string{"infra/cmd/bindery", "shared/delivery/archive", "shared/delivery/bundle", "shared/render/script", "shared/delivery/serve", "shared/delivery/site/sitetest"}},
	"znkr.io/diff":                           {"words of pages are compared in one place, and lines merged in one", []string{"shared/delivery/diff", "shared/service/agent/merge"}},
	"github.com/yuin/goldmark":               {"mdx is the one parser of Markdown", nil},
	"github.com/evanw/esbuild":               {"JavaScript is script's", []string{"shared/render/script", "shared/render/script/island"}},
	"github.com/go-sourcemap/sourcemap":      {"JavaScript is script's", []string{"shared/render/script/island"}},
	"github.com/dop251/goja":                 {"JavaScript is script's", []string{"shared/render/script", "shared/render/script/island", "shared/render/search/searchtest"}},
	"golang.org/x/image":                     {"pictures for links are the theme's", []string{"shared/render/theme"}},
	"github.com/google/go-containerregistry": {"images are built without a daemon", []string{"infra/image"}},
	"golang.org/x/crypto":                    {"the roots of certificates in images", []string{"infra/image"}},

	"github.com/go-json-experiment/json":    {"one reader of JSON with places", []string{"shared/base/json"}},
	"github.com/tdewolff/parse/v2":          {"one reader of CSS", []string{"shared/render/css"}},
	"github.com/chromedp/chromedp":          {forTests, nil},
	"github.com/standard-webhooks":          {forTests, nil},
	"github.com/getkin/kin-openapi":         {forTests, nil},
	"github.com/rogpeppe/go-internal":       {forTests, nil},
	"pgregory.net/rapid":                    {forTests, []string{"shared/base/proptest"}},
	"github.com/google/go-cmp":              {forTests, []string{"shared/base/golden"}},
	"honnef.co/go/tools":                    {forTests, nil},
	"k8s.io":                                {forTests, nil},
	"sigs.k8s.io":                           {forTests, nil},
	"github.com/prometheus-operator":        {forTests, nil},
	"github.com/santhosh-tekuri/jsonschema": {forTests, nil},
	"github.com/golang/protobuf":            {notDirect, nil},
	"github.com/sirupsen/logrus":            {"log/slog is our log", nil},
	"github.com/pkg/errors":                 {"errors wrap with %w", nil},
	"gopkg.in/yaml.v2":                      {notDirect, nil},
	"github.com/stretchr/testify":           {"tests use the standard library and go-cmp", nil},
	"github.com/schollz/progressbar/v3":     {"mpb draws our progress", nil},
	"github.com/dlclark/regexp2":            {notDirect, nil},
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	root := outside.Checkout(t)
	seen, used := map[string]bool{}, map[[2]string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			if file == filepath.Join(root, "bin") || file == filepath.Join(root, "out") {
				return filepath.SkipDir // made here, also while this runs
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
				used[[2]string{room, target}] = true
				if target != room && !slices.Contains(rooms[room], target) {
					t.Errorf("%s: room %s may not import %s", rel, room, ours)
				}
				continue
			}
			if name := keptAs(imported); name != "" {
				used[[2]string{room, name}] = true
				if k := keepers[name]; !slices.Contains(k.rooms, room) {
					t.Errorf("%s: room %s may not import %s: %s (allowed: %v)", rel, room, imported, k.why, k.rooms)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, allowed := range rooms {
		for _, target := range allowed {
			if !used[[2]string{room, target}] {
				t.Errorf("room %s may import %s and does not: its row is stale", room, target)
			}
			if from, to := wingOf(room), wingOf(target); from != "" && to != "" && from != to && to != "shared/base" && !slices.Contains(wings[from], to) {
				t.Errorf("room %s may import %s, and the wing %s may import nothing of %s", room, target, from, to)
			}
		}
		if strings.HasPrefix(room, "shared/") && wingOf(room) == "" {
			t.Errorf("room %s is in no wing", room)
		}
		if info, err := os.Stat(filepath.Join(root, room)); err != nil || !info.IsDir() {
			t.Errorf("the table has a room %s that is not there", room)
		}
	}
	for module, k := range keepers {
		for _, room := range k.rooms {
			if !used[[2]string{room, module}] {
				t.Errorf("room %s may import %s and does not: the keeper is stale", room, module)
			}
		}
		if k.why == "" {
			t.Errorf("the keeper of %s has no reason", module)
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
		row := regexp.MustCompile(`(?m)^\| ` + "`" + regexp.QuoteMeta(room) + "`" + ` \| .* \| ([^|]*) \|$`).FindSubmatch(text)
		if row == nil {
			t.Errorf("README.md has no row for the room %s", room)
			continue
		}
		if !strings.HasPrefix(room, "shared/") {
			continue // said in words
		}
		want := map[string]bool{}
		for _, target := range rooms[room] {
			if wing := wingOf(target); wing != "" {
				target = strings.TrimPrefix(target, wing+"/")
			}
			want[target] = true
		}
		got := map[string]bool{}
		for name := range strings.SplitSeq(string(row[1]), ", ") {
			if name != "–" {
				got[name] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("README.md says that %s may import %v, the table %v", room, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	for wing := range wings {
		if !strings.Contains(string(text), "| `"+wing+"` |") {
			t.Errorf("README.md has no row for the wing %s", wing)
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
		if strings.Contains("\n"+string(ignored), "\n/"+e.Name()+"\n") {
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

func wingOf(room string) string {
	for wing := range wings {
		if strings.HasPrefix(room, wing+"/") {
			return wing
		}
	}
	return ""
}

// keptAs returns the name in keepers that an imported package belongs to.
func keptAs(imported string) string {
	for p := imported; p != "." && p != "/"; p = path.Dir(p) {
		if _, ok := keepers[p]; ok {
			return p
		}
	}
	return ""
}
