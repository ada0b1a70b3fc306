package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// MaxWait is the longest wait of a call for new events: API Gateway ends calls after 29
// seconds, and the function must answer before that.
const MaxWait = 20 * time.Second

// eventTime is the usual EventPause.
const eventTime = time.Second

// streamTime is the longest time of a stream. Then its caller must authenticate again,
// which a revoked key can't.
const streamTime = 10 * time.Minute

// aliveTime is how often a stream without events shows that it is open. Proxies close
// connections that are idle for a minute.
const aliveTime = 15 * time.Second

func (s *server) listAgentEvents(ctx context.Context, c call) (answer, error) {
	q, err := c.asked("cursor", "limit", "wait")
	if err != nil {
		return answer{}, err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return answer{}, err
	}
	wait, err := waitTime(q)
	if err != nil {
		return answer{}, err
	}
	cursor := q["cursor"]
	if s.Closing != nil && c.streams {
		cursor = cmp.Or(c.lastEvent, cursor) // a client that connects again repeats its address
		// Refuse what can't be read before the stream begins.
		if _, _, err := s.Admin.AgentEvents(ctx, c.caller, c.params["projectId"], c.params["id"], cursor, 1); err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, stream: func(ctx context.Context, w http.ResponseWriter) error {
			return s.streamAgentEvents(ctx, w, c, cursor)
		}}, nil
	}
	events, next, err := s.agentEvents(ctx, c, cursor, limit, wait)
	return answer{status: http.StatusOK, body: AgentEvents{Events: mapped(events, agentEvent), NextCursor: next}}, err
}

// waitTime reads the parameter wait, 0 if there is none.
func waitTime(q map[string]string) (time.Duration, error) {
	text, ok := q["wait"]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > int(MaxWait/time.Second) {
		return 0, admin.FieldErrorf("wait", "must be a whole number of seconds from 1 to %d", int(MaxWait/time.Second))
	}
	return time.Duration(n) * time.Second, nil
}

// agentEvents returns the events of a job after a cursor. If there are none, it waits for
// the next one, but not longer than wait and not if the job is final.
func (s *server) agentEvents(ctx context.Context, c call, cursor string, limit int, wait time.Duration) ([]admin.AgentEvent, string, error) {
	project, id := c.params["projectId"], c.params["id"]
	end := time.Now().Add(wait)
	for {
		events, next, final, err := s.Admin.AgentNews(ctx, c.caller, project, id, cursor, limit)
		left := time.Until(end)
		if err != nil || len(events) > 0 || final || left <= 0 {
			return events, next, err
		}
		if !s.pause(ctx, min(left, s.EventPause)) {
			return events, next, nil
		}
	}
}

// pause waits for a time. It returns false if the request or the server ended meanwhile.
func (s *server) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.Closing:
	}
	return false
}

// streamAgentEvents writes the events of a job after a cursor as server-sent events until
// the job is final. The id of each is the cursor after it.
//
// The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html.
func (s *server) streamAgentEvents(ctx context.Context, w http.ResponseWriter, c call, cursor string) error {
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	out := http.NewResponseController(w)
	if err := out.Flush(); err != nil {
		return err
	}
	wrote := time.Now()
	for {
		events, next, final, err := s.Admin.AgentNews(ctx, c.caller, c.params["projectId"], c.params["id"], cursor, admin.MaxPage)
		if err != nil {
			return err
		}
		for _, e := range events {
			data, err := json.Marshal(agentEvent(e))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", e.N, e.Kind, data); err != nil {
				return err
			}
		}
		cursor = next
		if len(events) == 0 && time.Since(wrote) >= aliveTime {
			if _, err := fmt.Fprint(w, ": waiting\n\n"); err != nil {
				return err
			}
			events = append(events, admin.AgentEvent{})
		}
		if len(events) > 0 {
			wrote = time.Now()
			if err := out.Flush(); err != nil {
				return err
			}
			continue
		}
		if final {
			return nil
		}
		if !s.pause(ctx, s.EventPause) {
			return nil
		}
	}
}

// wantsStream reports whether a request accepts server-sent events before JSON.
func wantsStream(h http.Header) bool {
	for _, part := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		switch media, _, _ := mime.ParseMediaType(part); media {
		case "text/event-stream":
			return true
		case "application/json":
			return false
		}
	}
	return false
}
