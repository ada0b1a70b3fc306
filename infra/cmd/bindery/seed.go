package main

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
	"strings"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// What `up --seed` creates.
const (
	seedOrganisation = "Local"
	seedDomain       = "docs.example.com"
	seedRepository   = "https://github.com/example/docs"
	seedKeyName      = "local"
)

// seeded is what a data folder was seeded with. It is kept in the folder, for
// its owner's eyes only, because a key can't be read back from the records.
type seeded struct {
	Organisation string `json:"organisation"`
	Project      string `json:"project"`
	Domain       string `json:"domain"`
	Key          string `json:"key"`
}

const seedFile = "seed.json"

// readSeed reads what the folder was seeded with; nothing where it was not.
func readSeed(data string) (seeded, error) {
	var s seeded
	raw, err := os.ReadFile(filepath.Join(data, seedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("%s: %w", seedFile, err)
	}
	return s, nil
}

// seed makes sure that there is an Enterprise organisation with a project of
// that domain and a key that works. What is there is found again, so it may
// be done often, and after it was broken off anywhere.
func seed(ctx context.Context, s *admin.Service, data, domain string) (seeded, error) {
	have, err := readSeed(data)
	if err != nil {
		return have, err
	}
	orgs, err := s.ListOrganisations(ctx)
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
		if org, err = s.CreateOrganisation(ctx, admin.Organisation{Name: seedOrganisation, Plan: admin.PlanEnterprise}); err != nil {
			return have, err
		}
	}

	projects, err := s.ListProjects(ctx, org.ID)
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
		if project, err = s.CreateProject(ctx, admin.Project{Organisation: org.ID, Domain: domain, Repository: seedRepository}); err != nil {
			return have, err
		}
	}

	key := have.Key
	if who, err := s.Authenticate(ctx, "Bearer "+key, netip.MustParseAddr("127.0.0.1"), admin.ScopeWrite); err != nil || who.OrganisationID != org.ID {
		if _, key, err = s.CreateKey(ctx, admin.KeyRequest{Organisation: org.ID, Name: seedKeyName}); err != nil {
			return have, err
		}
	}
	now := seeded{Organisation: org.ID, Project: project.ID, Domain: project.Domain, Key: key}
	if now == have {
		return now, nil
	}
	raw, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return now, err
	}
	return now, writePrivate(filepath.Join(data, seedFile), append(raw, '\n'))
}

// envFile is what DIR/env holds: assignments that a shell can read. They are for
// callers on this machine, whose requests cross no network, whatever address of
// it the operator chose.
func envFile(address string, s seeded) []byte {
	allow := ""
	if u, err := url.Parse(address); err == nil && client.InTheClear(u) {
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
