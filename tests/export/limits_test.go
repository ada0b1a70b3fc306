package export

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The limits of AWS that local clouds do not keep. That of a state's payload is
// beside the workflow's other promises (TestTheLargestPlanFitsIntoAState).

// A step may take fifteen minutes: the limit of Lambda, and of the workflow's
// states. One of them is what may be planned for: the rest is for slow
// storage, for pages that are dearer than most, and for cold starts.
const (
	stepSeconds = 900
	planned     = 60
)

// TestAShardRendersInTime holds shards to the measured cost of a page, which the page
// about costs has: those of the largest site and, in make test-all, those of a plan.
func TestAShardRendersInTime(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(outside.Checkout(t), "infra", "docs", "operate", "cost.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`The examples take \*\*(\d+) ms\*\*`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the page about costs has no cost of a page")
	}
	milliseconds, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	// The largest site has no larger shards: there may be enough of them.
	if most := 2 * 2 * float64(export.MaxPages) / export.MaxShards * float64(milliseconds) / 1000; most > planned {
		t.Errorf("a shard of %d pages in %d shards takes %.0f s", export.MaxPages, export.MaxShards, most)
	}
	if !outside.Full() {
		return // make test-all plans a site of 32,000 pages
	}
	// So many that the least number of shards of a site does not decide.
	const pages = 32_000
	shards := planOf(t, harness.MadeSite(t, pages))
	if shards <= 8 {
		t.Fatalf("%d pages make %d shards: was the site planned?", pages, shards)
	}
	// As much time again is for storage. Shards differ by the units that they
	// are made of: twice the mean is more than any has.
	seconds := 2 * 2 * float64(pages) / float64(shards) * float64(milliseconds) / 1000
	t.Logf("%d pages in %d shards: %.1f s for the largest", pages, shards, seconds)
	if seconds > planned {
		t.Errorf("a shard takes %.0f s, more than the %d s that are planned for", seconds, planned)
	}
}

// TestTheLargestBundleIsJoinedInTime: Assemble streams all units once, from S3
// and to it. S3's guidelines for performance count on 85 to 90 MB/s for one
// request; a third of the step's time has to do at that rate.
func TestTheLargestBundleIsJoinedInTime(t *testing.T) {
	const rate = 85e6 // bytes a second
	if seconds := export.MaxBundleBytes / rate; seconds > stepSeconds/3 {
		t.Errorf("the largest bundle takes %.0f s to stream", seconds)
	}
}

