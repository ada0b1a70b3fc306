package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// deface overwrites a text in a file on the volume by another of its size.
func deface(t testing.TB, name, old, with string) {
	t.Helper()
	if err := defaced(name, old, with); err != nil {
		t.Fatal(err)
	}
}

func defaced(name, old, with string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(old) != len(with) || !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s has no %q to be made %q", name, old, with)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes.ReplaceAll(data, []byte(old), []byte(with)), 0)
	return firstError(err, f.Close())
}

// flip changes one byte of a file, the offset from its end if it is negative.
func flip(name string, offset int64) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if offset < 0 {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		offset += info.Size()
	}
	one := make([]byte, 1)
	if _, err := f.ReadAt(one, offset); err != nil {
		return err
	}
	one[0] ^= 1
	_, err = f.WriteAt(one, offset)
	return err
}

// forge changes a file together with all that names its digest on the volume,
// but for the archive's end.
func forge(dir, name, old, with string) error {
	site := filepath.Join(dir, siteDir)
	digest := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(site, filepath.FromSlash(name)))
		return sum(data)
	}
	for _, next := range []string{name, bundle.FilesPath, bundle.InfoPath} {
		before := digest(next)
		if err := defaced(filepath.Join(site, filepath.FromSlash(next)), old, with); err != nil {
			return err
		}
		old, with = before, digest(next)
	}
	return nil
}

const (
	theirs = "<p>edition 1</p>"
	evil   = "<p>0wned you!</p"
)

func homeOf(data string, archive []byte) string {
	return filepath.Join(data, versionsDir, sum(archive), siteDir, "index.html")
}

// TestDefacedAndNoSource: a server that starts with a changed version on the
// volume, and with a source that gives none, shows nothing of it.
func TestDefacedAndNoSource(t *testing.T) {
	made := func(home string) []byte {
		files := sample()
		files["index.html"], files["guides/other.html"] = page(home), page("other") // as long as that of the start
		return bundleOf(t, "1", files, nil)
	}
	one, two := made("edition 1"), made("edition 2")
	dir := func(data string) string { return filepath.Join(data, versionsDir, sum(one)) }
	for name, change := range map[string]func(data string) error{
		"a page":               func(data string) error { return defaced(homeOf(data, one), theirs, evil[:len(theirs)]) },
		"a compressed form":    func(data string) error { return flip(filepath.Join(dir(data), packedDir, packedData), 40) },
		"another's forms":      func(data string) error { return swapForms(filepath.Join(dir(data), packedDir, packedIndex)) },
		"a page and the lists": func(data string) error { return forge(dir(data), "guides/start.md", "# start", "# 0wned") },
		"the archive's end":    func(data string) error { return flip(filepath.Join(dir(data), endFile), -20) },
		"another bundle": func(data string) error {
			other := t.TempDir()
			v := &volume{dir: other, log: (&running{log: new(lines)}).nolog()}
			if err := os.MkdirAll(filepath.Join(other, versionsDir), 0o755); err != nil {
				return err
			}
			if _, err := v.addBytes(t, two, want{}); err != nil {
				return err
			}
			// Of the same version, with a record that says what is asked for.
			record := filepath.Join(v.version(sum(two)), recordFile)
			return firstError(defaced(record, sum(two), sum(one)), os.RemoveAll(dir(data)), os.Rename(v.version(sum(two)), dir(data)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t, one)
			options := Options{Link: o.link(), Data: t.TempDir(), SHA256: sum(one)}
			r := started(t, options)
			r.stop()
			<-r.ended
			if err := change(options.Data); err != nil {
				t.Fatal(err)
			}
			o.set(func() { o.status = 403 })
			if e, _ := fails(t, options); e.Code != CodeLinkExpired {
				t.Errorf("it ends with %v", e)
			}
			// With a source it is what was exported again.
			o.set(func() { o.status = 0 })
			started(t, options).shows(t, "edition 1")
		})
	}
}

// swapForms has the index of compressed forms name another page's.
func swapForms(index string) error {
	raw, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	swap := strings.NewReplacer(`"guides/other.html"`, `"guides/start.html"`, `"guides/start.html"`, `"guides/other.html"`)
	return os.WriteFile(index, []byte(swap.Replace(string(raw))), 0o644)
}

