package cloud

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/tests/outside"
)

// sitesKey signs the links of the function of siteFunction.
const sitesKey = "a key of the tests"

// siteFunction deploys a function with a URL that serves sites, and returns a function that
// asks it for a path on a host, and one that removes it. It may read records of projects and exports, and archives,
// and nothing else.
func (d *deployment) siteFunction(t *testing.T) (get func(label, path string, header ...string) (int, http.Header, string), remove func()) {
	t.Helper()
	ctx, name := t.Context(), "sites-of-tests"
	program := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-tags", "lambda.norpc,nethttpomithttp2", "-o", program, "./tests/cloud/sitefunction")
	build.Dir, build.Env = outside.Checkout(t), append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}

	allow := func(action, resource string, condition any) map[string]any {
		statement := map[string]any{"Effect": "Allow", "Action": action, "Resource": resource}
		if condition != nil {
			statement["Condition"] = condition
		}
		return statement
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	iam := func(form url.Values) {
		form.Set("Version", "2010-05-08")
		d.request(t, "iam", "POST", "/", form.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	}
	iam(url.Values{"Action": {"CreateRole"}, "RoleName": {name}, "AssumeRolePolicyDocument": {text(map[string]any{
		"Version": "2012-10-17", "Statement": []any{map[string]any{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": map[string]any{"Service": "lambda.amazonaws.com"}}},
	})}})
	iam(url.Values{"Action": {"PutRolePolicy"}, "RoleName": {name}, "PolicyName": {"read"}, "PolicyDocument": {text(map[string]any{
		"Version": "2012-10-17", "Statement": []any{
			allow("dynamodb:GetItem", fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", localRegion, localAccount, d.stack.Table),
				map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": []string{"project#*", "export#*"}}}),
			allow("s3:GetObject", "arn:aws:s3:::"+d.stack.ExportsBucket+"/exports/*", nil),
		},
	})}})

	// What functions of the stack know of the local cloud.
	var like struct {
		Environment struct{ Variables map[string]string }
	}
	if err := json.Unmarshal(d.request(t, "lambda", "GET", "/2015-03-31/functions/"+d.functions(t)["generatebundle"][0].FunctionName+"/configuration", "", nil), &like); err != nil {
		t.Fatal(err)
	}
	variables := like.Environment.Variables
	// Its calls don't go through the proxy, which holds those of the stack against their rights.
	variables["SITES_KEY"], variables["SITES_ENDPOINT"] = sitesKey, d.endpoint
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	d.request(t, "lambda", "POST", "/2015-03-31/functions", text(map[string]any{
		"FunctionName": name, "Runtime": "provided.al2023", "Handler": "bootstrap", "Architectures": []string{architecture},
		"Role": fmt.Sprintf("arn:aws:iam::%s:role/%s", localAccount, name), "Timeout": 30, "MemorySize": 512,
		"Code": map[string]any{"ZipFile": base64.StdEncoding.EncodeToString(packed.Bytes())}, "Environment": map[string]any{"Variables": variables},
	}), map[string]string{"Content-Type": "application/json"})
	remove = func() {
		d.request(t, "lambda", "DELETE", "/2015-03-31/functions/"+name, "", nil)
		iam(url.Values{"Action": {"DeleteRolePolicy"}, "RoleName": {name}, "PolicyName": {"read"}})
		iam(url.Values{"Action": {"DeleteRole"}, "RoleName": {name}})
	}
	var made struct{ FunctionURL string }
	if err := json.Unmarshal(d.request(t, "lambda", "POST", "/2021-10-31/functions/"+name+"/url", `{"AuthType":"NONE"}`, map[string]string{"Content-Type": "application/json"}), &made); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"} {
		d.request(t, "lambda", "POST", "/2015-03-31/functions/"+name+"/policy", text(map[string]any{
			"StatementId": strings.TrimPrefix(action, "lambda:"), "Action": action, "Principal": "*",
		}), map[string]string{"Content-Type": "application/json"})
	}
	u, err := url.Parse(made.FunctionURL)
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(u.Host, ".")
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: plainTransport()}
	get = func(label, path string, header ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.endpoint+"/_aws/lambda-url/"+id+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-Host", label+".sites.example.com")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header, string(body)
	}
	return get, remove
}

// plainTransport asks for no compression by itself.
func plainTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}

var hashedStyles = regexp.MustCompile(`bindery/[^" ]+\.[0-9a-f]{8,64}\.css`)

// sites has a function serve what is live of a domain, and an export to people with a link.
func (d *deployment) sites(t *testing.T, org admin.Organisation, domain string, live func(text string) (job string)) {
	projects, err := d.admin.ListProjects(t.Context(), org.ID)
	if err != nil || len(projects) != 1 {
		t.Fatal(projects, err)
	}
	slug := projects[0].Slug()
	get, remove := d.siteFunction(t)
	defer remove()
	if status, _, body := get("docs-example-com-none", "/"); status != http.StatusNotFound || !strings.Contains(body, "There is no site here") {
		t.Errorf("a host without a site: %d %s", status, body)
	}
	job := live("The first text of a host.")
	status, header, page := get(slug, "/")
	if status != http.StatusOK || !strings.Contains(page, "The first text of a host.") || header.Get("Etag") == "" || header.Get("Content-Security-Policy") == "" {
		t.Fatalf("what is live: %d %v %s", status, header, page)
	}
	if status, _, body := get(slug, "/", "If-None-Match", header.Get("Etag")); status != http.StatusNotModified || body != "" {
		t.Errorf("a page that the reader has: %d", status)
	}
	if status, h, body := get(slug, "/", "Accept-Encoding", "gzip"); status != http.StatusOK || h.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("a page for a reader who takes gzip: %d %v", status, h)
	}
	if status, h, body := get(slug, "/", "Range", "bytes=1-4"); status != http.StatusPartialContent || body != page[1:5] {
		t.Errorf("a part of a page: %d %v %q", status, h, body)
	}
	if styles := hashedStyles.FindString(page); styles == "" {
		t.Error("the page has no hashed style sheet")
	} else if status, _, _ := get(slug, "/"+styles); status != http.StatusOK {
		t.Errorf("%s: %d", styles, status)
	}
	if status, _, _ := get(slug, "/no/such/page"); status != http.StatusNotFound {
		t.Errorf("a page that is not there: %d", status)
	}
	live("The second text of a host.")
	if status, _, body := get(slug, "/"); status != http.StatusOK || !strings.Contains(body, "The second text of a host.") {
		t.Errorf("what is live now: %d", status)
	}

	signer := admin.New(admin.Options{Store: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}), Objects: d.objects(), Sites: admin.Sites{URL: "https://sites.example.com", Key: []byte(sitesKey)}})
	link, err := signer.PreviewLink(t.Context(), admin.Caller{OrganisationID: org.ID}, job)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(u.Host, ".")
	if status, _, _ := get(label, "/"); status != http.StatusForbidden {
		t.Errorf("an export without a link: %d", status)
	}
	status, header, _ = get(label, u.RequestURI())
	cookies := (&http.Response{Header: header}).Cookies()
	if status != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure {
		t.Fatalf("a link to an export: %d %v", status, header)
	}
	if status, h, body := get(label, "/", "Cookie", cookies[0].Name+"="+cookies[0].Value); status != http.StatusOK || h.Get("X-Robots-Tag") != "noindex" || !strings.Contains(body, "The first text of a host.") {
		t.Errorf("an export with a link: %d %v", status, h)
	}
	if _, err := d.admin.RevokeProject(t.Context(), projects[0].ID); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := get(slug, "/"); status != http.StatusNotFound {
		t.Errorf("the host of a project that has ended: %d", status)
	}
}
