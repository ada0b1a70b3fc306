package dashboard

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// usageMonths is how many months are shown, the current one first.
const usageMonths = 12

// usageKinds are what is counted, each with how its numbers are written.
var usageKinds = []struct {
	name, label string
	text        func(int64) string
}{
	{"pages", "Pages", func(n int64) string { return count(n, "page", "pages") }},
	{"exports", "Exports", func(n int64) string { return count(n, "export", "exports") }},
	{"bundleBytes", "Size of bundles", size},
	{"agentRounds", "Rounds of agents", func(n int64) string { return count(n, "round", "rounds") }},
	{"agentCost", "Cost of agents", admin.USDollars},
	{"calls", "Calls of the API", func(n int64) string { return count(n, "call", "calls") }},
}

// used returns what was used of a kind in a month, by all or by one project. Calls
// are the organisation's alone.
func used(m admin.MonthUsage, kind, project string) int64 {
	of := admin.ProjectUsage{Exports: m.Exports, Pages: m.Pages, BundleBytes: m.BundleBytes, AgentRounds: m.AgentRounds, AgentCost: m.AgentCost}
	if project != "" {
		of = m.Projects[project]
	}
	switch {
	case kind == "exports":
		return of.Exports
	case kind == "pages":
		return of.Pages
	case kind == "bundleBytes":
		return of.BundleBytes
	case kind == "agentRounds":
		return of.AgentRounds
	case kind == "agentCost":
		return of.AgentCost
	case project == "":
		return m.Calls.Total
	}
	return 0
}

type usageView struct {
	Account         admin.Account
	Webhooks        int // of MostWebhooks, for those who may see them
	MostWebhooks    int
	Kinds, Projects []choice
	Label           string
	Bars            []usageBar // oldest first
	Months          []admin.MonthUsage
	Newest          []projectUsage // of the current month
}

// usageBar is a month in the chart.
type usageBar struct {
	Month, Name, Text, Short string // Short is Text without its noun
	Y, Height                int    // of 100
}

type projectUsage struct {
	ID string
	admin.ProjectUsage
}

// projectsOf returns what the projects used in a month, by domain.
func projectsOf(m admin.MonthUsage) []projectUsage {
	var all []projectUsage
	for id, p := range m.Projects {
		all = append(all, projectUsage{id, p})
	}
	slices.SortFunc(all, func(a, b projectUsage) int { return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.ID, b.ID)) })
	return all
}

func usagePage(q *request) error {
	v := usageView{MostWebhooks: admin.MaxWebhooks}
	var err error
	if v.Account, err = q.admin().Account(q.ctx(), q.caller); err != nil {
		return err
	}
	if q.may(admin.ActionWebhooks) {
		webhooks, err := q.admin().Webhooks(q.ctx(), q.caller)
		if err != nil {
			return err
		}
		v.Webhooks = len(webhooks)
	}
	if v.Months, err = q.admin().RecentUsage(q.ctx(), q.caller, usageMonths); err != nil {
		return err
	}
	v.Newest = projectsOf(v.Months[0])
	kind, project := usageKinds[0], q.value("project")
	for _, k := range usageKinds {
		if k.name == q.value("kind") {
			kind = k
		}
	}
	for _, k := range usageKinds {
		v.Kinds = append(v.Kinds, choice{k.name, k.label, k.name == kind.name})
	}
	v.Projects = []choice{{"", "All", project == ""}}
	v.Label = kind.label
	known := map[string]bool{}
	for _, m := range v.Months {
		for _, p := range projectsOf(m) {
			if !known[p.ID] {
				known[p.ID] = true
				v.Projects = append(v.Projects, choice{p.ID, p.Domain, p.ID == project})
			}
		}
	}
	if project != "" && !known[project] {
		return notFound()
	}
	v.Bars = bars(v.Months, func(m admin.MonthUsage) int64 { return used(m, kind.name, project) }, kind.text)
	return q.page("usage", "Usage", v)
}

// bars are a chart of months: the greatest has the whole height, and what is more
// than nothing is to be seen.
func bars(months []admin.MonthUsage, of func(admin.MonthUsage) int64, text func(int64) string) []usageBar {
	var most int64
	for _, m := range months {
		most = max(most, of(m))
	}
	var all []usageBar
	for _, m := range slices.Backward(months) {
		n, bar := of(m), usageBar{Month: m.Month, Y: 100, Text: text(of(m))}
		if bar.Short = bar.Text; n == 0 {
			bar.Short = ""
		} else if whole := number(n); strings.HasPrefix(bar.Text, whole+" ") {
			bar.Short = whole
		}
		if t, err := time.Parse("2006-01", m.Month); err == nil {
			bar.Month, bar.Name = t.Format("January 2006"), t.Format("Jan")
		}
		if n > 0 {
			bar.Height = max(2, int(float64(n)/float64(most)*100))
			bar.Y = 100 - bar.Height
		}
		all = append(all, bar)
	}
	return all
}

// usageCSV is a line for each month, project and kind; the organisation's own sums
// have no project.
func usageCSV(q *request) error {
	months, err := q.admin().RecentUsage(q.ctx(), q.caller, usageMonths)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"month", "project", "domain", "deployment", "kind", "amount"}}
	for _, m := range months {
		for _, k := range usageKinds {
			rows = append(rows, []string{m.Month, "", "", "", k.name, strconv.FormatInt(used(m, k.name, ""), 10)})
		}
		for _, p := range projectsOf(m) {
			for _, k := range usageKinds {
				if k.name != "calls" {
					rows = append(rows, []string{m.Month, p.ID, p.Domain, string(p.Kind), k.name, strconv.FormatInt(used(m, k.name, p.ID), 10)})
				}
			}
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	q.file("usage.csv", "text/csv; charset=utf-8")
	_, _ = q.w.Write(b.Bytes()) // the reader has gone, and nobody else could be told
	return nil
}
