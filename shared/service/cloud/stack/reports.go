package stack

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
)

// Report is what Lambda logs of one call of a function.
type Report struct {
	// Duration is from the call to its answer; Init what a cold start took
	// before that, 0 for a warm one.
	Duration, Init time.Duration
	// MemoryMiB is what the function had, PeakMiB the most that it used.
	MemoryMiB, PeakMiB int
}

// A line is fields with tabs between them:
//
//	REPORT RequestId: …	Duration: 12.34 ms	Billed Duration: 13 ms	Memory Size: 256 MB	Max Memory Used: 41 MB	Init Duration: 80.12 ms
var reportField = regexp.MustCompile(`^(Duration|Memory Size|Max Memory Used|Init Duration): ([0-9.]+) (?:ms|MB)$`)

// ParseReport reads a line of a function's log and reports whether it is one of
// Lambda's about a call.
func ParseReport(line string) (Report, bool) {
	fields := strings.Split(strings.TrimSpace(line), "\t")
	if !strings.HasPrefix(fields[0], "REPORT RequestId: ") {
		return Report{}, false
	}
	var r Report
	for _, field := range fields[1:] {
		m := reportField.FindStringSubmatch(strings.TrimSpace(field))
		if m == nil {
			continue
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return Report{}, false
		}
		switch m[1] {
		case "Duration":
			r.Duration = time.Duration(n * float64(time.Millisecond))
		case "Init Duration":
			r.Init = time.Duration(n * float64(time.Millisecond))
		case "Memory Size":
			r.MemoryMiB = int(n)
		case "Max Memory Used":
			r.PeakMiB = int(n)
		}
	}
	return r, r.MemoryMiB > 0
}

// maxReports is how many calls of each function are read.
const maxReports = 20_000

// MemoryUse is what the calls of a function took, and the memory that they ask for.
type MemoryUse struct {
	// Function is the name of its folder, as rendershard.
	Function string `json:"function"`
	Calls    int    `json:"calls"` // that were read
	// Median and P95 are of the calls' durations and Init of those of cold
	// starts, P95, in milliseconds.
	Median float64 `json:"medianMilliseconds"`
	P95    float64 `json:"p95Milliseconds"`
	Init   float64 `json:"initMilliseconds,omitempty"`
	// PeakMiB is the most that a call used, MemoryMiB what the function has.
	PeakMiB   int `json:"peakMiB"`
	MemoryMiB int `json:"memoryMiB"`
	// AdvisedMiB is computed from these: see Advise.
	AdvisedMiB int `json:"advisedMiB"`
}

// Lambda gives a function processor time by its memory: 1,769 MB are one
// processor, as AWS documents, and half of that is half of one.
const (
	processorMiB = 1769
	leastMiB     = 128
	// used is how much of a function's memory its peak may take: Go's runtime
	// begins to collect garbage all the time at 85 %, and sites grow.
	used = 0.6
)

// How long 95 of 100 calls may take: somebody waits for an answer of the API;
// a step may take a small part of the fifteen minutes that it has.
const (
	answerTarget = 500 * time.Millisecond
	stepTarget   = time.Minute
)

// Advise computes what memory a function should have, in MiB: so much that its
// peak is at most three fifths of it, and so much of a processor that 95 of 100
// calls end in time. All of a call's time is taken for work of the processor,
// which becomes longer with less memory; a call that waits does not, so this is
// on the safe side. More than one processor is never advised: a step works on
// one. answers reports whether the function answers the API.
func Advise(function string, answers bool, reports []Report) MemoryUse {
	u := MemoryUse{Function: function, Calls: len(reports)}
	var whole, took, inits []float64 // whole: with one processor
	for _, r := range reports {
		u.PeakMiB, u.MemoryMiB = max(u.PeakMiB, r.PeakMiB), r.MemoryMiB // the last is today's
		took = append(took, milliseconds(r.Duration))
		whole = append(whole, milliseconds(r.Duration)*min(1, float64(r.MemoryMiB)/processorMiB))
		if r.Init > 0 {
			inits = append(inits, milliseconds(r.Init))
		}
	}
	u.Median, u.P95, u.Init = quantile(took, 0.5), quantile(took, 0.95), quantile(inits, 0.95)
	target := stepTarget
	if answers {
		target = answerTarget
	}
	share := min(1, quantile(whole, 0.95)/milliseconds(target)) * processorMiB
	advised := max(leastMiB, share, float64(u.PeakMiB)/used)
	if u.AdvisedMiB = int(math.Ceil(advised/64)) * 64; advised <= processorMiB {
		u.AdvisedMiB = min(u.AdvisedMiB, processorMiB)
	}
	return u
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile is the value that so much of all is not above; 0 of nothing.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(math.Ceil(q*float64(len(values))))-1]
}

// OutputRequestLogs names the log groups of the functions that answer requests,
// with a space between them.
const OutputRequestLogs = "RequestLogGroups"

// logGroup is the name that a template gives the log group of a function.
var logGroup = regexp.MustCompile(`^([a-z]+)logs[0-9A-F]{8}$`)

// Memory reads what Lambda logged of the calls of a stack's functions between
// two times, at most 20,000 of each, and returns what they took, by function. One
// that was not called is not in it. It returns the errors of CloudFormation and
// CloudWatch Logs.
func Memory(ctx context.Context, cfg aws.Config, s Stack, from, to time.Time) ([]MemoryUse, error) {
	groups := map[string]string{}
	p := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(cfg), &cloudformation.ListStackResourcesInput{StackName: &s.Name})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("stack %s: %w", s.Name, err)
		}
		for _, r := range page.StackResourceSummaries {
			m := logGroup.FindStringSubmatch(aws.ToString(r.LogicalResourceId))
			if m != nil && aws.ToString(r.ResourceType) == "AWS::Logs::LogGroup" {
				groups[m[1]] = aws.ToString(r.PhysicalResourceId)
			}
		}
	}
	logs := cloudwatchlogs.NewFromConfig(cfg)
	answering := strings.Fields(s.Outputs[OutputRequestLogs])
	var all []MemoryUse
	for function, group := range groups {
		reports, err := readReports(ctx, logs, group, from, to)
		if err != nil {
			return nil, err
		}
		if len(reports) > 0 {
			all = append(all, Advise(function, slices.Contains(answering, group), reports))
		}
	}
	slices.SortFunc(all, func(a, b MemoryUse) int { return strings.Compare(a.Function, b.Function) })
	return all, nil
}

func readReports(ctx context.Context, logs *cloudwatchlogs.Client, group string, from, to time.Time) (reports []Report, err error) {
	p := cloudwatchlogs.NewFilterLogEventsPaginator(logs, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: aws.String(`"REPORT RequestId:"`),
		StartTime: aws.Int64(from.UnixMilli()), EndTime: aws.Int64(to.UnixMilli()),
	})
	for p.HasMorePages() && len(reports) < maxReports {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("log group %s: %w", group, err)
		}
		for _, e := range page.Events {
			if r, ok := ParseReport(aws.ToString(e.Message)); ok {
				reports = append(reports, r)
			}
		}
	}
	return reports, nil
}
