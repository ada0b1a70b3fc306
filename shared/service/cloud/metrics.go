package cloud

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"
)

// MetricsNamespace is where CloudWatch keeps what Metrics count.
const MetricsNamespace = "Bindery"

// Names of the metrics, which have the dimension Stage. There are only those
// that an alarm of the stack reads: each costs its owner by the month, and AWS
// counts calls, errors and durations of functions for nothing.
const (
	MetricExportFaults  = "ExportFaults"  // count: exports that failed by no fault of their site
	MetricAgentFaults   = "AgentFaults"   // count: rounds of agents that failed by a fault of ours
	MetricSweepAge      = "SweepAge"      // seconds since when something may wait for a sweep
	MetricSweepFailures = "SweepFailures" // count: organisations and objects that could not be swept
)

// Metrics writes a line of JSON for each invocation to its log: how long it took,
// the code that it ended with, and what was annotated. What the stack watches is
// marked in CloudWatch's embedded metric format, so counting costs no call and
// can't fail an invocation.
type Metrics struct {
	out             io.Writer
	stage, function string
	now             func() time.Time
}

// NewMetrics counts for one function of one stage. Out is where the log goes
// too; it gets whole lines, from many goroutines. Now is the clock; nil means
// time.Now.
func NewMetrics(out io.Writer, stage, function string, now func() time.Time) *Metrics {
	if now == nil {
		now = time.Now
	}
	return &Metrics{out: out, stage: stage, function: function, now: now}
}

// metric is a metric of an embedded directive.
type metric struct {
	Name string `json:"Name"`
	Unit string `json:"Unit"`
}

// directive says which members of a line are metrics.
type directive struct {
	Namespace  string     `json:"Namespace"`
	Dimensions [][]string `json:"Dimensions"`
	Metrics    []metric   `json:"Metrics"`
}

// noteMetrics are the annotations that are metrics too.
var noteMetrics = map[string]metric{
	"exportFaults":  {MetricExportFaults, "Count"},
	"agentFaults":   {MetricAgentFaults, "Count"},
	"sweepAge":      {MetricSweepAge, "Seconds"},
	"sweepFailures": {MetricSweepFailures, "Count"},
}

// done writes the line of an invocation that took so long and ended with a code;
// the empty one is success.
func (m *Metrics) done(ctx context.Context, took time.Duration, code string) {
	if m == nil {
		return
	}
	now := m.now()
	line := map[string]any{
		"time": now.UTC().Format(time.RFC3339Nano), "level": slog.LevelInfo.String(), "msg": "invocation",
		"Stage": m.stage, "Function": m.function, "durationMs": milliseconds(took),
	}
	if code != "" {
		line["code"] = code
	}
	var counted []metric
	if n := notesOf(ctx); n != nil {
		known := n.all()
		for _, name := range known.order {
			v := known.values[name]
			metric, ok := noteMetrics[name]
			if !ok || v.Kind() != slog.KindInt64 {
				line[name] = v.Any()
				continue
			}
			line[metric.Name] = v.Int64()
			counted = append(counted, metric)
		}
	}
	if len(counted) > 0 {
		line["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": []directive{{
			Namespace: MetricsNamespace, Dimensions: [][]string{{"Stage"}}, Metrics: counted,
		}}}
	}
	b, err := json.Marshal(line)
	if err != nil {
		return // an annotation that is not JSON is its author's fault, not the caller's
	}
	_, _ = m.out.Write(append(b, '\n'))
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
