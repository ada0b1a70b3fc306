package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/export"
)

// state is what a page in a browser is told.
type state struct {
	// Version is that of the document that its address has now.
	Version string `json:"version"`
	// Broken are the places that can't be read. As long as there are any, the page
	// stays as it is.
	Broken []Finding `json:"broken"`
	// Findings are all others on the page.
	Findings []Finding `json:"findings"`
	// Editor reports whether this browser can open the editor.
	Editor bool `json:"editor"`
}

// alive is how often a connection says that it is there.
const alive = 20 * time.Second

// events tells a page of changes until it goes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	urlPath, query := s.asked(r.URL.Query().Get("address"))
	var last []byte
	ticker := time.NewTicker(alive)
	defer ticker.Stop()
	for {
		now, changed, err := s.state(r.Context(), urlPath, query)
		if err == nil {
			now.Editor = s.opt.Open != nil && here(r)
			data, err := json.Marshal(now)
			if err != nil {
				return
			}
			if !bytes.Equal(data, last) {
				last = data
				if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
					return
				}
			}
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ticker.C:
			if _, err := fmt.Fprint(w, ": here\n\n"); err != nil {
				return
			}
		}
	}
}

// state returns what there is to say of an address, and the channel that is closed
// when that may have changed.
func (s *Server) state(ctx context.Context, urlPath, query string) (out state, changed <-chan struct{}, err error) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	m, fault, changed, done := s.view()
	defer done()
	out = state{Version: "none", Broken: []Finding{}, Findings: []Finding{}}
	if m == nil {
		if fault != nil {
			out.Broken = append(out.Broken, *fault)
		}
		return out, changed, nil
	}
	found, err := s.find(ctx, m, urlPath, query)
	if err != nil {
		return out, changed, err
	}
	out.Version = s.version(found)
	list, err := s.findings(ctx, m, s.page(m, found.name))
	if err != nil {
		return out, changed, err
	}
	line := lines(m.tree)
	for _, f := range list {
		if export.Broken(f) {
			out.Broken = append(out.Broken, findingOf(f, line))
		} else {
			out.Findings = append(out.Findings, findingOf(f, line))
		}
	}
	if fault != nil {
		out.Broken = append(out.Broken, *fault)
	}
	return out, changed, nil
}

// findings returns what is known of a page: what all pages together say, if they
// were looked through since the page changed, otherwise what it says itself.
func (s *Server) findings(ctx context.Context, m *moment, i int) ([]check.Finding, error) {
	if i < 0 {
		return nil, nil
	}
	own, err := m.live.Found(ctx, i)
	if err != nil || m.survey == nil {
		return own, err
	}
	sources, err := m.live.Sources(ctx, i)
	if err != nil {
		return nil, err
	}
	all := onPage(m.survey.Findings, sources)
	// A file may change before the system says so.
	if m.surveyed == m.live && !slices.ContainsFunc(own, export.Broken) {
		return all, nil
	}
	// What only all pages tell is as old as the survey.
	for _, f := range all {
		if f.Code == "fragment-missing" || f.Code == "page-unlisted" || f.Code == "title-duplicate" {
			own = append(own, f)
		}
	}
	return own, nil
}