// TestDefacedWhileShown: a file that is changed on the volume under a running
// server is never sent. It is healed from the source; until the source has a
// bundle, /readyz and the metrics tell, and the rest of the site is there.
func TestDefacedWhileShown(t *testing.T) {
	one := edition(t, "1")
	for _, c := range []struct {
		name   string
		accept string
		cache  int64
		damage func(t *testing.T, data string)
	}{
		{"a page", "", 1 << 20, func(t *testing.T, data string) { deface(t, homeOf(data, one), theirs, evil[:len(theirs)]) }},
		{"a page, without a cache", "", 1, func(t *testing.T, data string) { deface(t, homeOf(data, one), theirs, evil[:len(theirs)]) }},
		{"a page is gone", "", 1 << 20, func(t *testing.T, data string) {
			if err := os.Remove(homeOf(data, one)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a page is longer", "", 1, func(t *testing.T, data string) {
			if err := os.WriteFile(homeOf(data, one), []byte(page("edition 1")+evil), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"compressed forms", "zstd", 1 << 20, func(t *testing.T, data string) {
			name := filepath.Join(data, versionsDir, sum(one), packedDir, packedData)
			old, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, bytes.Repeat([]byte{7}, len(old)), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOrigin(t, one)
			data := t.TempDir()
			r := started(t, Options{Link: o.link(), Data: data, CacheBytes: c.cache, SHA256: sum(one)})
			get := func(path string) (int, string) {
				response, body := r.get(t, path, "Accept-Encoding", c.accept)
				return response.StatusCode, body
			}
			_, want := r.get(t, "/api/", "Accept-Encoding", c.accept) // is in memory now
			o.set(func() { o.status = 403 })
			c.damage(t, data)
			for range 3 {
				if status, body := get("/"); status != 500 || strings.Contains(body, "0wned") || strings.Contains(body, "<") {
					t.Errorf("status %d with %q", status, body)
				}
			}
			s := r.until(t, func(s Status) bool { return s.State == "degraded" && s.Problem.Code == CodeLinkExpired })
			if s.Damaged != 1 || !s.Ready {
				t.Errorf("%+v", s)
			}
			if n, total := r.metric(t, "bindery_serve_damaged_files"), r.metric(t, "bindery_serve_damage_total"); n != "1" || total != "1" {
				t.Errorf("%q damaged files, %q found, in the metrics", n, total)
			}
			if c.cache > 1 {
				if status, body := get("/api/"); status != 200 || body != want {
					t.Errorf("another page: status %d, %.30q", status, body)
				}
			}
			o.set(func() { o.status = 0 })
			r.reload <- struct{}{}
			r.until(t, func(s Status) bool { return s.State == "serving" && s.Damaged == 0 })
			r.shows(t, "edition 1")
			if status, _ := get("/"); status != 200 {
				t.Errorf("after healing: status %d", status)
			}
			r.heals(t)
			if n := r.metric(t, "bindery_serve_damaged_files"); n != "0" {
				t.Errorf("%q damaged files in the metrics", n)
			}
			for _, name := range tree(t, filepath.Join(data, versionsDir)) {
				if strings.HasPrefix(name, newPrefix) {
					t.Errorf("%s stays on the volume", name)
					break
				}
			}
		})
	}
}

// heals waits until a version was healed, once.
func (r *running) heals(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); r.metric(t, "bindery_serve_healed_total") != "1"; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is not healed:\n%s", r.log)
		}
	}
}

// TestHealsAlone: nobody need ask, neither for the file nor for healing; and
// servers that share the volume heal, each for itself.
func TestHealsAlone(t *testing.T) {
	one := edition(t, "1")
	for how, link := range map[string]string{"from a link": newOrigin(t, one).link(), "from a file": write(t, one)} {
		t.Run(how, func(t *testing.T) {
			options := Options{Link: link, Data: t.TempDir(), Verify: 5 * time.Millisecond}
			all := []*running{started(t, options), started(t, options)}
			deface(t, homeOf(options.Data, one), theirs, evil[:len(theirs)])
			for _, r := range all {
				r.heals(t)
				r.until(t, func(s Status) bool { return s.State == "serving" })
				r.shows(t, "edition 1")
				r.quiet(t)
			}
			if data, err := os.ReadFile(homeOf(options.Data, one)); err != nil || string(data) != page("edition 1") {
				t.Errorf("on the volume is %.40q, %v", data, err)
			}
		})
	}
}

