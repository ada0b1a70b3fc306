package page

import (
	"fmt"
	"testing"
)

// A page of very many hosts asks for no more of them than shows that they are
// too many for a policy.
func TestSourcesOfAPolicy(t *testing.T) {
	w := &htmlWriter{}
	for i := range 10_000 {
		w.allow("img-src", origin(fmt.Sprintf("https://host%d.example/a.png", i)))
	}
	if n := len(w.result.Sources["img-src"]); n != maxSources {
		t.Errorf("%d sources", n)
	}
}
