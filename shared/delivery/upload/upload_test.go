package upload_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/upload"
)

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]string{"s3://docs": "s3://docs", "s3://docs/": "s3://docs", "s3://docs/a/b/": "s3://docs/a/b"} {
		if got, err := upload.ParseTarget(in); err != nil || got.String() != want {
			t.Errorf("%s is %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "docs", "s3://", "s3:///a", "s3://docs/a//b", "s3://docs/../b", "https://docs"} {
		if got, err := upload.ParseTarget(in); err == nil {
			t.Errorf("%q is %s", in, got)
		}
	}
}

// What is not a whole bundle is refused before a store is asked for anything: there
// is none here.
func TestRunRefuses(t *testing.T) {
	page := []byte("<p>Text</p>")
	list := string(bundle.FileOf("index.html", page).AppendLine(nil))
	site := func(change func(fstest.MapFS)) fstest.MapFS {
		m := fstest.MapFS{
			"index.html": {Data: page}, bundle.FilesPath: {Data: []byte(list)}, bundle.DiagnosticsPath: {}, bundle.InfoPath: {Data: []byte("{}")},
		}
		change(m)
		return m
	}
	for name, want := range map[string]struct {
		site fstest.MapFS
		says string
	}{
		"no bundle":      {fstest.MapFS{"index.html": {Data: page}}, upload.ErrNoBundle.Error()},
		"another page":   {site(func(m fstest.MapFS) { m["index.html"] = &fstest.MapFile{Data: []byte("<p>Test</p>")} }), "index.html is not as the bundle has it"},
		"a lost page":    {site(func(m fstest.MapFS) { delete(m, "index.html") }), "index.html"},
		"no description": {site(func(m fstest.MapFS) { delete(m, bundle.InfoPath) }), bundle.InfoPath},
		"a name outside": {site(func(m fstest.MapFS) {
			m[bundle.FilesPath] = &fstest.MapFile{Data: []byte(strings.Replace(list, "index.html", "../index.html", 1))}
		}), "../index.html"},
		"another list": {site(func(m fstest.MapFS) { m[bundle.FilesPath] = &fstest.MapFile{Data: []byte("index.html\n")} }), bundle.FilesPath},
	} {
		_, err := upload.Run(t.Context(), aws.Config{Region: "us-east-1"}, want.site, upload.Target{Bucket: "docs"}, upload.Options{Delete: true})
		if err == nil || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no bundle" && !errors.Is(err, upload.ErrNoBundle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
