package page

import (
	"fmt"
	"testing"
)

// A page of very many hosts asks for no more of them than shows that they are
// too many for a policy.
func TestSourcesOfAPolicy(t *testing.T) {
	s := &state{}
	for i := range 10_000 {
		s.allow("img-src", origin(fmt.Sprintf("https://host%d.example/a.png", i)))
	}
	if n := len(s.result.Sources["img-src"]); n != maxSources {
		t.Errorf("%d sources", n)
	}
}
