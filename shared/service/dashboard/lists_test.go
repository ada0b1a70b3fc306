package dashboard_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/tests/outside"
)

var nextPage = regexp.MustCompile(`href="([^"]+)">Next page`)

// Every list has pages, which together have each entry once.
func TestListsHavePages(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	base := "/org/" + x.ID
	const n = 45
	for i := range n {
		w.Advance(time.Second)
		name := fmt.Sprintf("entry%02d", i)
		if _, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: name}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: name + ".example.com", Repository: "https://git.example.com/docs"}); err != nil {
			t.Fatal(err)
		}
		c, err := w.PersonCaller(w.ctx, b.person.ID, x.ID)
		if err != nil {
			t.Fatal(err)
		}
		if j, err := w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "x", Ref: name}); err != nil {
			t.Fatal(err)
		} else if err := w.FailAgent(w.ctx, j.Current(), admin.CodeInternal, "x"); err != nil {
			t.Fatal(err)
		}
	}
	entry := regexp.MustCompile(`entry\d\d`)
	for path, entries := range map[string]*regexp.Regexp{
		"/keys": entry, "/projects": entry, "/agents?project=" + x.project.ID: entry, "/agents?status=failed&project=" + x.project.ID: entry,
		"/audit?action=key": entry,
	} {
		seen := map[string]bool{}
		pages := 0
		for at := base + path; at != "" && pages < 10; pages++ {
			page := b.get(at).says(t, at, 200)
			here := map[string]bool{}
			table := page.body
			if i := strings.LastIndex(table, "<table"); i > 0 {
				table = table[i:]
			}
			for _, e := range entries.FindAllString(table, -1) {
				here[e] = true
			}
			for e := range here {
				if seen[e] {
					t.Errorf("%s has %s twice", path, e)
				}
				seen[e] = true
			}
			at = ""
			if m := nextPage.FindStringSubmatch(page.body); m != nil {
				at = html.UnescapeString(m[1])
			}
		}
		want := 3
		if strings.HasPrefix(path, "/audit") {
			want = 1 // of fifty
		}
		if len(seen) != n || pages != want {
			t.Errorf("%s: %d entries on %d pages, want %d on %d", path, len(seen), pages, n, want)
		}
	}
	for _, path := range []string{"/keys?cursor=a%20b", "/projects?cursor=x", "/exports?cursor=x", "/members?cursor=a%20b", "/audit?cursor=A", "/agents?cursor=x"} {
		b.get(base+path).says(t, path, 400)
	}
}

func TestFiles(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	base := "/org/" + x.ID
	for path, kind := range map[string]string{"/usage.csv": "text/csv", "/audit.csv": "text/csv", "/audit.jsonl": "application/jsonl"} {
		a := b.get(base+path).says(t, path, 200)
		if !strings.HasPrefix(a.header.Get("Content-Type"), kind) || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment;") {
			t.Errorf("%s: %v", path, a.header)
		}
		if kind == "text/csv" {
			if rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll(); err != nil || len(rows) < 4 {
				t.Errorf("%s: %v, %v", path, rows, err)
			}
			continue
		}
		var e admin.AuditEntry
		if err := json.NewDecoder(strings.NewReader(a.body)).Decode(&e); err != nil || e.ID == "" || e.Action == "" {
			t.Errorf("%s: %+v, %v", path, e, err)
		}
	}
	a := b.get(base+"/audit.csv?action=project").says(t, "filtered", 200)
	if rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll(); err != nil || len(rows) != 2 {
		t.Errorf("filtered: %v, %v", rows, err)
	}
	b.get(base+"/audit.csv?since=soon").says(t, "a wrong day", 400, "Must be a date")
}

var (
	tableRow   = regexp.MustCompile(`(?s)<tr role="row">.*?</tr>`)
	columnHead = regexp.MustCompile(`<th role="columnheader" scope="col"[^>]*>(.*?)</th>`)
	rowCell    = regexp.MustCompile(`<(?:td role="cell"(?: data-label="([^"]*)")?|th role="rowheader")`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
)

// On a phone the cells of a list stand below each other, each with its column's
// name; roles keep them cells of a table whatever they look like.
func TestCellsNameTheirColumns(t *testing.T) {
	outside.Long(t, "reads every table of the dashboard")
	w := newWorld(t)
	_, b, fill := full(w)
	tables := 0
	for _, r := range dashboard.Routes(t) {
		if r.Method != http.MethodGet || r.Action == "" || strings.Contains(r.Path, "audit.") {
			continue
		}
		page := b.get(fill.Replace(r.Path)).body
		for _, table := range strings.Split(page, "<table ")[1:] {
			tables++
			table, _, _ = strings.Cut(table, "</table>")
			heads := columnHead.FindAllStringSubmatch(table, -1)
			for _, row := range tableRow.FindAllString(table, -1)[1:] {
				cells := rowCell.FindAllStringSubmatch(row, -1)
				if len(cells) != len(heads) {
					t.Fatalf("%s: %d cells below %d heads: %s", r.Path, len(cells), len(heads), row)
				}
				for i, cell := range cells {
					want := html.UnescapeString(strings.TrimSuffix(anyTag.ReplaceAllString(heads[i][1], ""), " (this project)"))
					if want == "Action" { // its buttons say what they do
						want = ""
					}
					if got := html.UnescapeString(cell[1]); i > 0 && got != want {
						t.Errorf("%s: a cell below %q is named %q", r.Path, want, got)
					}
				}
			}
		}
	}
	if tables < 10 {
		t.Errorf("only %d tables", tables)
	}
}

// The list of projects shows what became of each one's newest export.
func TestProjectsShowTheirNewestExport(t *testing.T) {
	outside.Long(t, "lists hundreds of projects")
	w := newWorld(t)
	x, b, _ := full(w)
	newest := w.export(x, "the-newest")
	page := b.get("/org/"+x.ID+"/projects").says(t, "projects", 200, "Newest export", "none yet").body
	for next := nextPage.FindStringSubmatch(page); next != nil; next = nextPage.FindStringSubmatch(page) {
		if strings.Contains(page, newest.ID) {
			break
		}
		page = b.get(html.UnescapeString(next[1])).body
	}
	if _, row, ok := strings.Cut(page, "/exports/"+newest.ID); !ok || !strings.Contains(row[:min(400, len(row))], string(admin.ExportCompleted)) {
		t.Errorf("the newest export %s, and that it is completed, is not shown", newest.ID)
	}
}
