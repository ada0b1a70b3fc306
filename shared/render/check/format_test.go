package check_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func someFindings() []check.Finding {
	return []check.Finding{
		{Level: mdx.Error, Code: "mdx-syntax", File: "a, b.mdx", Line: 3, Column: 7, Message: "100% wrong:\nreally"},
		{Level: mdx.Warning, Code: "link-missing", File: "ä.mdx", Line: 1, Column: 1, Message: "gone"},
		{Level: mdx.Warning, Code: "link-missing", File: "ä.mdx", Line: 9, Column: 1, Message: "gone"},
		{Level: mdx.Notice, Code: "class-unknown", File: "docs.json", Message: "odd"},
		{Level: mdx.Info, Code: "page-unlisted", File: "ä.mdx", Line: 1, Message: "alone"},
	}
}

// Nothing in a finding ends its command or begins another.
func TestWriteGitHub(t *testing.T) {
	var b strings.Builder
	if err := check.WriteGitHub(&b, "docs", someFindings()); err != nil {
		t.Fatal(err)
	}
	want := "::error file=docs/a%2C b.mdx,line=3,col=7,title=mdx-syntax::100%25 wrong:%0Areally\n" +
		"::warning file=docs/ä.mdx,line=1,col=1,title=link-missing::gone\n" +
		"::warning file=docs/ä.mdx,line=9,col=1,title=link-missing::gone\n" +
		"::notice file=docs/docs.json,title=class-unknown::odd\n" +
		"::notice file=docs/ä.mdx,line=1,title=page-unlisted::alone\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("the commands differ (-want +got):\n%s", diff)
	}
}

