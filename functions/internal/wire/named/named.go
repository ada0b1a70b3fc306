// Package named provides functions with the models that agents can use, by their
// names. They can't ask one.
package named

import (
	"fmt"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
)

// Open is the wire.Port of the models. It fails if the table of models can't be read.
func Open(w *wire.Wiring) error {
	_, err := Table(w)
	return err
}

// Table is Open, and returns the table, nil if there is none.
func Table(w *wire.Wiring) (*model.Table, error) {
	if w.Env.ModelTable == "" {
		return nil, nil
	}
	table, err := model.ParseTable([]byte(w.Env.ModelTable))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.ModelTable, err)
	}
	w.AgentModels = func() []admin.AgentModel { return models.List(table) }
	return table, nil
}
