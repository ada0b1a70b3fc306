// Package works is the agent's step that asks a model. It can read the models'
// keys, and links neither a forge nor what opens credentials.
package works

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretvalue"
)

// Steps returns the step with what it is wired to. It fails as wire.New does, and
// where the table of models can't be read.
func Steps(f *cloud.Function) (*wire.Wiring, *agent.Steps, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.ModelSecret}, objects.Open)
	if err != nil {
		return nil, nil, err
	}
	k := &known{w: w}
	if w.Env.ModelTable != "" {
		if k.table, err = model.ParseTable([]byte(w.Env.ModelTable)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", config.ModelTable, err)
		}
	}
	steps, err := agent.New(agent.Options{Admin: w.Admin, Objects: w.Objects, Model: k.model, Log: f.Log})
	return w, steps, err
}

// known are the models, once a job has asked for one: the process reads their
// keys once, and never where no server has one.
type known struct {
	w     *wire.Wiring
	table *model.Table // nil without models

	mu     sync.Mutex
	models *models.Models
}

// model is agent.Options.Model. It returns admin.CodeModelMissing for a name that
// is not in the table and for a server whose key is missing.
func (k *known) model(name string) (model.Choice, error) {
	if _, err := models.Name(k.table, name); err != nil {
		return model.Choice{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.models == nil {
		read := sync.OnceValues(k.keys)
		made, err := models.New(k.table, models.Options{
			Log:  k.w.Log,
			Sign: func(s model.Server) (models.Sign, error) { return awsconfig.Signer(k.w.AWS, s.Region, s.Service), nil },
			Key: func(s model.Server) (string, error) {
				keys, err := read()
				return keys[s.Name], err
			},
		})
		if admin.CodeOf(err) == admin.CodeTemporary {
			return model.Choice{}, err
		}
		if err != nil {
			return model.Choice{}, admin.Errorf(admin.CodeModelMissing, "the key of a model's server is not set up").Wrap(err)
		}
		k.models = made
	}
	return k.models.Model(name)
}

// keys reads the secret: a JSON object with a key for each server by its name, or
// the key of the default model's server alone.
func (k *known) keys() (map[string]string, error) {
	text, err := secretvalue.Fetch(context.Background(), k.w.AWS, k.w.Env.ModelSecret)
	if err != nil {
		return nil, err
	}
	return parseKeys(k.table, text), nil
}

func parseKeys(table *model.Table, text string) map[string]string {
	var keys map[string]string
	if json.Unmarshal([]byte(text), &keys) == nil {
		return keys
	}
	fallback, _ := table.Entry("")
	return map[string]string{fallback.Server.Name: text}
}
