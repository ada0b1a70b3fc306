package serve

import (
	"fmt"
	"sync"
	"time"
)

// Status is what /readyz reports.
type Status struct {
	// Ready is true when a site is shown and the server is not ending.
	Ready bool `json:"ready"`
	// State is "starting", "serving", "degraded" (a site is shown, and the
	// source could not be asked or has no usable bundle, or files on the
	// volume are damaged) or "draining".
	State string `json:"state"`
	// Version, SHA256, Domain and Pages, the number of pages, are those of the
	// site that is shown.
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Domain  string `json:"domain,omitempty"`
	Pages   int    `json:"pages,omitempty"`
	// Damaged is the number of files of that site that were found to differ on
	// the volume from what was exported, or to be gone. None of them is sent.
	Damaged int `json:"damaged,omitempty"`
	// Verified is when all files were last compared.
	Verified *time.Time `json:"verified,omitempty"`
	// Since is when it was switched to.
	Since *time.Time `json:"since,omitempty"`
	// Source names the source without what signs a link.
	Source string `json:"source,omitempty"`
	// Checked is when the source was last asked, and Problem what came of it
	// if that was not good.
	Checked *time.Time `json:"checked,omitempty"`
	Problem *Problem   `json:"problem,omitempty"`
}

// Problem is why the source's newest bundle is not shown.
type Problem struct {
	Code Code `json:"code"`
	// Message says what happened and what to do about it.
	Message string `json:"message"`
}

// status is a Status that is changed and read at the same time.
type status struct {
	mu       sync.Mutex
	now      func() time.Time
	s        Status
	shown    bool
	draining bool
}

func newStatus(now func() time.Time) *status {
	return &status{now: now, s: Status{State: "starting"}}
}

// get returns the status at this moment.
func (s *status) get() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.s
	out.Ready = s.shown && !s.draining
	switch {
	case s.draining:
		out.State = "draining"
	case s.shown && out.Damaged > 0 && out.Problem == nil:
		out.State = "degraded"
		out.Problem = &Problem{Code: CodeDamaged, Message: fmt.Sprintf("files on the volume are not what was exported: %d, which are not sent. They are unpacked again from the bundle's source", out.Damaged)}
	case s.shown && out.Problem != nil:
		out.State = "degraded"
	case s.shown:
		out.State = "serving"
	}
	return out
}

// show notes which version is shown.
func (s *status) show(r record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now().UTC().Truncate(time.Second)
	s.shown = true
	s.s.Version, s.s.SHA256, s.s.Domain, s.s.Pages, s.s.Since = r.Version, r.Digest, r.Domain, r.Pages, &at
	s.s.Damaged, s.s.Verified = 0, nil
	if r.Digest != "" { // else single files are compared when they are read
		s.s.Verified = &at
	}
}

// damaged notes how many files of the site differ; whole reports that all were
// compared.
func (s *status) damaged(n int, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.Damaged = n
	if whole {
		at := s.now().UTC().Truncate(time.Second)
		s.s.Verified = &at
	}
}

// asks notes which source is asked.
func (s *status) asks(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.Source = source
}

// checked notes how asking the source ended.
func (s *status) checked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now().UTC().Truncate(time.Second)
	s.s.Checked, s.s.Problem = &at, nil
	if err != nil {
		s.s.Problem = &Problem{Code: codeOf(err), Message: err.Error()}
	}
}

func (s *status) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}
