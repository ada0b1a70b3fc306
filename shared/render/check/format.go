package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Findings in the formats of other services. File names in a report are below the site;
// services look for them below the repository, hence a prefix: the site's folder
// there, "" for its root. Columns are written as they are; InRunes converts them to
// what those formats count.

// InRunes converts a column of a line from bytes to characters.
func InRunes(line string, column int) int {
	if column < 1 {
		return column
	}
	return utf8.RuneCountInString(line[:min(column-1, len(line))]) + 1
}

// WriteGitHub writes findings as the commands of a GitHub workflow, which shows them
// at their lines of a pull request.
func WriteGitHub(w io.Writer, prefix string, list []Finding) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range list {
		place := "file=" + value.Replace(path.Join(prefix, f.File))
		if f.Line > 0 {
			place += fmt.Sprintf(",line=%d", f.Line)
		}
		if f.Line > 0 && f.Column > 0 {
			place += fmt.Sprintf(",col=%d", f.Column)
		}
		level := f.Level
		if level == mdx.Info { // GitHub has no such level
			level = mdx.Notice
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", level, place, value.Replace(f.Code), data.Replace(f.Message)); err != nil {
			return err
		}
	}
	return nil
}

// WriteGitLab writes findings as a report of code quality, which GitLab shows in a
// merge request. Equal findings on different lines have the same fingerprint.
func WriteGitLab(w io.Writer, prefix string, list []Finding) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	severity := map[mdx.Severity]string{mdx.Error: "major", mdx.Warning: "minor", mdx.Notice: "info", mdx.Info: "info"}
	issues := make([]issue, len(list))
	for i, print := range fingerprints(list) {
		f := &list[i]
		issues[i] = issue{
			f.Message, f.Code, print, severity[f.Level], location{path.Join(prefix, f.File), lines{max(f.Line, 1)}},
		}
	}
	return writeJSON(w, issues)
}

// maxComments is how many findings a review shows at their lines. More are no help
// to a reader, and a forge looks up who wrote each line.
const maxComments = 50

// WriteGitea writes findings as a review of a pull request, as the API of Gitea and
// Forgejo takes it: these show no annotations. It writes nothing if there are none.
func WriteGitea(w io.Writer, prefix string, list []Finding) error {
	if len(list) == 0 {
		return nil
	}
	type comment struct {
		Path string `json:"path"`
		Line int    `json:"new_position"`
		Body string `json:"body"`
	}
	review := struct {
		Event    string    `json:"event"`
		Body     string    `json:"body"`
		Comments []comment `json:"comments"`
	}{Event: "COMMENT", Comments: []comment{}}
	c := Count(list)
	review.Body = fmt.Sprintf("Bindery found errors: %d, warnings: %d, notices: %d", c.Errors, c.Warnings, c.Notices)
	if c.Infos > 0 {
		review.Body += fmt.Sprintf(", for information: %d", c.Infos)
	}
	rest := 0
	for _, f := range list {
		text := fmt.Sprintf("**%s** %s (`%s`)", f.Level, markdown(f.Message), f.Code)
		switch {
		case len(review.Comments) == maxComments:
			rest++
		case f.Line > 0:
			review.Comments = append(review.Comments, comment{path.Join(prefix, f.File), f.Line, text})
		default:
			review.Body += "\n\n" + markdown(path.Join(prefix, f.File)) + ": " + text
		}
	}
	if rest > 0 {
		review.Body += fmt.Sprintf("\n\n%d more are in the log.", rest)
	}
	return writeJSON(w, review)
}