// planOf publishes a site on this machine, starts its export, and gives the
// number of shards that the plan has. Nothing is rendered.
func planOf(t *testing.T, dir string) int {
	t.Helper()
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	service := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: l.Runner()})
	org, err := service.CreateOrganisation(ctx, admin.Organisation{Name: "Large", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	const domain = "docs.example.com"
	if _, err := service.CreateProject(ctx, admin.Project{Organisation: org.ID, Domain: domain, Repository: "https://github.com/example/docs"}); err != nil {
		t.Fatal(err)
	}
	_, key, err := service.CreateKey(ctx, admin.KeyRequest{Organisation: org.ID, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	plan := make(chan job.PlanOutput, 1)
	tasks := export.New(export.Options{Admin: service, Objects: l.Objects()}).Tasks()
	planned := tasks[job.TaskPlan]
	tasks[job.TaskPlan] = func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		out, err := planned(ctx, input)
		var p job.PlanOutput
		if err == nil {
			err = json.Unmarshal(out, &p)
		}
		if err != nil {
			t.Error(err)
		}
		plan <- p
		return out, err
	}
	tasks[job.TaskRender] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil, admin.Errorf(admin.CodeInvalidSite, "the test wants the plan alone")
	}
	here := harness.InProcess(t, l, service, tasks, key)
	if _, err := here.Command(t, "publish", dir, "--domain", domain); err != nil {
		t.Fatal(err)
	}
	if _, err := service.StartExport(ctx, admin.Caller{OrganisationID: org.ID}, admin.StartExport{Domain: domain}); err != nil {
		t.Fatal(err)
	}
	return len((<-plan).Shards)
}

// TestThePageOfLocalCloudsNamesTests: for each difference from AWS the page says
// what covers it, and that is there.
func TestThePageOfLocalCloudsNamesTests(t *testing.T) {
	root := outside.Checkout(t)
	page, err := os.ReadFile(filepath.Join(root, "infra", "docs", "operate", "local-clouds.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") && path != root:
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(page, -1)
	if len(named) < 20 {
		t.Errorf("the page names only %d tests", len(named))
	}
	for _, m := range named {
		if !there[string(m[1])] {
			t.Errorf("the page names %s, which there is not", m[1])
		}
	}
}

// partRules is as much of S3 as an upload meets, which keeps the rules for
// uploads in parts: their numbers, their order and their sizes.
type partRules struct {
	mu     sync.Mutex
	whole  int64 // bytes of an upload in one piece; -1 for none
	sizes  map[int]int64
	faults []string
	joined int64 // bytes of the parts that were joined; -1 for none
}

func (s *partRules) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func (s *partRules) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size, err := io.Copy(io.Discard, r.Body)
	var body []byte
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.fault("the body: %v", err)
	}
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodPost && q.Has("uploads"):
		body = []byte(`<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPut && q.Has("partNumber"):
		n, err := strconv.Atoi(q.Get("partNumber"))
		if err != nil || n < 1 || n > 10_000 {
			s.fault("a part has the number %q", q.Get("partNumber"))
		}
		s.sizes[n] = size
		w.Header().Set("ETag", fmt.Sprintf(`"part-%d"`, n))
	case r.Method == http.MethodPut:
		s.whole = size
		w.Header().Set("ETag", `"whole"`)
	default:
		s.fault("%s %s", r.Method, r.URL)
	}
	_, _ = w.Write(body)
}

// complete checks the list of parts that ends an upload.
func (s *partRules) complete(w http.ResponseWriter, r *http.Request) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	err := xml.NewDecoder(r.Body).Decode(&list)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(list.Part) != len(s.sizes) {
		s.fault("%d parts were sent, %d are listed (%v)", len(s.sizes), len(list.Part), err)
	}
	s.joined = 0
	for i, p := range list.Part {
		size := s.sizes[p.PartNumber]
		s.joined += size
		switch {
		case p.PartNumber != i+1:
			s.fault("part %d has the number %d", i+1, p.PartNumber)
		case p.ETag != fmt.Sprintf(`"part-%d"`, p.PartNumber):
			s.fault("part %d is %s", p.PartNumber, p.ETag)
		case size > 5<<30, size < 5<<20 && i < len(list.Part)-1, size == 0:
			s.fault("part %d of %d has %d bytes", p.PartNumber, len(list.Part), size)
		}
	}
	_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><ETag>"all"</ETag></CompleteMultipartUploadResult>`)
}

// zeros is a reader that gives up its bytes in pieces of any size.
type zeros struct{ left, piece int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(int64(len(p)), z.left, z.piece)
	if z.left == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.left -= n
	return int(n), nil
}

// TestUploadsKeepTheRulesOfParts: whatever size an object has, and in whatever
// pieces it comes, S3's rules for uploads in parts hold.
func TestUploadsKeepTheRulesOfParts(t *testing.T) {
	var rules *partRules
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			rules.complete(w, r)
			return
		}
		rules.ServeHTTP(w, r)
	}))
	defer server.Close()
	objects := s3store.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, s3store.Options{Sources: "sources", Exports: "exports"})
	const part = 8 << 20
	proptest.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(
			rapid.Int64Range(0, 100),
			rapid.Custom(func(t *rapid.T) int64 { // around the borders
				return rapid.Int64Range(1, 3).Draw(t, "parts")*part + rapid.Int64Range(-1, 1).Draw(t, "more")
			}),
			rapid.Int64Range(0, 3*part),
		).Draw(t, "size")
		rules = &partRules{whole: -1, joined: -1, sizes: map[int]int64{}}
		info, err := objects.Put(context.Background(), "exports/job/object", &zeros{size, rapid.Int64Range(1000, part).Draw(t, "piece")}, store.PutOptions{})
		if err != nil || info.Size != size {
			t.Fatalf("%d bytes: %v, %+v", size, err, info)
		}
		for _, fault := range rules.faults {
			t.Errorf("%d bytes: %s", size, fault)
		}
		if got := max(rules.whole, rules.joined); got != size || rules.whole >= 0 && rules.joined >= 0 {
			t.Errorf("%d bytes: %d came whole, %d in parts", size, rules.whole, rules.joined)
		}
	})
}