// GitLab requires a fingerprint of each issue that no other has.
func TestWriteGitLab(t *testing.T) {
	var b bytes.Buffer
	if err := check.WriteGitLab(&b, "", someFindings()); err != nil {
		t.Fatal(err)
	}
	var issues []struct {
		Description, Fingerprint, Severity string
		CheckName                          string `json:"check_name"`
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	prints := map[string]bool{}
	for _, i := range issues {
		prints[i.Fingerprint] = true
		if i.Location.Lines.Begin < 1 || i.CheckName == "" || i.Description == "" {
			t.Errorf("an issue is not whole: %+v", i)
		}
	}
	if len(prints) != 5 || issues[0].Severity != "major" || issues[3].Severity != "info" || issues[4].Severity != "info" {
		t.Errorf("the issues are %+v", issues)
	}
	b.Reset()
	if err := check.WriteGitLab(&b, "", nil); err != nil || b.String() != "[]\n" {
		t.Errorf("no finding is %q, %v", b.String(), err)
	}
}

// A review shows what has a line there, and says nothing of its own: no link, no name.
func TestWriteGitea(t *testing.T) {
	type comment struct {
		Path string `json:"path"`
		Line int    `json:"new_position"`
		Body string
	}
	review := func(list []check.Finding) (r struct {
		Event, Body string
		Comments    []comment
	}) {
		t.Helper()
		var b bytes.Buffer
		if err := check.WriteGitea(&b, "docs", list); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	list := append(someFindings(), check.Finding{Level: mdx.Warning, Code: "link-missing", File: "c.mdx", Line: 2, Message: "no page /a_b_c; [x](//evil.example) @ann closes #1 `d`"})
	got := review(list)
	want := []comment{
		{"docs/a, b.mdx", 3, "**error** 100% wrong: really (`mdx-syntax`)"},
		{"docs/ä.mdx", 1, "**warning** gone (`link-missing`)"},
		{"docs/ä.mdx", 9, "**warning** gone (`link-missing`)"},
		{"docs/ä.mdx", 1, "**info** alone (`page-unlisted`)"},
		{"docs/c.mdx", 2, "**warning** no page /a\\_b\\_c; \\[x\\]\\(//evil.example\\) @\u200bann closes #\u200b1 \\`d\\` (`link-missing`)"},
	}
	if diff := cmp.Diff(want, got.Comments); diff != "" || got.Event != "COMMENT" {
		t.Errorf("event %s, comments (-want +got):\n%s", got.Event, diff)
	}
	if want := "Bindery found errors: 1, warnings: 3, notices: 1, for information: 1\n\ndocs/docs.json: **notice** odd (`class-unknown`)"; got.Body != want {
		t.Errorf("the body is %q", got.Body)
	}
	many := slices.Repeat(list[:1], 53)
	if got := review(many); len(got.Comments) != 50 || !strings.HasSuffix(got.Body, "\n\n3 more are in the log.") {
		t.Errorf("of 53 findings %d are comments, and the body is %q", len(got.Comments), got.Body)
	}
	var none strings.Builder
	if err := check.WriteGitea(&none, "docs", nil); err != nil || none.Len() > 0 {
		t.Errorf("no finding is %q, %v", none.String(), err)
	}
}

// The parts of SARIF 2.1.0 that services read are there, and refer to each other.
func TestWriteSARIF(t *testing.T) {
	for _, list := range [][]check.Finding{nil, someFindings()} {
		var b bytes.Buffer
		if err := check.WriteSARIF(&b, "docs", "1.2.3", list); err != nil {
			t.Fatal(err)
		}
		var log struct {
			Schema  string `json:"$schema"`
			Version string
			Runs    []struct {
				Tool struct {
					Driver struct {
						Name  string
						Rules []struct{ ID string }
					}
				}
				Results []struct {
					RuleID    string
					RuleIndex int
					Level     string
					Message   struct{ Text string }
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           *struct{ StartLine, StartColumn int }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Results == nil || len(log.Runs[0].Results) != len(list) || log.Runs[0].Tool.Driver.Name == "" {
			t.Fatalf("the log is %s", b.Bytes())
		}
		for i, r := range log.Runs[0].Results {
			rules := log.Runs[0].Tool.Driver.Rules
			if r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID || r.RuleID != list[i].Code {
				t.Errorf("a result refers to another rule: %+v", r)
			}
			if level := map[mdx.Severity]string{mdx.Error: "error", mdx.Warning: "warning", mdx.Notice: "note", mdx.Info: "note"}[list[i].Level]; r.Level != level {
				t.Errorf("the level is %s, want %s", r.Level, level)
			}
			at := r.Locations[0].PhysicalLocation
			if (at.Region == nil) != (list[i].Line == 0) || strings.ContainsAny(at.ArtifactLocation.URI, " ä") || !strings.HasPrefix(at.ArtifactLocation.URI, "docs/") {
				t.Errorf("the place is %+v", at)
			}
		}
	}
}

// What is in a baseline is not new; any other file is refused as a baseline.
func TestBaseline(t *testing.T) {
	var b bytes.Buffer
	if err := check.WriteBaseline(&b, someFindings()[1:]); err != nil {
		t.Fatal(err)
	}
	known, err := check.ReadBaseline(&b)
	if err != nil {
		t.Fatal(err)
	}
	if fresh := check.New(known, someFindings()); len(fresh) != 1 || fresh[0].Code != "mdx-syntax" {
		t.Errorf("new are %v", fresh)
	}
	for _, text := range []string{"", "[]", `{"version": 2}`, "{}"} {
		if _, err := check.ReadBaseline(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a baseline", text)
		}
	}
}

func TestInRunes(t *testing.T) {
	for _, c := range []struct {
		line         string
		column, want int
	}{{"äx", 3, 2}, {"ab", 2, 2}, {"ab", 9, 3}, {"", 0, 0}} {
		if got := check.InRunes(c.line, c.column); got != c.want {
			t.Errorf("column %d of %q is %d, want %d", c.column, c.line, got, c.want)
		}
	}
}

// A report of tests has the elements and attributes that the schema of Jenkins
// (junit-10.xsd) requires, no others, and counts that are right.
func TestWriteJUnit(t *testing.T) {
	allowed := map[string][]string{
		"testsuites": {"name", "tests", "failures", "errors"},
		"testsuite":  {"name", "tests", "failures", "errors", "skipped", "file"},
		"testcase":   {"name", "classname", "time"},
		"failure":    {"message", "type"},
		"skipped":    {"message", "type"},
	}
	within := map[string]string{"testsuites": "", "testsuite": "testsuites", "testcase": "testsuite", "failure": "testcase", "skipped": "testcase"}
	for _, list := range [][]check.Finding{nil, append(someFindings(), check.Finding{Level: mdx.Error, Code: "x", File: "<&>.mdx", Message: "\x00 ]]> \"'"})} {
		var b bytes.Buffer
		if err := check.WriteJUnit(&b, "docs", list); err != nil {
			t.Fatal(err)
		}
		var open []string
		counts, names := map[string]int{}, map[string]bool{}
		d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err, b.String())
			}
			switch token := token.(type) {
			case xml.StartElement:
				name := token.Name.Local
				around := append([]string{""}, open...)
				if want, ok := within[name]; !ok || around[len(around)-1] != want {
					t.Errorf("%s stands in %v", name, open)
				}
				identity := name
				for _, a := range token.Attr {
					if !slices.Contains(allowed[name], a.Name.Local) || a.Value == "" {
						t.Errorf("%s has %s=%q", name, a.Name.Local, a.Value)
					}
					identity += " " + a.Value
				}
				if names[identity] && name == "testcase" {
					t.Errorf("%s is there twice", identity)
				}
				names[identity] = true
				counts[name]++
				open = append(open, name)
			case xml.EndElement:
				open = open[:len(open)-1]
			}
		}
		want := map[string]int{"testsuites": 1, "testsuite": 1, "testcase": 1}
		if list != nil {
			want = map[string]int{"testsuites": 1, "testsuite": 4, "testcase": 6, "failure": 4, "skipped": 2}
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("the elements differ (-want +got):\n%s\n%s", diff, b.String())
		}
		if list != nil && !strings.Contains(b.String(), `<testsuites name="bindery check" tests="6" failures="4" errors="0">`) {
			t.Errorf("the counts are wrong:\n%s", b.String())
		}
	}
}
