package browser

import (
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// said is a call as a server understands it: a line for the call and its headers,
// one for each value or part of a form.
func said(r *http.Request) string {
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	out := fmt.Sprintf("%s %s %s accept=%s\n", r.Method, r.URL, kind, r.Header.Get("Accept"))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return err.Error()
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			out += fmt.Sprintf("%s=%q\n", name, values[name])
		}
	case "multipart/form-data":
		parts := multipart.NewReader(strings.NewReader(string(body)), params["boundary"])
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			value, _ := io.ReadAll(part)
			out += strings.TrimRight(fmt.Sprintf("%s=%q %s %s", part.FormName(), value, part.FileName(), part.Header.Get("Content-Type")), " ") + "\n"
		}
	default:
		out += string(body) + "\n"
	}
	return out
}

// TestPlaygroundTypes: a reader picks the content type of a call and that of its
// answer by the keyboard, fills in the address of a server in parts, and the
// server hears what the form, the command and the samples say. From a folder, and
// from a server with the policy that the bundle states.
func TestPlaygroundTypes(t *testing.T) {
	chromium := browse.Chromium(t)
	heard := make(chan string, 10)
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Origin", "Headers", "Methods"} {
			w.Header().Set("Access-Control-Allow-"+name, "*")
		}
		if r.Method == http.MethodOptions {
			return
		}
		heard <- said(r)
		fmt.Fprint(w, "heard")
	}))
	defer echo.Close()
	dir := filepath.Dir(harness.Unpack(t, apiSite(t, echo.URL+"/v1")))
	policy := browse.StatedPolicy(t, filepath.Join(dir, "docs"))
	server := browse.Policed(t, dir, policy)
	photo := filepath.Join(t.TempDir(), "photo.txt")
	if err := os.WriteFile(photo, []byte("pixels"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(echo.URL, "http://"), ":")

	for where, base := range map[string]string{"folder": "file://" + dir, "server": server.URL} {
		t.Run(where, func(t *testing.T) {
			ctx, stop := browse.OpenFocused(t, chromium)
			defer stop()
			p := playground{t, ctx}
			p.open(base + "/docs/notes/leave-a-note.html")

			s := p.until("it has fields", func(s playgroundState) bool { return len(s.Labels) > 0 })
			if got := strings.Join(s.Labels, "|"); got != "URL|host|port|base|id (required)|Content type|Response type" {
				t.Errorf("the fields are %s", got)
			}
			if !strings.Contains(s.Command, "http://127.0.0.1:9/v0/notes/7") {
				t.Errorf("the address does not begin with the defaults: %s", s.Command)
			}
			p.pick("port", port)
			p.focus("base")
			p.press("v1")
			p.until("the address follows", func(s playgroundState) bool { return strings.Contains(s.Command, echo.URL+"/v1/notes/7") })

			photos := `.bdy-playground label input[type=file][multiple]`
			for _, c := range []struct {
				kind, answer string
				// fill puts in what the form does not begin with.
				fill            func()
				labels          string
				command, sample []string
				want            string
			}{
				{
					kind: "application/json", answer: "application/json", labels: "",
					command: []string{"--header 'Content-Type: application/json'", `"text": "Salt & vinegar"`},
					sample:  []string{"Content-Type: application/json"},
					want:    "application/json accept=application/json\n{\n  \"text\": \"Salt & vinegar\",\n  \"lang\": \"en\"\n}\n",
				},
				{
					kind: "application/x-www-form-urlencoded", answer: "application/xml", labels: "text (required)|tags|near|",
					fill: func() {
						p.focus("text")
						p.press("c & d")
					},
					command: []string{"--header 'Accept: application/xml'", "--data-urlencode 'text=c & d'", "--data-urlencode tags=x", "--data-urlencode 'tags=y z'", "--data-urlencode near%5Blat%5D=1.5"},
					sample:  []string{"--data-urlencode 'text=a & b'", "--data-urlencode near%5Blon%5D=2"},
					want:    "application/x-www-form-urlencoded accept=application/xml\nnear[lat]=[\"1.5\"]\nnear[lon]=[\"2\"]\ntags=[\"x\" \"y z\"]\ntext=[\"c & d\"]\n",
				},
				{
					kind: "multipart/form-data", answer: "text/csv", labels: "text (required)|tags|meta|loud|photos|",
					fill: func() {
						p.pick("loud", "false")
						if err := chromedp.Do(ctx, chromedp.SetUploadFiles(photos, []string{photo})); err != nil {
							t.Fatal(err)
						}
					},
					command: []string{`--form 'text="Hello; world"'`, "--form tags=x", `--form 'meta={"lang":"en"};type=application/json'`, "--form loud=false", "--form photos=@photo.txt"},
					sample:  []string{`--form 'text="Hello; world"'`, "--form loud=true", "--form photos=@file"},
					want: "multipart/form-data accept=text/csv\ntext=\"Hello; world\"\ntags=\"x\"\ntags=\"y\"\n" +
						"meta=\"{\\\"lang\\\":\\\"en\\\"}\" blob application/json\nloud=\"false\"\nphotos=\"pixels\" photo.txt text/plain\n",
				},
				{
					kind: "application/xml", answer: "text/csv", labels: "",
					command: []string{"--data '<?xml", "Salt &amp; vinegar"},
					sample:  []string{"Salt &amp; vinegar"},
					want:    "application/xml accept=text/csv\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<note lang=\"en\">\n  <text>Salt &amp; vinegar</text>\n</note>\n",
				},
				{
					kind: "text/plain", answer: "text/csv", labels: "",
					fill: func() {
						p.focus("")
						p.press("Typed.")
					},
					command: []string{"--data Typed."},
					sample:  []string{"--data 'Only text.'"},
					want:    "text/plain accept=text/csv\nTyped.\n",
				},
				{
					kind: "application/octet-stream", answer: "application/json", labels: "",
					fill: func() {
						if err := chromedp.Do(ctx, chromedp.SetUploadFiles(`.bdy-playground input[type=file]:not([multiple])`, []string{photo})); err != nil {
							t.Fatal(err)
						}
					},
					command: []string{"--data-binary @photo.txt"},
					sample:  []string{"--data-binary @file"},
					want:    "application/octet-stream accept=application/json\npixels\n",
				},
			} {
				p.pick("Content type", c.kind)
				p.pick("Response type", c.answer)
				if c.fill != nil {
					c.fill()
				}
				for _, part := range c.command {
					s = p.until(c.kind+": the command says "+part, func(s playgroundState) bool { return strings.Contains(s.Command, part) })
				}
				if got, want := strings.Join(s.Labels, "|"), "URL|host|port|base|id (required)|Content type|"+c.labels+"Response type"; got != want {
					t.Errorf("%s: the fields are %s, want %s", c.kind, got, want)
				}
				// The samples and the description of the body follow.
				shown, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[
					document.querySelector(".bdy-beside .bdy-sample-types > .bdy-tab:not([hidden]) .bdy-code-block:not([hidden])").innerText,
					[...document.querySelectorAll(".prose > .bdy-tabs [role=tab][aria-selected=true]")].map(b => b.textContent).join("|"),
				]`))
				if err != nil {
					t.Fatal(err)
				}
				for _, part := range c.sample {
					if !strings.Contains(shown[0], part) {
						t.Errorf("%s: the sample has no %s: %s", c.kind, part, shown[0])
					}
				}
				if want := c.kind + "|" + c.answer; shown[1] != want {
					t.Errorf("%s: the tabs show %s, want %s", c.kind, shown[1], want)
				}
				p.do("id", `e.form.requestSubmit()`)
				p.until(c.kind+": an answer comes", func(s playgroundState) bool { return strings.Contains(s.Result, "heard") })
				if got, want := <-heard, "PUT /v1/notes/7 "+c.want; got != want {
					t.Errorf("the server hears\n%s\nwant\n%s", got, want)
				}
				p.do("id", `document.querySelector(".bdy-playground-result").replaceChildren()`)
			}

			// What is picked beside the text is picked in the form.
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelector(".bdy-sample-types > select").focus() || true`)); err != nil {
				t.Fatal(err)
			}
			for range 6 {
				p.press(kb.ArrowUp)
			}
			p.until("the form follows the samples", func(s playgroundState) bool { return strings.Contains(s.Command, "Content-Type: application/json") })
		})
	}
}