// TestDefacedLargeFile: of a file that is not in memory, what is before the
// first part that differs is the most that is sent, and never as if it were all.
func TestDefacedLargeFile(t *testing.T) {
	noise := make([]byte, 900<<10)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	files := sample()
	files["large.bin"], files["large.txt"] = string(noise), base64.StdEncoding.EncodeToString(noise)
	one := bundleOf(t, "1", files, nil)
	o := newOrigin(t, one)
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data})
	for path, accept := range map[string]string{"/large.bin": "", "/large.txt": "zstd, gzip;q=0.5"} {
		if response, body := r.get(t, path, "Accept-Encoding", accept); response.StatusCode != 200 || accept == "" && body != files["large.bin"] ||
			response.ContentLength != int64(len(body)) || len(body) < 2*chunkSize {
			t.Fatalf("%s: status %d with %d bytes", path, response.StatusCode, len(body))
		}
	}
	o.set(func() { o.status = 403 })
	dir := filepath.Join(data, versionsDir, sum(one))
	if err := firstError(flip(filepath.Join(dir, siteDir, "large.bin"), -5), flip(filepath.Join(dir, siteDir, "large.txt"), 5)); err != nil {
		t.Fatal(err)
	}
	ask := func(path, part string) (int, string, error) {
		request, _ := http.NewRequest("GET", r.site+path, nil)
		if part != "" {
			request.Header.Set("Range", part)
		}
		response, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			return 0, "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return response.StatusCode, string(body), err
	}
	if _, body, err := ask("/large.bin", ""); err == nil || !strings.HasPrefix(files["large.bin"], body) || len(body) > len(noise)/chunkSize*chunkSize {
		t.Errorf("the whole file: %d bytes, %v", len(body), err)
	}
	if status, body, err := ask("/large.bin", "bytes=300000-300009"); status != 206 || err != nil || body != files["large.bin"][300000:300010] {
		t.Errorf("a part that does not differ: status %d, %q, %v", status, body, err)
	}
	if status, body, err := ask("/large.bin", "bytes=-10"); status != 500 || err != nil || strings.Contains(body, files["large.bin"][len(noise)-10:]) {
		t.Errorf("a part that differs: status %d, %q, %v", status, body, err)
	}
	if status, body, err := ask("/large.txt", ""); status != 500 || err != nil || strings.Contains(body, files["large.txt"][100:200]) {
		t.Errorf("its beginning differs: status %d with %d bytes, %v", status, len(body), err)
	}
	if s := r.until(t, func(s Status) bool { return s.Damaged == 2 }); s.State != "degraded" {
		t.Errorf("%+v", s)
	}
}

// TestDefacedLeftover: styles of an older version are sent as they were
// exported, or not at all.
func TestDefacedLeftover(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data, Keep: 1})
	o.set(func() { o.data = edition(t, "2") })
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "2" })
	name := "bindery/theme." + sum([]byte("1"))[:12] + ".css"
	if response, body := r.get(t, "/"+name); response.StatusCode != 200 || body != "/* 1 */" {
		t.Errorf("status %d, %q", response.StatusCode, body)
	}
	deface(t, filepath.Join(data, versionsDir, sum(edition(t, "1")), siteDir, filepath.FromSlash(name)), "/* 1 */", "/* 3 */")
	if response, body := r.get(t, "/"+name); response.StatusCode != 404 || strings.Contains(body, "3") {
		t.Errorf("defaced: status %d, %q", response.StatusCode, body)
	}
}

// TestWithoutProof: a version that a server before this one unpacked proves
// nothing. Where a digest is pinned it is not shown, and not removed either.
func TestWithoutProof(t *testing.T) {
	one := edition(t, "1")
	for _, pin := range []string{"", sum(one)} {
		o := newOrigin(t, one)
		options := Options{Link: o.link(), Data: t.TempDir(), SHA256: pin}
		r := started(t, options)
		r.stop()
		<-r.ended
		dir := filepath.Join(options.Data, versionsDir, sum(one))
		var record map[string]any
		raw, err := os.ReadFile(filepath.Join(dir, recordFile))
		if err := firstError(err, json.Unmarshal(raw, &record)); err != nil {
			t.Fatal(err)
		}
		delete(record, "state")
		raw, _ = json.Marshal(record)
		if err := firstError(os.WriteFile(filepath.Join(dir, recordFile), raw, 0o644), os.Remove(filepath.Join(dir, endFile))); err != nil {
			t.Fatal(err)
		}
		o.set(func() { o.status = 403 })
		if pin == "" {
			r = started(t, options)
			r.shows(t, "edition 1")
			r.stop()
			<-r.ended
		} else if e, _ := fails(t, options); e.Code != CodeLinkExpired {
			t.Errorf("it ends with %v", e)
		}
		if _, err := os.Stat(filepath.Join(dir, recordFile)); err != nil {
			t.Errorf("pinned to %q: the version was removed: %v", pin, err)
		}
		o.set(func() { o.status = 0 })
		r = started(t, options)
		r.shows(t, "edition 1")
		if _, err := os.Stat(filepath.Join(dir, endFile)); pin != "" && err != nil {
			t.Errorf("there is no proof: %v", err)
		}
	}
}

// TestOneMember: an archive that another program packed as one member proves
// itself by all of it.
func TestOneMember(t *testing.T) {
	f := &forged{data: map[string]string{}}
	f.add("index.html", page("home"))
	data := f.bytes(t)
	v := newVolume(t)
	r, err := v.addBytes(t, data, want{})
	if err != nil {
		t.Fatal(err)
	}
	end, err := os.ReadFile(filepath.Join(v.version(r.Digest), endFile))
	if got := sha256.Sum256(end); err != nil || hex.EncodeToString(got[:]) != r.Digest {
		t.Errorf("its end is %d bytes of %d, %v", len(end), len(data), err)
	}
	s, err := v.openSite(t.Context(), r.Digest)
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
}
