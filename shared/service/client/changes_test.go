package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// TestChanges: the list comes by its link, without the key, also at a second try;
// where the API names none, there is none.
func TestChanges(t *testing.T) {
	failed, keys, listed := 0, 0, true
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			link := api.BundleLink{JobID: "exp_1", BundleURL: s.URL + "/b"}
			if listed {
				link.ChangesURL = s.URL + "/changes"
			}
			_ = json.NewEncoder(w).Encode(link)
		case failed == 0:
			failed++
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			keys += len(r.Header.Values("Authorization"))
			_, _ = w.Write([]byte(`{"pages":{}}`))
		}
	}))
	defer s.Close()
	c, err := New(Options{BaseURL: s.URL, Key: key, Clock: newClock()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Changes(t.Context(), "exp_1")
	if err != nil || string(got) != `{"pages":{}}` || keys != 0 || failed != 1 {
		t.Errorf("%q, %v; %d keys, %d faults", got, err, keys, failed)
	}
	listed = false
	if got, err := c.Changes(t.Context(), "exp_1"); !errors.Is(err, ErrNoChanges) || got != nil {
		t.Errorf("%q, %v without a list", got, err)
	}
}
