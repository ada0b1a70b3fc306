package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// childMarker is the variable of the environment that makes a program a child.
const childMarker = "BINDERY_STEPS"

// IsChild reports whether this process was started by a Server. A program that
// gives a Server itself to start must ask before it does anything else, and
// call Child.
func IsChild(getenv func(string) string) bool { return getenv(childMarker) != "" }

// charge is the first line that a child reads.
type charge struct {
	// Dir is the data folder, Program what shows components.
	Dir     string `json:"dir"`
	Program string `json:"program"`
	// Renderer is the digest of the Server's renderer, which takes time to find.
	Renderer string `json:"renderer"`
	// Memory is how many bytes the child may hold.
	Memory uint64 `json:"memory"`
	// Temporary is that of Options.
	Temporary bool `json:"temporary,omitempty"`
	// Kept is that of Options.
	Kept string `json:"kept,omitempty"`
	// KeepInObjects is that of export.Options.
	KeepInObjects bool `json:"keepInObjects,omitempty"`
	// Alone has the child work on one page at a time, so that its end names it.
	Alone bool `json:"alone,omitempty"`
}

// call is each line after it: a step to do, or to stop doing.
type call struct {
	ID    int             `json:"id"`
	Task  string          `json:"task,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Stop  bool            `json:"stop,omitempty"`
}

// news is a line that a child writes: what it begins or has ended to work on, or
// with an ID the result of a call.
type news struct {
	Begun  string          `json:"begun,omitempty"`
	Ended  string          `json:"ended,omitempty"`
	ID     int             `json:"id,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
	// Code and Message are those of an error, Cause what the log has of it.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Cause   string `json:"cause,omitempty"`
}

// exitCannotWork is the exit code of a process that could not begin. One that a
// site ends has another: of the memory guard, of a crash, or of a signal.
const exitCannotWork = 10

// ownPart is the size of a bundle's parts where they are written into one file of a
// short life: so few bytes that buffers are small, and so many that the largest bundle
// has no more parts than a record can list.
const ownPart = 8 << 20

// ownWeight is the weight of a shard of a temporary service. In one process few large
// shards take as long as many small ones, but for their objects and records, and their
// terms, which all have to be merged.
const ownWeight = 16 << 20

// ownShards is how many shards an export of a temporary service has at most. Each has
// six objects, and more than this many runs of terms would be merged twice.
const ownShards = 64

// Child does the steps of one export for a Server, on the process's own streams,
// and returns an exit code. It ends with its input, at once: what it has not
// finished, the next process begins again.
func Child(in io.Reader, out, errs io.Writer) int {
	// A terminal and a service manager send these to all processes: the Server
	// says when this one's work is over.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	log := slog.New(slog.NewJSONHandler(errs, &slog.HandlerOptions{Level: slog.LevelInfo}))
	if err := serveCalls(in, out, log); err != nil {
		log.Error("the process of an export's steps can't work", "error", err)
		return exitCannotWork
	}
	return 0
}

func serveCalls(in io.Reader, out io.Writer, log *slog.Logger) error {
	lines := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	var c charge
	if err := lines.Decode(&c); err != nil {
		return err
	}
	dieFirst()
	if c.Temporary {
		CollectLate()
	}
	island.LimitMemory(c.Memory)
	ctx := context.Background()
	if c.Temporary { // it must not be removed, or made again, when the server is killed
		shared, err := tempdir.Join(c.Dir)
		if err != nil {
			return err
		}
		defer func() { _ = shared.Close() }()
	}
	l, err := local.Open(ctx, local.Options{Dir: c.Dir, Temporary: c.Temporary, Log: log})
	if err != nil {
		return err
	}
	var writing sync.Mutex
	encoder := json.NewEncoder(out)
	tell := func(n news) {
		writing.Lock()
		defer writing.Unlock()
		if encoder.Encode(n) != nil { // nobody listens any more
			os.Exit(1)
		}
	}
	options := export.Options{
		Admin:   admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: l.Runner(), Log: log}),
		Objects: l.Objects(), Fetcher: remote.New(remote.Options{Log: log}), Log: log, Renderer: c.Renderer, KeepInObjects: c.KeepInObjects,
		Begin: func(place string) func() {
			tell(news{Begun: place})
			return func() { tell(news{Ended: place}) }
		},
	}
	if options.Kept, err = openKept(c.Kept); err != nil {
		log.Error("nothing is kept from export to export", "error", err)
	}
	if c.Program != "" {
		options.Islands = island.New(island.Options{Program: c.Program, Log: log})
	}
	if c.Temporary {
		options.PartBytes, options.ShardWeight, options.MostShards, options.ByReference = ownPart, ownWeight, ownShards, true
	}
	if c.Alone {
		options.Concurrency = 1
	}
	tasks := export.New(options).Tasks()
	var mu sync.Mutex
	stops := map[int]context.CancelFunc{}
	for {
		var next call
		if err := lines.Decode(&next); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if next.Stop {
			mu.Lock()
			if stop := stops[next.ID]; stop != nil {
				stop()
			}
			mu.Unlock()
			continue
		}
		ctx, stop := context.WithCancel(ctx)
		mu.Lock()
		stops[next.ID] = stop
		mu.Unlock()
		go func() {
			output, err := tasks[next.Task](ctx, next.Input)
			mu.Lock()
			delete(stops, next.ID)
			mu.Unlock()
			stop()
			tell(resultOf(next.ID, output, err))
		}()
	}
}

// openKept opens what is kept from export to export; nil where nothing is.
func openKept(dir string) (*kept.Store, error) {
	if dir == "" {
		return nil, nil
	}
	return kept.Open(dir, 0)
}

// resultOf is what a Server hears of a step.
func resultOf(id int, output json.RawMessage, err error) news {
	n := news{ID: id, Output: output}
	if err != nil {
		n.Code, n.Cause = admin.CodeOf(err), err.Error()
		if c, ok := errors.AsType[store.Coded](err); ok {
			n.Message = c.SafeMessage()
		}
	}
	return n
}

// err returns a result's error as the step returned it.
func (n *news) err() error {
	if n.Code == "" {
		return nil
	}
	return admin.Errorf(n.Code, "%s", n.Message).Wrap(errors.New(n.Cause))
}

// dieFirst has a system that runs out of memory end this process rather than
// the one that serves all others, where the system can.
func dieFirst() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644)
}

// childEnv is the environment of a child: what programs need to find files and
// hosts. It has none of our keys.
func childEnv(environ []string) []string {
	out := []string{childMarker + "=1"}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch strings.ToUpper(name) {
		case "PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOCOVERDIR", "GOMAXPROCS":
			out = append(out, v)
		}
	}
	return out
}
