// Package models turns the table of models that an operator has set up into
// models that agents can ask.
package models

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
)

// Sign signs a request for AWS; see model.Options.
type Sign = func(ctx context.Context, r *http.Request, bodySHA256 string) error

// Options configure Models in addition to a table.
type Options struct {
	// Key returns the key of a server that requires one.
	Key func(s model.Server) (string, error)
	// Sign returns the signer of requests to a server whose Auth is model.AuthSigV4;
	// nil refuses such servers.
	Sign func(s model.Server) (Sign, error)
	// Log receives failed attempts; nil discards them.
	Log *slog.Logger
}

// Models are the models of a table, ready to be asked.
type Models struct {
	table   *model.Table
	clients map[string]*model.Client // by the name of the server
}

// New returns a client for each server of a model of the table. The error names the
// server whose key is missing, and contains no key.
func New(table *model.Table, opt Options) (*Models, error) {
	m := &Models{table: table, clients: map[string]*model.Client{}}
	for _, name := range table.Names() {
		e, _ := table.Entry(name)
		if m.clients[e.Server.Name] != nil {
			continue
		}
		client, err := opt.client(e.Server)
		if err != nil {
			return nil, fmt.Errorf("model server %q: %w", e.Server.Name, err)
		}
		m.clients[e.Server.Name] = client
	}
	return m, nil
}

func (opt Options) client(s model.Server) (*model.Client, error) {
	var key string
	var sign Sign
	var err error
	switch s.Auth {
	case model.AuthKey, model.AuthBearer:
		if key, err = opt.Key(s); err == nil && strings.TrimSpace(key) == "" {
			err = fmt.Errorf("it has no key")
		}
	case model.AuthSigV4:
		if opt.Sign == nil {
			return nil, fmt.Errorf("nothing signs requests to it")
		}
		sign, err = opt.Sign(s)
	}
	if err != nil {
		return nil, err
	}
	o := s.Options(strings.TrimSpace(key))
	o.Sign, o.Logger = sign, opt.Log
	return model.New(o)
}

// entry returns the entry with a name, or an error of code admin.CodeModelMissing.
func entry(table *model.Table, name string) (model.Entry, error) {
	if table == nil {
		return model.Entry{}, admin.Errorf(admin.CodeModelMissing, "no model is set up for agent jobs")
	}
	e, ok := table.Entry(name)
	if !ok {
		return e, admin.Errorf(admin.CodeModelMissing, "unknown model %q; available: %s", name, strings.Join(table.Names(), ", "))
	}
	return e, nil
}

// Name returns the name of the model that a job asks for, the default's for
// "". It returns admin.CodeModelMissing if table is nil or has no such model.
func Name(table *model.Table, name string) (string, error) {
	e, err := entry(table, name)
	return e.Name, err
}

// List describes the models of a table, sorted by name; none if table is nil.
func List(table *model.Table) []admin.AgentModel {
	if table == nil {
		return nil
	}
	micros := func(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) } // which have six decimals at most
	var all []admin.AgentModel
	for _, name := range table.Names() {
		e, _ := table.Entry(name)
		all = append(all, admin.AgentModel{
			Name: e.Name, Model: e.Model, Default: e.Name == table.Default(), Context: e.Context, Output: e.Output,
			Price: admin.AgentPrice{Input: micros(e.Price.Input), CacheWrite: micros(e.Price.CacheWrite), CacheRead: micros(e.Price.CacheRead), Output: micros(e.Price.Output)},
		})
	}
	return all
}

// Model returns the model with a name, the default for "". It returns
// admin.CodeModelMissing for a name that is not in the table.
func (m *Models) Model(name string) (model.Choice, error) {
	e, err := entry(m.table, name)
	if err != nil {
		return model.Choice{}, err
	}
	return model.Choice{ID: e.Model, Client: m.clients[e.Server.Name], Price: e.Price, MaxOutput: e.Output, Context: e.Context, Fallback: e.Fallback, Pictures: e.Pictures}, nil
}

// Table returns the table of the models.
func (m *Models) Table() *model.Table { return m.table }
