// Package forges turns the repositories and credentials of projects into forges
// that agents can work with.
package forges

import (
	"context"
	"errors"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Forges are the forges of projects.
type Forges struct {
	opt     forge.Options
	allowed *forge.Forge // has no credential
	admin   *admin.Service
}

// New makes Forges whose hosts are those of opt, and whose credentials the
// rules know; those of opt are not looked at. The error names the option that
// can't be meant.
func New(a *admin.Service, opt forge.Options) (*Forges, error) {
	opt.Credentials = nil
	allowed, err := forge.New(opt)
	if err != nil {
		return nil, err
	}
	return &Forges{opt, allowed, a}, nil
}

// repository reads a project's repository and whether its host is allowed.
func (f *Forges) repository(p admin.Project) (forge.Repository, error) {
	r, err := forge.ParseRepository(p.Repository, forge.Kind(p.Agent.Forge), p.Agent.API)
	if err == nil {
		err = f.allowed.Allowed(r)
	}
	return r, err
}

// Ready returns nil if an agent can reach a project's repository as far as is
// known without asking the forge, else an error of code admin.CodeForgeMissing
// that says what is missing. It doesn't read the credential.
func (f *Forges) Ready(ctx context.Context, p admin.Project) error {
	if _, err := f.repository(p); err != nil {
		reason := "its repository can't be read"
		if coded, ok := errors.AsType[store.Coded](err); ok {
			reason = coded.SafeMessage()
		}
		return admin.Errorf(admin.CodeForgeMissing, "no agent can work for the project: %s", reason).Wrap(err)
	}
	_, err := f.admin.ForgeCredentialInfo(ctx, p.ID)
	if admin.CodeOf(err) == admin.CodeNotFound {
		return admin.Errorf(admin.CodeForgeMissing, "no agent can work for the project: it has no credential for its forge")
	}
	return err
}

// Forge returns a project's forge, which knows the project's credential, and its
// repository. It returns errors of package forge, and one of code
// forge_credential for a project without a credential.
func (f *Forges) Forge(ctx context.Context, p admin.Project) (*forge.Forge, forge.Repository, error) {
	r, err := f.repository(p)
	if err != nil {
		return nil, r, err
	}
	c, err := f.admin.ForgeCredential(ctx, p.ID)
	if admin.CodeOf(err) == admin.CodeNotFound {
		err = admin.Errorf(forge.CodeCredential, "the project has no credential for its forge").Wrap(err)
	}
	if err != nil {
		return nil, r, err
	}
	opt := f.opt
	opt.Credentials = forge.Static(forge.Credential(c))
	made, err := forge.New(opt)
	return made, r, err
}
