package models_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
)

// table is one of a single model, best, at this server.
func table(t *testing.T, server string) *model.Table {
	t.Helper()
	made, err := model.ParseTable([]byte(`{"default": "best", "servers": {"one": ` + server + `},
		"models": {"best": {"server": "one", "model": "m", "context": 1000, "output": 100}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestName(t *testing.T) {
	have := table(t, `{"base": "https://models.example.com", "auth": "none"}`)
	for _, name := range []string{"", "best"} {
		if got, err := models.Name(have, name); err != nil || got != "best" {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if _, err := models.Name(have, "other"); admin.CodeOf(err) != admin.CodeModelMissing {
		t.Errorf("a name that is not there: %v", err)
	}
	if _, err := models.Name(nil, ""); admin.CodeOf(err) != admin.CodeModelMissing {
		t.Errorf("no table: %v", err)
	}
}

// Prices are exact, whatever fraction of a dollar they are.
func TestList(t *testing.T) {
	made, err := model.ParseTable([]byte(`{"default": "fast", "servers": {"one": {"base": "https://models.example.com", "auth": "none"}}, "models": {
		"local": {"server": "one", "model": "m2", "context": 1000, "output": 100},
		"fast": {"server": "one", "model": "m", "context": 2000, "output": 200, "price": {"input": 0.29, "cacheWrite": 1.15, "cacheRead": 0.000001, "output": 1.1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []admin.AgentModel{
		{Name: "fast", Model: "m", Default: true, Context: 2000, Output: 200, Price: admin.AgentPrice{Input: 290_000, CacheWrite: 1_150_000, CacheRead: 1, Output: 1_100_000}},
		{Name: "local", Model: "m2", Context: 1000, Output: 100},
	}
	if got := models.List(made); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := models.List(nil); len(got) != 0 {
		t.Errorf("no table: %+v", got)
	}
}

func TestServersThatCannotBeAsked(t *testing.T) {
	noKey := models.Options{Key: func(model.Server) (string, error) { return " \n", nil }}
	for want, server := range map[string]string{
		`model server "one": it has no key`:                `{"base": "https://models.example.com", "auth": "bearer"}`,
		`model server "one": nothing signs requests to it`: `{"base": "https://models.example.com", "auth": "sigv4", "region": "eu-central-1", "service": "bedrock"}`,
	} {
		if _, err := models.New(table(t, server), noKey); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}

// A server that wants signatures gets one that names its region and service.
func TestSigned(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("Done."))
	m, err := models.New(table(t, `{"base": "`+s.URL+`", "allowHTTP": true, "auth": "sigv4", "region": "eu-central-1", "service": "bedrock"}`), models.Options{
		Sign: func(s model.Server) (models.Sign, error) {
			return func(_ context.Context, r *http.Request, digest string) error {
				r.Header.Set("Authorization", s.Region+" "+s.Service+" "+digest)
				return nil
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Model("")
	if err != nil || found.ID != "m" || found.MaxOutput != 100 || found.Context != 1000 {
		t.Fatalf("the model is %+v, %v", found, err)
	}
	if _, err := found.Client.Ask(t.Context(), model.Request{Model: found.ID, MaxTokens: 10, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Type: model.TypeText, Text: "x"}}},
	}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Header.Get("Authorization"); !strings.HasPrefix(got, "eu-central-1 bedrock ") || len(got) < 80 {
		t.Errorf("the request came with %q", got)
	}
}