// TestTypesWithoutScript: where no script runs, a page about a call shows each
// content type with its fields and samples.
func TestTypesWithoutScript(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := t.TempDir()
	archive, err := os.ReadFile(harness.ExportSite(t, filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "reference")).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	harness.Extract(t, archive, dir)
	ctx, stop := browse.OpenFocused(t, chromium)
	defer stop()
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 390} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.Join(dir, "notes", "leave-a-note.html"))); err != nil {
			t.Fatal(err)
		}
		if faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](unreadable)); err != nil || faults != "" {
			t.Errorf("%d pixels wide: %s (%v)", width, faults, err)
		}
		shown, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll(".bdy-tab-title")].filter(e => e.checkVisibility()).map(e => e.textContent).join(" ")`))
		const sent, answered = "application/json application/x-www-form-urlencoded multipart/form-data application/xml text/plain application/octet-stream ", "application/json application/xml text/csv"
		if want := sent + sent + answered; err != nil || shown != want {
			t.Errorf("%d pixels wide: %s are shown, want %s (%v)", width, shown, want, err)
		}
		if form, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelector(".bdy-playground").checkVisibility()`)); err != nil || form {
			t.Errorf("%d pixels wide: the form's place is shown: %v (%v)", width, form, err)
		}
	}
}
