package forge_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// A real forge keeps the contract, and refuses as the fake does.
func TestGitea(t *testing.T) {
	outside.Long(t, "starts a forge")
	g := forgetest.NewGitea(t)
	forgetest.Contract(t, g)
	f, err := forge.New(g.Options())
	if err != nil {
		t.Fatal(err)
	}
	r := g.Repository()
	base := fetch(t, f, r, "main")
	c := commit(t, f, base, forge.Change{Path: "late.mdx", Content: []byte("# Late\n")})

	g.REST(http.MethodPost, "/repos/"+g.User+"/docs/branch_protections", map[string]any{"rule_name": "main", "enable_push": false}, http.StatusCreated)
	if err := f.Push(t.Context(), r, "main", c, base.Commit); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a protected branch: %v", err)
	}
	var token struct{ Sha1 string }
	if err := json.Unmarshal(g.REST(http.MethodPost, "/users/"+g.User+"/tokens", map[string]any{"name": "reader", "scopes": []string{"read:repository"}}, http.StatusCreated), &token); err != nil {
		t.Fatal(err)
	}
	o := g.Options()
	o.Credentials = forge.Static(forge.Credential{Token: token.Sha1})
	reader, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, reader, r, "main")
	if err := reader.Push(t.Context(), r, "bindery/r", c, ""); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a token that may only read pushes: %v", err)
	}
	if err := f.Push(t.Context(), r, "bindery/r", c, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.OpenPull(t.Context(), r, forge.Pull{Head: "bindery/r", Base: "main", Title: "x"}); !errors.Is(err, forge.ErrCredential) {
		t.Errorf("a token that may only read opens a pull request: %v", err)
	}
}
