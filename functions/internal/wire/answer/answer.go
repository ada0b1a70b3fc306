// Package answer is the functions that answer an operation of the API.
package answer

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// Operation returns the handler of one operation, by its name in the API's
// document, on the ports that it calls. It fails as wire.New does.
func Operation(f *cloud.Function, operation string, needed []string, ports ...wire.Port) (cloud.Handler, error) {
	w, err := wire.New(f, needed, ports...)
	if err != nil {
		return nil, err
	}
	o := api.Options{Admin: w.Admin, Objects: w.Objects, Log: f.Log, Annotate: cloud.Annotate}
	return f.HTTP(w.Env.Stage, api.HeaderErrorCode, api.Alone(o, operation)), nil
}
