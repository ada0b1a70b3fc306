package upload_test

import (
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/upload"
)

// bucket answers what Run asks of S3.
type bucket struct {
	mu      sync.Mutex
	objects map[string]string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case r.Method == http.MethodGet && key == "":
		type object struct{ Key, ETag string }
		var list struct {
			XMLName  xml.Name `xml:"ListBucketResult"`
			Contents []object
		}
		for _, name := range slices.Sorted(maps.Keys(b.objects)) {
			if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
				list.Contents = append(list.Contents, object{name, `"other"`})
			}
		}
		_ = xml.NewEncoder(w).Encode(list)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, b.objects[key])
	case r.Method == http.MethodPut:
		b.objects[key] = string(body)
	case r.Method == http.MethodPost:
		var gone struct{ Object []struct{ Key string } }
		if err := xml.Unmarshal(body, &gone); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, o := range gone.Object {
			delete(b.objects, o.Key)
		}
		_, _ = io.WriteString(w, "<DeleteResult/>")
	}
}

// TestDeleteLeavesOtherBundles: what is gone is removed, but not what belongs to a
// bundle in a folder below, or beside the target.
func TestDeleteLeavesOtherBundles(t *testing.T) {
	page := []byte("<p>Text</p>")
	site := fstest.MapFS{
		"index.html": {Data: page}, bundle.FilesPath: {Data: bundle.FileOf("index.html", page).AppendLine(nil)},
		bundle.DiagnosticsPath: {}, bundle.InfoPath: {Data: []byte("{}")},
	}
	b := &bucket{objects: map[string]string{
		"site/old.html": "", "site/v2/old.html": "", "site/v1/index.html": "", "site/v1/guides/start.html": "", "site/v1/" + bundle.FilesPath: "",
		"site2/index.html": "", "index.html": "",
	}}
	server := httptest.NewServer(b)
	defer server.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
	done, err := upload.Run(t.Context(), cfg, site, upload.Target{Bucket: "docs", Prefix: "site"}, upload.Options{Delete: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"old.html", "v2/old.html"}, done.Deleted); d != "" {
		t.Errorf("it deleted:\n%s", d)
	}
	want := []string{
		"index.html", "site/" + bundle.DiagnosticsPath, "site/" + bundle.FilesPath, "site/" + bundle.InfoPath, "site/index.html",
		"site/v1/" + bundle.FilesPath, "site/v1/guides/start.html", "site/v1/index.html", "site2/index.html",
	}
	slices.Sort(want)
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(b.objects))); d != "" {
		t.Error(d)
	}
}
