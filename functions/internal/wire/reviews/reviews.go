// Package reviews is the agent's step that looks at what a round proposes, rendered. It
// links neither a model nor a forge, and nothing that opens a secret.
package reviews

import (
	"os"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// Steps returns the step with what it is wired to. This program itself runs components,
// in a process of their own. Steps fails as wire.New does.
func Steps(f *cloud.Function) (*wire.Wiring, *review.Steps, error) {
	w, err := wire.New(f, []string{config.SourcesBucket}, objects.Open)
	if err != nil {
		return nil, nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	steps, err := review.New(review.Options{
		Admin: w.Admin, Objects: w.Objects, Islands: island.New(island.Options{Program: program, Log: f.Log}), Log: f.Log,
	})
	return w, steps, err
}
