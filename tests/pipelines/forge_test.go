package pipelines

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// checkout is a clone of the forge's repository, in which git runs.
type checkout struct {
	*testing.T
	dir string
}

// clone clones the forge's repository as a step that checks out does, into the
// folder in which the steps of an environment run.
func clone(t *testing.T, g *forgetest.Gitea, ref string) (checkout, environment) {
	t.Helper()
	c := checkout{t, t.TempDir()}
	c.git("init", "-q", "-b", "work")
	c.git("remote", "add", "origin", strings.Replace(g.URL, "://", "://"+g.User+":"+g.Token+"@", 1)+"/"+g.User+"/docs.git")
	c.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+"+ref+":refs/remotes/work")
	c.git("checkout", "-q", "--detach", "refs/remotes/work")
	if err := os.MkdirAll(filepath.Join(c.dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c, environment{home: c.dir, path: os.Getenv("PATH")}
}

func (c checkout) git(args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.test"}, args...)...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// push commits files and pushes them to a branch.
func (c checkout) push(branch string, files map[string]string) {
	c.Helper()
	for name, text := range files {
		file := filepath.Join(c.dir, filepath.FromSlash(name))
		if text == "" {
			c.git("rm", "-q", name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			c.Fatal(err)
		}
		c.git("add", name)
	}
	c.git("commit", "-q", "-m", "Edit")
	c.git("push", "-q", "origin", "HEAD:refs/heads/"+branch)
}

// remark is what a service shows at a line of a pull request.
type remark struct {
	File  string
	Line  int
	Level string
	Text  string
}

// runnerCommand is a command of a workflow, as GitHub's runner reads it in a log.
var runnerCommand = regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)

// annotations reads the annotations of a log as GitHub's runner does.
func annotations(t *testing.T, log string) (list []remark) {
	t.Helper()
	data := strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n")
	value := strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",")
	for line := range strings.Lines(log) {
		m := runnerCommand.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		r := remark{Level: m[1], Text: data.Replace(m[3])}
		for property := range strings.SplitSeq(m[2], ",") {
			name, text, _ := strings.Cut(property, "=")
			switch text = value.Replace(text); name {
			case "file":
				r.File = text
			case "line":
				n, err := strconv.Atoi(text)
				if err != nil {
					t.Error(err)
				}
				r.Line = n
			}
		}
		list = append(list, r)
	}
	return list
}

// addedLines returns the lines that a diff adds, by file and number.
func addedLines(t *testing.T, diff string) map[string]string {
	t.Helper()
	hunk := regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)
	added := map[string]string{}
	file, line := "", 0
	lines := bufio.NewScanner(strings.NewReader(diff))
	for lines.Scan() {
		text := lines.Text()
		if m := hunk.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			continue
		}
		switch {
		case strings.HasPrefix(text, "+++ b/"):
			file = strings.TrimPrefix(text, "+++ b/")
		case strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "+++ "):
			added[fmt.Sprintf("%s:%d", file, line)] = text[1:]
			line++
		case strings.HasPrefix(text, " "):
			line++
		}
	}
	return added
}

func theAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(harness.Read(t, filepath.Join(outside.Checkout(t), ".github", "actions", "bindery", "action.yml"))), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// forgeSite is what main of the forge's repository has. It has a finding of its own,
// which no pull request brings.
var forgeSite = map[string]string{
	"README.md":      "Not a part of the site.\n",
	"docs/docs.json": `{"name": "Example", "theme": "mint", "colors": {"primary": "#123456"}, "navigation": {"pages": ["index", "guide"]}}` + "\n",
	"docs/index.mdx": "---\ntitle: Home\n---\n\nHello, see [the guide](/guide) and [what was never there](/never).\n",
	"docs/guide.mdx": "---\ntitle: Guide\n---\n\nFirst.\n\n## Part\n\nSecond.\n",
}

