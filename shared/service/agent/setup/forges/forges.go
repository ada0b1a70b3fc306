// Package forges turns the repositories and credentials of projects into forges
// that agents can work with.
package forges

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Forges are the forges of projects. They are safe for concurrent use.
type Forges struct {
	opt     forge.Options
	allowed *forge.Forge // has no credential
	app     *forge.App   // of the operator, nil without one
	admin   *admin.Service

	mu   sync.Mutex
	apps map[string]projectApp // by project
}

// projectApp is a project's own GitHub App. It is kept with its tokens until the
// project's credential changes.
type projectApp struct {
	of  admin.ForgeCredential
	app *forge.App
}

// New returns Forges with the hosts of opt and the stored credentials of projects. If
// the Credentials of opt are a *forge.App, it serves projects without their own;
// others are ignored. The error names the option that is invalid.
func New(a *admin.Service, opt forge.Options) (*Forges, error) {
	app, _ := opt.Credentials.(*forge.App)
	opt.Credentials = nil
	allowed, err := forge.New(opt)
	if err != nil {
		return nil, err
	}
	return &Forges{opt: opt, allowed: allowed, app: app, admin: a, apps: map[string]projectApp{}}, nil
}

// repository reads a project's repository and whether its host is allowed.
func (f *Forges) repository(p admin.Project) (forge.Repository, error) {
	r, err := forge.ParseRepository(p.Repository, forge.Kind(p.Agent.Forge), p.Agent.API)
	if err == nil {
		err = f.allowed.Allowed(r)
	}
	return r, err
}

// Ready returns an error of code admin.CodeForgeMissing, which says what is missing, if
// an agent can't reach a project's repository. It neither asks the forge nor reads the
// credential.
func (f *Forges) Ready(ctx context.Context, p admin.Project) error {
	r, err := f.repository(p)
	if err != nil {
		reason := "its repository can't be read"
		if coded, ok := errors.AsType[store.Coded](err); ok {
			reason = coded.SafeMessage()
		}
		return admin.Errorf(admin.CodeForgeMissing, "no agent can work for the project: %s", reason).Wrap(err)
	}
	_, err = f.admin.ForgeCredentialInfo(ctx, p.ID)
	if admin.CodeOf(err) == admin.CodeNotFound {
		if f.app != nil && f.app.Serves(r) {
			return nil
		}
		return admin.Errorf(admin.CodeForgeMissing, "no agent can work for the project: it has no credential for its forge")
	}
	return err
}

// Forge returns a project's forge, with the project's credential, and its repository.
// It returns errors of package forge, and one of code
// forge_credential for a project without a credential.
func (f *Forges) Forge(ctx context.Context, p admin.Project) (*forge.Forge, forge.Repository, error) {
	r, err := f.repository(p)
	if err != nil {
		return nil, r, err
	}
	opt := f.opt
	if opt.Credentials, err = f.credentials(ctx, p.ID, r); err != nil {
		return nil, r, err
	}
	made, err := forge.New(opt)
	return made, r, err
}

// Further returns a further repository of a project by its address, and its forge. The
// project's credential is used if the host is that of its own repository. Otherwise, and
// in a project without a credential of its own, the repository must be public: the
// operator's App never serves further repositories, because they may be those of other
// customers, and a host with private addresses is never asked without a credential.
// It returns errors of package forge.
func (f *Forges) Further(ctx context.Context, p admin.Project, address string) (*forge.Forge, forge.Repository, error) {
	own, err := f.repository(p)
	if err != nil {
		return nil, own, err
	}
	opt := f.opt
	r, err := forge.ParseRepository(address, own.Kind, own.API)
	if err == nil && sameServer(r, own) {
		opt.Credentials, err = f.ownCredentials(ctx, p.ID)
	} else if r, err = forge.ParseRepository(address, "", ""); err != nil {
		r, err = forge.ParseRepository(address, forge.Git, "")
	}
	if err == nil {
		err = f.allowed.Allowed(r)
	}
	if err == nil && opt.Credentials == nil && f.allowed.Private(r) {
		err = admin.Errorf(forge.CodeCredential, "the project has no credential for %s", r.Host())
	}
	if err != nil {
		return nil, r, err
	}
	made, err := forge.New(opt)
	return made, r, err
}

// sameServer reports whether two repositories are reached by the same scheme and host.
func sameServer(a, b forge.Repository) bool {
	scheme := func(r forge.Repository) string { s, _, _ := strings.Cut(r.URL, ":"); return s }
	return a.Host() == b.Host() && scheme(a) == scheme(b)
}

// credentials returns the credentials of a project for its repository.
func (f *Forges) credentials(ctx context.Context, project string, r forge.Repository) (forge.Credentials, error) {
	c, err := f.ownCredentials(ctx, project)
	switch {
	case err != nil || c != nil:
		return c, err
	case f.app != nil && f.app.Serves(r):
		return f.app, nil
	}
	return nil, admin.Errorf(forge.CodeCredential, "the project has no credential for its forge")
}

// ownCredentials returns the credentials that a project has itself, nil if it has none.
func (f *Forges) ownCredentials(ctx context.Context, project string) (forge.Credentials, error) {
	c, err := f.admin.ForgeCredential(ctx, project)
	if admin.CodeOf(err) == admin.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.App == "" {
		delete(f.apps, project)
		return forge.Static(forge.Credential{Username: c.Username, Token: c.Token}), nil
	}
	if have := f.apps[project]; have.of == c {
		return have.app, nil
	}
	app, err := forge.NewApp(f.opt, forge.AppKey{ID: c.App, Installation: c.Installation, PEM: []byte(c.Key)})
	if err != nil {
		return nil, err
	}
	f.apps[project] = projectApp{c, app}
	return app, nil
}
