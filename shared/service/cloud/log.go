package cloud

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// NewLog makes a log of JSON lines as CloudWatch Logs reads them. Lines that
// are written with the context of an invocation carry what is known of it:
// the ids of the invocation and its trace, and all that Annotate added. Out
// gets whole lines, from many goroutines: a file takes them, other writers may
// need a lock.
func NewLog(out io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(annotating{slog.NewJSONHandler(out, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			// Nanoseconds mean nothing to someone who searches logs.
			if a.Value.Kind() == slog.KindDuration {
				return slog.Float64(a.Key+"Ms", milliseconds(a.Value.Duration()))
			}
			return a
		},
	})})
}

// annotating adds to each line what its context knows.
type annotating struct{ slog.Handler }

func (h annotating) Handle(ctx context.Context, r slog.Record) error {
	if n := notesOf(ctx); n != nil {
		known := n.all()
		// What the line says itself goes before: a name must not appear twice.
		r.Attrs(func(a slog.Attr) bool {
			delete(known.values, a.Key)
			return true
		})
		r = r.Clone()
		for _, name := range known.order {
			if v, ok := known.values[name]; ok {
				r.AddAttrs(slog.Attr{Key: name, Value: v})
			}
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h annotating) WithAttrs(attrs []slog.Attr) slog.Handler {
	return annotating{h.Handler.WithAttrs(attrs)}
}

func (h annotating) WithGroup(name string) slog.Handler {
	return annotating{h.Handler.WithGroup(name)}
}

// notes are what is known of an invocation.
type notes struct {
	mu     sync.Mutex
	order  []string
	values map[string]slog.Value
}

// known is a copy of notes.
type known struct {
	order  []string
	values map[string]slog.Value
}

type notesKey struct{}

func notesOf(ctx context.Context) *notes {
	n, _ := ctx.Value(notesKey{}).(*notes)
	return n
}

func (n *notes) add(attrs ...slog.Attr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range attrs {
		if a.Key == "" || a.Value.Kind() == slog.KindString && a.Value.String() == "" {
			continue
		}
		if _, ok := n.values[a.Key]; !ok {
			n.order = append(n.order, a.Key)
		}
		n.values[a.Key] = a.Value
	}
}

func (n *notes) all() known {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := known{order: n.order[:len(n.order):len(n.order)], values: make(map[string]slog.Value, len(n.values))}
	maps.Copy(k.values, n.values)
	return k
}

// Annotate says something of the invocation that ctx belongs to, such as its
// job, its organisation, or how many pages it rendered. All later lines of its
// log say so too, and numbers that Metrics knows are counted. A name that was
// there gets the new value; empty strings and contexts that belong to no
// invocation are left alone.
func Annotate(ctx context.Context, attrs ...slog.Attr) {
	if n := notesOf(ctx); n != nil {
		n.add(attrs...)
	}
}

// Names of what every invocation's lines carry.
const (
	noteInvocation = "invocation" // Lambda's id of the invocation
	noteTrace      = "trace"      // X-Ray's id of the trace
	noteGateway    = "gateway"    // API Gateway's id of the request
	noteJob        = "job"
)

// invocation makes the context of one invocation.
func invocation(ctx context.Context) context.Context {
	n := &notes{values: make(map[string]slog.Value)}
	if c, ok := lambdacontext.FromContext(ctx); ok {
		n.add(slog.String(noteInvocation, c.AwsRequestID))
	}
	if trace, ok := ctx.Value("x-amzn-trace-id").(string); ok { // the Lambda runtime's key
		n.add(slog.String(noteTrace, traceRoot(trace)))
	}
	return context.WithValue(ctx, notesKey{}, n)
}

// traceRoot is the id of the trace in a header "Root=…;Parent=…;Sampled=…",
// which is what X-Ray finds it by.
func traceRoot(header string) string {
	for part := range strings.SplitSeq(header, ";") {
		if root, ok := strings.CutPrefix(strings.TrimSpace(part), "Root="); ok {
			return root
		}
	}
	return ""
}