// TestPullRequestOnAForge makes a pull request on a real forge, runs the step of the
// templates that checks it, and holds what is shown at its lines against its diff.
func TestPullRequestOnAForge(t *testing.T) {
	outside.Long(t, "starts a forge")
	releases, checksums := releaseServer(t)
	g := forgetest.NewGitea(t)
	g.Write("main", forgeSite)
	author, _ := clone(t, g, "refs/heads/main")
	author.push("edit", map[string]string{
		"docs/guide.mdx": "---\ntitle: Guide\n---\n\nFirst, with [a link](/nowhere).\n\n## Part\n\nSecond.\n\nThird: ![](/images/gone.png)\n",
		"docs/new.mdx":   "---\ntitle: New\n---\n\nSee [a part](/guide#prat), 100%, a:b, c,d.\n",
	})
	var pull struct{ Number int }
	answer := g.REST(http.MethodPost, "/repos/"+g.User+"/docs/pulls", map[string]any{"head": "edit", "base": "main", "title": "Edit"}, http.StatusCreated)
	if err := json.Unmarshal(answer, &pull); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("/repos/%s/docs/pulls/%d", g.User, pull.Number)
	added := addedLines(t, string(g.REST(http.MethodGet, address+".diff", nil, http.StatusOK)))

	// On the forge's checkout of the pull request, with what its runner sets.
	work, e := clone(t, g, fmt.Sprintf("refs/pull/%d/head", pull.Number))
	e.override = map[string]string{
		"GITHUB_REF": fmt.Sprintf("refs/pull/%d/head", pull.Number), "GITHUB_API_URL": g.API, "GITHUB_REPOSITORY": g.User + "/docs", "GITHUB_BASE_REF": "main",
	}
	log, _, ran, err := theAction(t).run(t, e, map[string]string{
		"command": "check", "version": "v1.2.3", "checksums": checksums, "releases": releases,
		"since": "origin/main", "fail-on": "warning", "review": g.Token,
	})
	if exitCode(err) != 5 || !slices.Equal(ran, []string{"Install programs", "Review", "Check"}) {
		t.Fatalf("%v, steps %v\n%s", err, ran, log)
	}
	if strings.Contains(log, g.Token) {
		t.Errorf("the token is in the log:\n%s", log)
	}
	shown := annotations(t, log)
	places := map[string]string{} // the words at the place of each, by place
	for _, r := range shown {
		at := fmt.Sprintf("%s:%d", r.File, r.Line)
		if places[at] = added[at]; added[at] == "" && r.File != "docs/new.mdx" {
			t.Errorf("%s is not in the diff: %s", at, r.Text)
		}
	}
	for at, words := range map[string]string{"docs/guide.mdx:5": "/nowhere", "docs/guide.mdx:11": "gone.png", "docs/new.mdx:5": "#prat"} {
		if !strings.Contains(places[at], words) {
			t.Errorf("nothing is shown at %s (%q), but at %v", at, words, places)
		}
	}
	if strings.Contains(log, "/never") {
		t.Errorf("a finding of main is shown:\n%s", log)
	}

	// The review has the same, at the same lines, as the forge shows it.
	var reviews []struct {
		ID   int
		Body string
	}
	if err := json.Unmarshal(g.REST(http.MethodGet, address+"/reviews", nil, http.StatusOK), &reviews); err != nil {
		t.Fatal(err)
	}
	if len(reviews) != 1 || !strings.HasPrefix(reviews[0].Body, "Bindery found ") {
		t.Fatalf("the reviews are %+v", reviews)
	}
	var comments []struct {
		Path     string
		Position int
		Body     string
		Hunk     string `json:"diff_hunk"`
	}
	if err := json.Unmarshal(g.REST(http.MethodGet, fmt.Sprintf("%s/reviews/%d/comments", address, reviews[0].ID), nil, http.StatusOK), &comments); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range shown {
		if r.Line > 0 {
			want = append(want, fmt.Sprintf("%s:%d %s", r.File, r.Line, r.Level))
		}
	}
	for _, c := range comments {
		level, _, _ := strings.Cut(strings.TrimPrefix(c.Body, "**"), "**")
		at := fmt.Sprintf("%s:%d", c.Path, c.Position)
		got = append(got, at+" "+level)
		if line := added[at]; line != "" && !strings.Contains(c.Hunk, line) {
			t.Errorf("the comment at %s is shown beside %q", at, c.Hunk)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" || len(got) < 3 {
		t.Errorf("the comments are not the annotations (-annotations +comments):\n%s", diff)
	}

	// GitLab's template on the same checkout names the same lines.
	e.override = nil
	log, err = gitlabJob(t, e, "bindery-check", map[string]string{"version": "v1.2.3", "checksums": checksums, "releases": releases, "domain": "docs.example.com", "fail-on": "none"}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	var issues []struct {
		Check    string `json:"check_name"`
		Location struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	if err := json.Unmarshal([]byte(harness.Read(t, filepath.Join(work.dir, "findings.json"))), &issues); err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, i := range issues {
		got = append(got, fmt.Sprintf("%s:%d", i.Location.Path, i.Location.Lines.Begin))
	}
	for at := range places {
		if !slices.Contains(got, at) && !strings.HasSuffix(at, ":0") {
			t.Errorf("GitLab's report has nothing at %s, but at %v", at, got)
		}
	}

	// A pull request that brings nothing wrong gets no review.
	author.git("checkout", "-q", "--detach", "origin/main")
	author.push("fine", map[string]string{"docs/guide.mdx": forgeSite["docs/guide.mdx"] + "\nThird.\n"})
	answer = g.REST(http.MethodPost, "/repos/"+g.User+"/docs/pulls", map[string]any{"head": "fine", "base": "main", "title": "Fine"}, http.StatusCreated)
	if err := json.Unmarshal(answer, &pull); err != nil {
		t.Fatal(err)
	}
	address = fmt.Sprintf("/repos/%s/docs/pulls/%d", g.User, pull.Number)
	_, e = clone(t, g, fmt.Sprintf("refs/pull/%d/head", pull.Number))
	e.override = map[string]string{"GITHUB_REF": fmt.Sprintf("refs/pull/%d/head", pull.Number), "GITHUB_API_URL": g.API, "GITHUB_REPOSITORY": g.User + "/docs"}
	log, _, _, err = theAction(t).run(t, e, map[string]string{
		"command": "check", "version": "v1.2.3", "checksums": checksums, "releases": releases, "since": "origin/main", "fail-on": "notice", "review": g.Token,
	})
	if err != nil || len(annotations(t, log)) > 0 {
		t.Errorf("%v\n%s", err, log)
	}
	if reviews := g.REST(http.MethodGet, address+"/reviews", nil, http.StatusOK); strings.TrimSpace(string(reviews)) != "[]" {
		t.Errorf("there is a review of nothing: %s", reviews)
	}
}

// bucketHost passes requests on to a local cloud, and keeps the order of those that
// write.
type bucketHost struct {
	*httptest.Server
	mu     sync.Mutex
	writes []string
}

func newBucketHost(t *testing.T, cloud *cloudtest.Cloud) *bucketHost {
	t.Helper()
	to, err := url.Parse(cloud.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which is signed
	}}
	h := &bucketHost{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			h.mu.Lock()
			h.writes = append(h.writes, r.Method+" "+r.URL.Path)
			h.mu.Unlock()
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// written returns what was written since the last call, by the names in the bucket.
func (h *bucketHost) written() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.writes
	h.writes = nil
	return list
}

// stepOf returns the script of a step that a workflow of the page on templates has.
func stepOf(t *testing.T, name string) string {
	t.Helper()
	page := harness.Read(t, filepath.Join(outside.Checkout(t), "infra", "docs", "export", "templates.mdx"))
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		var steps []struct{ Name, Run string }
		if err := yaml.Unmarshal([]byte(block[1]), &steps); err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.Name == name {
				return s.Run
			}
		}
	}
	t.Fatalf("the page on templates has no step %q", name)
	return ""
}

// TestEditToReaders takes edits from main of a real forge to a bucket and to an
// upgraded release, by the steps of the templates.
func TestEditToReaders(t *testing.T) {
	outside.Long(t, "starts a forge, a local cloud and a Bindery")
	cloud := cloudtest.MiniStack(t)
	releases, checksums := releaseServer(t)
	g := forgetest.NewGitea(t)
	g.Write("main", forgeSite)
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	client := s3.NewFromConfig(cloud.Config, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("readers")}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("readers"), Key: aws.String("left/over.html"), Body: strings.NewReader("Old.")}); err != nil {
		t.Fatal(err)
	}
	host := newBucketHost(t, cloud)
	upload := stepOf(t, "Upload")

	// run is what happens on main: the action, then the page's step. It returns what
	// was written to the bucket.
	run := func() (string, []string) {
		t.Helper()
		work, e := clone(t, g, "refs/heads/main")
		log, _, _, err := theAction(t).run(t, e, map[string]string{
			"command": "publish-and-export", "version": "v1.2.3", "checksums": checksums, "releases": releases,
			"url": u.URL, "key": u.Key, "domain": domain, "site": "public", "fail-on": "none",
		})
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		e.path = strings.TrimSpace(harness.Read(t, filepath.Join(e.home, "path"))) + ":" + e.path
		said, err := shell(t, e, map[string]string{
			"BUCKET": "readers", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": cloudtest.Region, "AWS_ENDPOINT_URL_S3": host.URL,
		}, upload, "--noprofile", "--norc", "-eo", "pipefail")
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return filepath.Join(work.dir, "public"), host.written()
	}

	site, writes := run()
	holdBucket(t, client, site)
	rank := func(write string) int {
		switch {
		case strings.HasPrefix(write, "POST "):
			return 4
		case strings.HasSuffix(write, ".jsonl"), strings.HasSuffix(write, "/bindery.json"):
			return 3
		case strings.HasSuffix(write, ".html"):
			return 2
		case regexp.MustCompile(`^PUT /readers/bindery/.+\.[0-9a-f]{8,}\.`).MatchString(write):
			return 0
		}
		return 1
	}
	if !slices.IsSortedFunc(writes, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) }) || rank(writes[0]) != 0 || rank(writes[len(writes)-1]) != 4 {
		t.Errorf("files were not uploaded in the order in which they load each other:\n%s", strings.Join(writes, "\n"))
	}

	// The same again changes nothing. An edit that leaves a page's size changes it; a
	// page that goes is removed.
	if _, writes = run(); len(writes) > 0 {
		t.Errorf("nothing changed, and these were written: %v", writes)
	}
	author, _ := clone(t, g, "refs/heads/main")
	author.push("main", map[string]string{"docs/guide.mdx": strings.Replace(forgeSite["docs/guide.mdx"], "Second.", "Zecond.", 1)})
	site, writes = run()
	holdBucket(t, client, site)
	if !slices.Contains(writes, "PUT /readers/guide.html") || slices.Contains(writes, "PUT /readers/404.html") {
		t.Errorf("an edit of one page wrote %v", writes)
	}
	author.push("main", map[string]string{"docs/guide.mdx": "", "docs/docs.json": strings.Replace(forgeSite["docs/docs.json"], `, "guide"`, "", 1)})
	site, _ = run()
	holdBucket(t, client, site)
	if harness.Exists(filepath.Join(site, "guide.html")) {
		t.Fatal("the page is still in the bundle")
	}

	// The release: what main has now is upgraded to, by the chart's workflow.
	e := environment{home: t.TempDir()}
	path, sums := fakes(t, e.home)
	e.path = path
	e.vars = map[string]string{"BINDERY_URL": u.URL, "BINDERY_VERSION": "v0.1.0", "BINDERY_SHA256": sums["bindery"], "HELM_VERSION": "v4.3.1", "HELM_SHA256": sums["helm"],
		"DOMAIN": domain, "RELEASE": "docs", "NAMESPACE": "web", "CHART": "oci://registry.example.com/charts/bindery"}
	e.secrets = map[string]string{"BINDERY_ADMIN_KEY": u.Key, "KUBECONFIG": "apiVersion: v1\nkind: Config\n"}
	if log, err := githubActions(t, e); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	calls := helmCalls(t, e)
	if len(calls) != 1 {
		t.Fatalf("helm was called %d times", len(calls))
	}
	calls[0].check(t, e)
	var info struct{ Version string }
	if err := json.Unmarshal([]byte(harness.Read(t, filepath.Join(site, "bindery.json"))), &info); err != nil || info.Version != calls[0].values["version"] {
		t.Errorf("the release has the version %s, readers of the bucket %s (%v)", calls[0].values["version"], info.Version, err)
	}
}