// markdown returns a text as one line of Markdown that says nothing else: no link,
// no name that somebody is told of.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if r == '@' || r == '#' { // a name, or another issue, even behind a backslash
			b.WriteString(string(r) + "\u200b")
			continue
		}
		if strings.ContainsRune("\\`*_[]()<>!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fingerprints returns a name for each finding that doesn't depend on its line.
func fingerprints(list []Finding) []string {
	seen := map[same]int{}
	names := make([]string, len(list))
	for i, f := range list {
		key := same{f.Code, f.File, f.Message}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", f.Code, f.File, f.Message, seen[key]))
		names[i] = hex.EncodeToString(sum[:16])
		seen[key]++
	}
	return names
}

// WriteSARIF writes findings in the Static Analysis Results Interchange Format,
// version 2.1.0. version is that of this program.
func WriteSARIF(w io.Writer, prefix, version string, list []Finding) error {
	type text struct {
		Text string `json:"text"`
	}
	type configuration struct {
		Level string `json:"level"`
	}
	type rule struct {
		ID       string        `json:"id"`
		Short    text          `json:"shortDescription"`
		Defaults configuration `json:"defaultConfiguration"`
	}
	type region struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	type physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *region `json:"region,omitempty"`
	}
	type location struct {
		Physical physical `json:"physicalLocation"`
	}
	type result struct {
		Rule      string            `json:"ruleId"`
		Index     int               `json:"ruleIndex"`
		Level     string            `json:"level"`
		Message   text              `json:"message"`
		Locations []location        `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
	}
	type driver struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Rules   []rule `json:"rules"`
	}
	type tool struct {
		Driver driver `json:"driver"`
	}
	type run struct {
		Tool    tool     `json:"tool"`
		Results []result `json:"results"`
		Columns string   `json:"columnKind"`
	}
	level := func(of mdx.Severity) string {
		if of == mdx.Notice || of == mdx.Info {
			return "note"
		}
		return string(of)
	}
	rules, index := []rule{}, map[string]int{}
	for _, c := range Codes() {
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Code == c.Name }) {
			index[c.Name] = len(rules)
			rules = append(rules, rule{c.Name, text{mdx.InlineText(c.About)}, configuration{level(c.Level)}})
		}
	}
	results := make([]result, len(list))
	for i, print := range fingerprints(list) {
		f := &list[i]
		at := location{}
		at.Physical.Artifact.URI = (&url.URL{Path: path.Join(prefix, f.File)}).EscapedPath()
		if f.Line > 0 {
			at.Physical.Region = &region{f.Line, f.Column}
		}
		results[i] = result{f.Code, index[f.Code], level(f.Level), text{f.Message}, []location{at}, map[string]string{"bindery/v1": print}}
	}
	return writeJSON(w, struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{{tool{driver{"Bindery", version, rules}}, results, "unicodeCodePoints"}}})
}

// WriteJUnit writes findings as a report of tests, which GitLab, Jenkins and others
// show: a suite for each file, a case for each finding. Errors and warnings are
// failures, all others are skipped. Where nothing is found, one case says so, since some
// services refuse a report without any.
func WriteJUnit(w io.Writer, prefix string, list []Finding) error {
	type outcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *outcome `xml:"failure"`
		Skipped *outcome `xml:"skipped"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		File     string     `xml:"file,attr,omitempty"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	type suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	const name = "bindery check"
	all := suites{Name: name}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Finding) int { return strings.Compare(a.File, b.File) })
	for _, f := range list {
		file := path.Join(prefix, f.File)
		if n := len(all.Suites); n == 0 || all.Suites[n-1].File != file {
			all.Suites = append(all.Suites, suite{Name: file, File: file})
		}
		s := &all.Suites[len(all.Suites)-1]
		one := testCase{Name: f.Code, Class: file, Time: "0"}
		place := file
		if f.Line > 0 {
			one.Name += fmt.Sprintf(" at %d:%d", f.Line, max(f.Column, 1))
			place += fmt.Sprintf(":%d:%d", f.Line, max(f.Column, 1))
		}
		what := &outcome{f.Message, string(f.Level), fmt.Sprintf("%s: %s: %s (%s)", place, f.Level, f.Message, f.Code)}
		if f.Level == mdx.Notice || f.Level == mdx.Info {
			one.Skipped = what
			s.Skipped++
		} else {
			one.Failure = what
			s.Failures++
			all.Failures++
		}
		s.Cases = append(s.Cases, one)
		s.Tests++
		all.Tests++
	}
	if len(list) == 0 {
		all.Tests = 1
		all.Suites = []suite{{Name: name, Tests: 1, Cases: []testCase{{Name: "no findings", Class: name, Time: "0"}}}}
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}

// baseline is a file of known findings.
type baseline struct {
	Version  int     `json:"version"`
	Findings []known `json:"findings"`
}

// known is the part of a finding that identifies it.
type known struct {
	Code    string `json:"code"`
	File    string `json:"file"`
	Message string `json:"message"`
}

// WriteBaseline writes findings as a file that ReadBaseline reads. They are sorted,
// so that two versions of the file can be compared.
func WriteBaseline(w io.Writer, list []Finding) error {
	b := baseline{Version: 1, Findings: make([]known, len(list))}
	for i, f := range list {
		b.Findings[i] = known{f.Code, f.File, f.Message}
	}
	slices.SortFunc(b.Findings, func(a, b known) int {
		return strings.Compare(a.File+"\x00"+a.Code+"\x00"+a.Message, b.File+"\x00"+b.Code+"\x00"+b.Message)
	})
	return writeJSON(w, b)
}

// ReadBaseline reads what WriteBaseline wrote, for New. It returns an error for
// anything else.
func ReadBaseline(r io.Reader) ([]Finding, error) {
	var b baseline
	if err := json.NewDecoder(r).Decode(&b); err != nil {
		return nil, fmt.Errorf("it is not a baseline: %w", err)
	}
	if b.Version != 1 {
		return nil, fmt.Errorf("it is a baseline of version %d, and 1 is read", b.Version)
	}
	list := make([]Finding, len(b.Findings))
	for i, k := range b.Findings {
		list[i] = Finding{Code: k.Code, File: k.File, Message: k.Message}
	}
	return list, nil
}

func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}
