package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// What is read for the lines of one page of findings: lines are an extra, so a page
// goes without them where that would be much.
const (
	maxLineManifest = 4 << 20   // bytes of a manifest: some 20,000 files
	maxLineFile     = 512 << 10 // bytes of a file
	maxLineFiles    = 20        // files of a page
	maxLineText     = 200       // characters of a line
	linePatience    = 3 * time.Second
)

// fileFindings are the findings of one file.
type fileFindings struct {
	File     string
	Findings []findingView
}

type findingView struct {
	admin.Finding
	Text string // of the line; empty where it is not at hand
}

type findingsView struct {
	Job   string
	Files []fileFindings
	// Infos are those for information, which are shown in one line until somebody
	// opens it, unless they were asked for.
	Infos                []fileFindings
	InfoCount            int
	Next                 string
	Severities           []choice
	Severity, Code, File string
	Filtered             bool
	Count                int
}

func findingsPage(q *request) error {
	in := admin.FindingList{
		Job: q.r.PathValue("job"), Severity: q.value("severity"), Code: q.value("code"), File: q.value("file"), Cursor: q.value("cursor"), Limit: 100,
	}
	v := findingsView{Job: in.Job, Severity: in.Severity, Code: in.Code, File: in.File, Filtered: in.Severity != "" || in.Code != "" || in.File != ""}
	v.Severities = []choice{{"", "All", in.Severity == ""}}
	for _, s := range admin.Severities() {
		v.Severities = append(v.Severities, choice{s, s, s == in.Severity})
	}
	show := func(code int, p *problem) error { return q.show(code, "findings", "Findings", v, p) }
	found, next, err := q.admin().Findings(q.ctx(), q.caller, in)
	if err != nil {
		return q.again(err, show)
	}
	v.Next, v.Count = next, len(found)
	for _, f := range found { // they are sorted by file
		to := &v.Files
		if f.Severity == admin.SeverityInfo && in.Severity == "" && in.Code == "" {
			to = &v.Infos
			v.InfoCount++
		}
		if n := len(*to); n == 0 || (*to)[n-1].File != f.File {
			*to = append(*to, fileFindings{File: f.File})
		}
		last := &(*to)[len(*to)-1]
		last.Findings = append(last.Findings, findingView{Finding: f})
	}
	q.addLines(v.Files)
	return show(http.StatusOK, nil)
}

// addLines adds the text of the lines that findings are about, where the snapshot
// still has the files. What it can't read is left out, and logged.
func (q *request) addLines(files []fileFindings) {
	if q.d.opt.Objects == nil || len(files) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(q.ctx(), cmp.Or(q.d.opt.ReadTime, linePatience))
	defer cancel()
	site, err := q.site(ctx)
	if site == nil {
		if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
			q.d.opt.Log.WarnContext(q.ctx(), "the lines of findings were not read", "job", q.r.PathValue("job"), "error", err)
		}
		return
	}
	var wanted []string
	for _, f := range files {
		if e, ok := site.Entry(f.File); ok && e.Size <= maxLineFile && len(wanted) < maxLineFiles {
			wanted = append(wanted, f.File)
		}
	}
	at := map[string][]*findingView{}
	for i := range files {
		for j := range files[i].Findings {
			at[files[i].File] = append(at[files[i].File], &files[i].Findings[j])
		}
	}
	err = site.Each(wanted, func(name string, data []byte) error {
		lines := bytes.Split(data, []byte("\n"))
		for _, f := range at[name] {
			if f.Line > 0 && f.Line <= len(lines) {
				f.Text = lineText(string(lines[f.Line-1]))
			}
		}
		return nil
	})
	if err != nil {
		q.d.opt.Log.WarnContext(q.ctx(), "the lines of findings were not read", "job", q.r.PathValue("job"), "error", err)
	}
}

// site opens the snapshot of the export of the address; nil where its list of files
// is longer than what a page reads.
func (q *request) site(ctx context.Context) (*snapshot.FS, error) {
	j, err := q.admin().GetExport(ctx, q.caller, q.r.PathValue("job"))
	if err != nil {
		return nil, err
	}
	p, err := q.admin().Snapshot(ctx, q.caller, j.Project, j.Snapshot)
	if err != nil || p.Manifest.Size > maxLineManifest {
		return nil, err
	}
	m, err := q.manifest(ctx, p)
	if err != nil {
		return nil, err
	}
	return snapshot.OpenFS(ctx, q.d.opt.Objects, p.PackKey, m, snapshot.FSOptions{CacheBytes: maxLineFile, GapBytes: 64 << 10}), nil
}

// lineText is a line as it is shown: without the space around it, and not too long.
func lineText(line string) string {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	if utf8.RuneCountInString(line) > maxLineText {
		line = string([]rune(line)[:maxLineText]) + "…"
	}
	return line
}
