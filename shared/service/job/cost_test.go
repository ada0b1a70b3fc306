package job_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// TestCostPage holds the worked examples of the cost page against the calculator.
func TestCostPage(t *testing.T) {
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	p := job.DefaultPrices()
	m := regexp.MustCompile(`The examples take \*\*(\d+) ms\*\* and \*\*(\d+) kB\*\*`).FindSubmatch(page)
	if m == nil {
		t.Fatal("the page does not say what its examples take")
	}
	each, size := time.Duration(number(t, m[1]))*time.Millisecond, int64(number(t, m[2]))*1000
	for name, r := range map[string]job.Run{
		"a thousand pages": example(1000, 8, each, size, 10),
		"200,000 pages":    example(200_000, 650, each, size, 60),
	} {
		bill := p.Bill(r)
		var rows strings.Builder
		for _, l := range bill.Lines {
			fmt.Fprintf(&rows, "| %s: %s | %s |\n", l.Name, l.About, dollars(l.Dollars))
		}
		fmt.Fprintf(&rows, "| **made** | **%s** |\n", dollars(bill.Made))
		fmt.Fprintf(&rows, "| kept for a month: %.2f GB | %s |\n", float64(r.Stored())/1e9, dollars(bill.Kept))
		fmt.Fprintf(&rows, "| downloaded once | %s |\n", dollars(bill.Download))
		if !strings.Contains(string(page), rows.String()) {
			t.Errorf("the cost page should have, for %s,\n%s", name, rows.String())
		}
	}
}

// TestCostOfAMillionPages holds what the cost page says of a million pages against
// the calculator, from what the page says was measured of each site: a thousand
// exports of a thousand pages, and of the made site, which is large, five.
func TestCostOfAMillionPages(t *testing.T) {
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	measured := regexp.MustCompile(`(?m)^\| (\w+): [^|]* \| [\d,]+ \| ([\d.]+) ms \| (\d+) kB \|$`).FindAllSubmatch(page, -1)
	if len(measured) != 4 {
		t.Fatalf("the page has %d sites that were measured", len(measured))
	}
	for _, m := range measured {
		each, size := time.Duration(number(t, m[2])*float64(time.Millisecond)), int64(number(t, m[3]))*1000
		run, exports := example(1000, 8, each, size, 10), 1000.0
		if string(m[1]) == "made" {
			run, exports = example(200_000, 650, each, size, 60), 5
		}
		bill := job.DefaultPrices().Bill(run)
		row := "| " + string(m[1])
		for _, l := range bill.Lines {
			row += " | " + dollars(exports*l.Dollars)
		}
		row += fmt.Sprintf(" | **%s** | %s | %s |", dollars(exports*bill.Made), dollars(exports*bill.Kept), dollars(exports*bill.Download))
		if !strings.Contains(string(page), row) {
			t.Errorf("the cost page should have the row\n%s", row)
		}
	}
}

func number(t *testing.T, text []byte) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAgentCostPage holds the worked example of an agent job against the calculator.
func TestAgentCostPage(t *testing.T) {
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	j := admin.AgentJob{Round: 1, Turns: 20, Messages: 1, Usage: admin.AgentUsage{Cost: 300_000}}
	bill := job.DefaultPrices().AgentBill(job.AgentRunOf(j, phases(0, "preparing", 5*time.Minute, ""), 10))
	var rows strings.Builder
	for _, l := range bill.Lines {
		fmt.Fprintf(&rows, "| %s: %s | %s |\n", l.Name, l.About, dollars(l.Dollars))
	}
	fmt.Fprintf(&rows, "| **made** | **%s** |\n", dollars(bill.Made))
	if !strings.Contains(string(page), rows.String()) {
		t.Errorf("the cost page should have, for an agent job,\n%s", rows.String())
	}
}