// holdBucket holds the bucket against a folder: it has each file, with its type, and
// no other but files that pages of before load.
func holdBucket(t *testing.T, client *s3.Client, site string) {
	t.Helper()
	there := map[string]bool{}
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: aws.String("readers")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			there[*o.Key] = true
		}
	}
	types := map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".md": "text/markdown; charset=utf-8"}
	forever := regexp.MustCompile(`^bindery/.+\.[0-9a-f]{8,}\.[a-z0-9]+$`)
	n := 0
	err := filepath.WalkDir(site, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(site, file)
		name := filepath.ToSlash(rel)
		out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("readers"), Key: &name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		defer out.Body.Close()
		data, err := io.ReadAll(out.Body)
		if err != nil || string(data) != harness.Read(t, file) {
			t.Errorf("%s is another file in the bucket (%v)", name, err)
		}
		control := "no-cache"
		if forever.MatchString(name) {
			control = "public, max-age=31536000, immutable"
		}
		if kind := types[filepath.Ext(name)]; kind != "" && aws.ToString(out.ContentType) != kind || aws.ToString(out.CacheControl) != control {
			t.Errorf("%s has the type %s, and %q", name, aws.ToString(out.ContentType), aws.ToString(out.CacheControl))
		}
		delete(there, name)
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range maps.Keys(there) {
		if !forever.MatchString(name) {
			t.Errorf("%s is in the bucket, and not in the site", name)
		}
	}
	if n < 10 {
		t.Errorf("only %d files were held against each other", n)
	}
}
