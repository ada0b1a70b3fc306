package cloud

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"time"
)

// metricsNamespace is where CloudWatch keeps what Metrics count.
const metricsNamespace = "Bindery"

// Names of the metrics. All but Errors have the dimensions Stage and Function;
// Errors have Code too, besides being counted without it.
const (
	metricInvocations = "Invocations" // count
	metricErrors      = "Errors"      // count: refusals and failures, by code
	metricDuration    = "Duration"    // milliseconds in the handler
	metricPages       = "Pages"       // count: pages rendered
	metricBytes       = "Bytes"       // bytes written: units of a shard, or a bundle
)

// Metrics counts in CloudWatch's embedded metric format: each invocation
// writes one line of JSON to its log, from which CloudWatch takes the numbers.
// So counting costs no call and can't fail an invocation.
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
	"pages": {metricPages, "Count"},
	"bytes": {metricBytes, "Bytes"},
}

// done counts an invocation that took so long and ended with a code; the empty
// one is success. What is known of the invocation goes into the line too.
func (m *Metrics) done(ctx context.Context, took time.Duration, code string) {
	if m == nil {
		return
	}
	now := m.now()
	line := map[string]any{
		"time": now.UTC().Format(time.RFC3339Nano), "level": slog.LevelInfo.String(), "msg": "invocation",
		"Stage": m.stage, "Function": m.function,
		metricInvocations: 1, metricDuration: milliseconds(took),
	}
	measured := directive{
		Namespace: metricsNamespace, Dimensions: [][]string{{"Stage", "Function"}},
		Metrics: []metric{{metricInvocations, "Count"}, {metricDuration, "Milliseconds"}},
	}
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
			measured.Metrics = append(measured.Metrics, metric)
		}
	}
	directives := []directive{measured}
	if code != "" {
		line["Code"], line[metricErrors] = code, 1
		directives = append(directives, directive{
			Namespace: metricsNamespace, Dimensions: [][]string{{"Stage", "Function"}, {"Stage", "Function", "Code"}},
			Metrics: []metric{{metricErrors, "Count"}},
		})
	}
	line["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": slices.Clip(directives)}
	b, err := json.Marshal(line)
	if err != nil {
		return // an annotation that is not JSON is its author's fault, not the caller's
	}
	_, _ = m.out.Write(append(b, '\n'))
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
