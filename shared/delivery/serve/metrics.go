package serve

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are the server's figures. Those of requests are counted without a
// lock.
type metrics struct {
	start    time.Time
	statuses [600]atomic.Int64 // answers by status
	bytes    atomic.Int64      // of bodies
	inFlight atomic.Int64
	buckets  [len(latencies) + 1]atomic.Int64
	nanos    atomic.Int64

	fetched atomic.Int64 // bytes of bundles
	damage  atomic.Int64 // files that were found to differ
	healed  atomic.Int64 // versions that were unpacked again

	mu      sync.Mutex
	checks  map[string]int64 // of the source, by how they ended
	success time.Time
}

// latencies are the upper bounds of the histogram of durations.
var latencies = [...]time.Duration{
	100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, 2500 * time.Millisecond, 10 * time.Second,
}

func newMetrics(now time.Time) *metrics {
	return &metrics{start: now, checks: map[string]int64{}}
}

// request counts one answer.
func (m *metrics) request(status int, n int64, d time.Duration) {
	if status < len(m.statuses) {
		m.statuses[status].Add(1)
	}
	m.bytes.Add(n)
	i := 0
	for i < len(latencies) && d > latencies[i] {
		i++
	}
	m.buckets[i].Add(1)
	m.nanos.Add(int64(d))
}

// check counts one look at the source: "unchanged", "updated" or an error's
// code.
func (m *metrics) check(result string, ok bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks[result]++
	if ok {
		m.success = now
	}
}

// write writes all figures in Prometheus's text format (0.0.4).
func (m *metrics) write(w io.Writer, s Status, versions int) error {
	b := bufio.NewWriter(w)
	family := func(name, kind, help string) {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	gauge := func(name, help string, value float64) {
		family(name, "gauge", help)
		fmt.Fprintf(b, "%s %s\n", name, strconv.FormatFloat(value, 'g', -1, 64))
	}
	flag := func(v bool) float64 {
		if v {
			return 1
		}
		return 0
	}

	family("bindery_serve_requests_total", "counter", "Answers to readers, by status.")
	for status := range m.statuses {
		if n := m.statuses[status].Load(); n > 0 {
			fmt.Fprintf(b, "bindery_serve_requests_total{code=\"%d\"} %d\n", status, n)
		}
	}
	family("bindery_serve_response_bytes_total", "counter", "Bytes of the bodies of answers.")
	fmt.Fprintf(b, "bindery_serve_response_bytes_total %d\n", m.bytes.Load())
	family("bindery_serve_request_duration_seconds", "histogram", "Time from a request's headers to the end of its answer.")
	total := int64(0)
	for i, bound := range latencies {
		total += m.buckets[i].Load()
		fmt.Fprintf(b, "bindery_serve_request_duration_seconds_bucket{le=\"%g\"} %d\n", bound.Seconds(), total)
	}
	total += m.buckets[len(latencies)].Load()
	fmt.Fprintf(b, "bindery_serve_request_duration_seconds_bucket{le=\"+Inf\"} %d\n", total)
	fmt.Fprintf(b, "bindery_serve_request_duration_seconds_sum %g\n", time.Duration(m.nanos.Load()).Seconds())
	fmt.Fprintf(b, "bindery_serve_request_duration_seconds_count %d\n", total)
	gauge("bindery_serve_requests_in_flight", "Requests of readers under way.", float64(m.inFlight.Load()))

	gauge("bindery_serve_ready", "1 when a site is shown and the server is not ending.", flag(s.Ready))
	gauge("bindery_serve_degraded", "1 when the source has no usable bundle, or files on the volume differ.", flag(s.State == "degraded"))
	if s.Version != "" {
		family("bindery_serve_site_info", "gauge", "The version that is shown.")
		fmt.Fprintf(b, "bindery_serve_site_info{version=\"%s\",sha256=\"%s\",domain=\"%s\"} 1\n", label(s.Version), label(s.SHA256), label(s.Domain))
		gauge("bindery_serve_site_pages", "Pages of the version that is shown.", float64(s.Pages))
		gauge("bindery_serve_site_switched_timestamp_seconds", "When that version was switched to, in seconds since 1970.", float64(s.Since.Unix()))
		gauge("bindery_serve_damaged_files", "Files of that version that differ on the volume from what was exported; none is sent.", float64(s.Damaged))
		if s.Verified != nil {
			gauge("bindery_serve_verified_timestamp_seconds", "When all files of that version were last compared, in seconds since 1970.", float64(s.Verified.Unix()))
		}
	}
	family("bindery_serve_damage_total", "counter", "Files that were found to differ on the volume.")
	fmt.Fprintf(b, "bindery_serve_damage_total %d\n", m.damage.Load())
	family("bindery_serve_healed_total", "counter", "Versions that were unpacked again, since files on the volume differed.")
	fmt.Fprintf(b, "bindery_serve_healed_total %d\n", m.healed.Load())
	gauge("bindery_serve_versions", "Versions on the volume.", float64(versions))
	family("bindery_serve_fetched_bytes_total", "counter", "Bytes of bundles that came from the source.")
	fmt.Fprintf(b, "bindery_serve_fetched_bytes_total %d\n", m.fetched.Load())

	m.mu.Lock()
	family("bindery_serve_source_checks_total", "counter", "Looks at the source, by how they ended: updated, unchanged or an error's code.")
	for _, result := range slices.Sorted(maps.Keys(m.checks)) {
		fmt.Fprintf(b, "bindery_serve_source_checks_total{result=\"%s\"} %d\n", label(result), m.checks[result])
	}
	success := m.success
	m.mu.Unlock()
	if !success.IsZero() {
		gauge("bindery_serve_source_success_timestamp_seconds", "When the source last answered well, in seconds since 1970.", float64(success.Unix()))
	}

	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	gauge("go_memstats_heap_alloc_bytes", "Bytes of live and not yet collected objects.", float64(memory.HeapAlloc))
	gauge("go_memstats_sys_bytes", "Bytes that the program has from the system.", float64(memory.Sys))
	gauge("process_start_time_seconds", "When the program started, in seconds since 1970.", float64(m.start.Unix()))
	return b.Flush()
}

var labelEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// label escapes the value of a label.
func label(s string) string { return labelEscaper.Replace(strings.ToValidUTF8(s, "\uFFFD")) }