// phases returns events of a job: pairs of a time since the beginning and the phase
// that begins then, "" for an end.
func phases(pairs ...any) []admin.AgentEvent {
	var all []admin.AgentEvent
	for i := 0; i < len(pairs); i += 2 {
		after, _ := pairs[i].(time.Duration)
		e := admin.AgentEvent{At: beginning.Add(after), Kind: admin.AgentEventPhase, Text: pairs[i+1].(string)}
		if e.Text == "" {
			e.Kind, e.Text = admin.AgentEventEnd, "completed"
		}
		all = append(all, e)
	}
	return all
}

// The waits between rounds are not paid for; a round of two segments and one that a
// message makes go on are.
func TestAgentRunOf(t *testing.T) {
	m := time.Minute
	j := admin.AgentJob{Round: 3, Turns: 9, Messages: 4, Usage: admin.AgentUsage{Cost: 1_500_000}}
	r := job.AgentRunOf(j, phases(
		0, "queued", m, "preparing", 2*m, "working", 13*m, "publishing", 14*m, "",
		60*m, "queued", 61*m, "preparing", 62*m, "working", 63*m, "queued", 64*m, "preparing", 65*m, "",
		70*m, "queued", 71*m, "",
	), 5)
	want := job.AgentRun{Rounds: 3, Turns: 9, Model: 1.5, Steps: 16 * m, GBSeconds: 16 * 60 * 1769.0 / 1024, Segments: 1, Requests: 9}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
}

// example is the run of an export that nobody has timed: pages that take so
// much processor time each and as much again of waiting, in steps of 1,769 MB.
func example(pages, shards int, page time.Duration, pageBytes int64, polls int) job.Run {
	steps := 2 * page * time.Duration(pages)
	return job.Run{
		Pages: pages, Shards: shards, Steps: steps, GBSeconds: steps.Seconds() * 1769 / 1024,
		Bundle: pageBytes * int64(pages), Requests: polls + 2,
	}
}

// dollars has three digits that count.
func dollars(d float64) string {
	return fmt.Sprintf("%.*f", max(2, 2-int(math.Floor(math.Log10(d)))), d)
}

func TestRunOf(t *testing.T) {
	j := admin.ExportJob{
		Status: admin.ExportCompleted, Done: 40,
		Plan: admin.ExportPlan{Shards: 2, Pages: 40}, Bundle: &admin.Bundle{Size: 20 << 20},
	}
	r := job.RunOf(j, []admin.StepTime{
		{Step: "plan", Milliseconds: 500, MemoryMB: 1024},
		{Step: "render", Shard: 1, Milliseconds: 2000, MemoryMB: 2048},
		{Step: "render", Shard: 2, Milliseconds: 1000, MemoryMB: 2048},
	}, 12)
	want := job.Run{Pages: 40, Shards: 2, Steps: 3500 * time.Millisecond, GBSeconds: 6.5, Bundle: 20 << 20, Requests: 12}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	bill := job.Prices{GBSecond: 1}.Bill(r)
	if bill.Made != 6.5 {
		t.Errorf("6.5 GB-seconds at a dollar cost %v", bill.Made)
	}
	j.GoLive = &admin.GoLive{}
	if live := job.RunOf(j, nil, 0); !live.GoLive {
		t.Errorf("an export with goLive is %+v", live)
	}
	of := job.Prices{WriteUnit: 1, ReadUnit: 1000}
	more := of.Bill(job.Run{GoLive: true}).Made - of.Bill(job.Run{}).Made
	if a := job.LiveAsks(); more != float64(a.WriteUnits+1000*a.ReadUnits) {
		t.Errorf("going live costs %v", more)
	}
	// Three parts and their completion more than one write, and the same for
	// two shards of 10 MiB each, in two parts.
	few := job.Prices{ObjectWrite: 1}.Bill(job.Run{Shards: 2})
	many := job.Prices{ObjectWrite: 1}.Bill(r)
	if many.Made-few.Made != 4+2*3 {
		t.Errorf("parts are %v writes", many.Made-few.Made)
	}
}
