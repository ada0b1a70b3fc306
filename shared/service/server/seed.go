package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// SeedDomain is the domain of a project that nothing is said of.
const SeedDomain = "docs.example.com"

// What Seed makes besides.
const (
	seedOrganisation = "Local"
	seedRepository   = "https://github.com/example/docs"
	seedKeyName      = "local"
)

// Seed is what a data folder was seeded with. It is kept in the folder, for its
// owner's eyes only, because a key can't be read back from the records.
type Seed struct {
	Organisation string `json:"organisation"`
	Project      string `json:"project"`
	Domain       string `json:"domain"`
	Key          string `json:"key"`
}

const seedFile = "seed.json"

// callersFile has the environment of callers on this machine.
const callersFile = "env"

// Seeded reads what the folder was seeded with: the zero Seed where it was not.
func (s *Server) Seeded() (Seed, error) {
	var have Seed
	raw, err := os.ReadFile(filepath.Join(s.dir, seedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return have, nil
	}
	if err != nil {
		return have, err
	}
	if err := json.Unmarshal(raw, &have); err != nil {
		return have, fmt.Errorf("%s: %w", seedFile, err)
	}
	return have, nil
}

// Seed makes sure of an Enterprise organisation with a project of that domain
// and a key that works. What is there is found again, so it may be called
// often, and after it was broken off anywhere.
func (s *Server) Seed(ctx context.Context, domain string) (Seed, error) {
	have, err := s.Seeded()
	if err != nil {
		return have, err
	}
	orgs, err := s.Admin.ListOrganisations(ctx)
	if err != nil {
		return have, err
	}
	var org admin.Organisation
	for _, o := range orgs {
		if o.Name == seedOrganisation && o.RevokedAt.IsZero() && (org.ID == "" || o.ID == have.Organisation) {
			org = o
		}
	}
	if org.ID == "" {
		if org, err = s.Admin.CreateOrganisation(ctx, admin.Organisation{Name: seedOrganisation, Plan: admin.PlanEnterprise}); err != nil {
			return have, err
		}
	}

	projects, err := s.Admin.ListProjects(ctx, org.ID)
	if err != nil {
		return have, err
	}
	var project admin.Project
	for _, p := range projects {
		if p.Domain == domain && p.RevokedAt.IsZero() {
			project = p
		}
	}
	if project.ID == "" {
		if project, err = s.Admin.CreateProject(ctx, admin.Project{Organisation: org.ID, Domain: domain, Repository: seedRepository, Agent: admin.NewAgentSettings()}); err != nil {
			return have, err
		}
	}

	key := have.Key
	if who, err := s.Admin.Authenticate(ctx, "Bearer "+key, netip.MustParseAddr("127.0.0.1"), admin.ScopeWrite); err != nil || who.OrganisationID != org.ID {
		if _, key, err = s.Admin.CreateKey(ctx, admin.KeyRequest{
			Organisation: org.ID, Name: seedKeyName, Scopes: []admin.Scope{admin.ScopeRead, admin.ScopeWrite, admin.ScopeDeploy},
		}); err != nil {
			return have, err
		}
	}
	now := Seed{Organisation: org.ID, Project: project.ID, Domain: project.Domain, Key: key}
	if now == have {
		return now, nil
	}
	raw, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return now, err
	}
	return now, writePrivate(filepath.Join(s.dir, seedFile), append(raw, '\n'))
}

// WriteEnv writes the file env into the data folder, for the environment of
// callers on this machine, and returns where it is. They come by the address that links
// begin with if that is one of this machine, so that sign-in links are for it.
func (s *Server) WriteEnv(have Seed) (string, error) {
	path, err := filepath.Abs(filepath.Join(s.dir, callersFile))
	if err != nil {
		return "", err
	}
	address := s.URL
	if s.links {
		address = s.Public
	}
	return path, writePrivate(path, envFile(address, have))
}

// envFile is what the file env holds: assignments that a shell can read. They are for
// callers on this machine, whose requests cross no network, whatever address of
// it the operator chose.
func envFile(address string, s Seed) []byte {
	allow := ""
	if u, err := url.Parse(address); err == nil && remote.InTheClear(u) {
		allow = "true"
	}
	var b strings.Builder
	for _, pair := range [][2]string{{"BINDERY_URL", address}, {config.AllowHTTP, allow}, {"BINDERY_ADMIN_KEY", s.Key}, {"BINDERY_PROJECT", s.Project}} {
		if pair[1] != "" {
			fmt.Fprintf(&b, "%s=%s\n", pair[0], pair[1])
		}
	}
	return []byte(b.String())
}

// privateCopy is the name of a file that was being written when its process died,
// by writePrivate or by the first process of the folder: it may hold the key, or
// the secret of links.
var privateCopy = regexp.MustCompile(`^(env|seed\.json|link-secret)-[0-9]+$`)

// sweepPrivate removes such files. The folder is locked: nobody writes one but a
// process that found no secret of links, and takes the one that is there by now.
func (s *Server) sweepPrivate() {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if privateCopy.MatchString(e.Name()) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, e.Name())))
		}
	}
	if err != nil {
		s.log.Warn("copies of secrets were not removed", "error", err)
	}
}

// writePrivate puts a file in place, whole, for its owner alone.
func writePrivate(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
