package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Project is a documentation site: a domain, the repository that it is
// written in, and how it is deployed.
type Project struct {
	ID           string `json:"id"`
	Organisation string `json:"organisation"`
	// Domain is in ASCII form. No two projects that are not revoked share one.
	Domain string `json:"domain"`
	// Repository is the full address of the hosted source repository.
	Repository string    `json:"repository"`
	Kind       Kind      `json:"kind"`
	Settings   Settings  `json:"settings"`
	Retention  Retention `json:"retention"`
	// Agent is of no meaning to exports: changing it changes no version.
	Agent AgentSettings `json:"agent,omitzero"`
	// Deploy decides whether exports with GoLive go live automatically. Empty means
	// DeployAuto. Changing it changes no version.
	Deploy    DeployMode `json:"deploy,omitempty"`
	CreatedAt time.Time  `json:"createdAt"`
	// RevokedAt is when the project was ended; its domain is free since then.
	RevokedAt time.Time `json:"revokedAt,omitzero"`
}

// Retention is what an operator lets go with time; zero keeps for ever.
type Retention struct {
	// SnapshotDays is how long snapshots stay that are not the newest and
	// that no export was made from.
	SnapshotDays int `json:"snapshotDays,omitempty"`
	// BundleDays is how long bundles of finished exports stay.
	BundleDays int `json:"bundleDays,omitempty"`
}

// domainClaim says whose a domain is, and what was last published for it.
type domainClaim struct {
	Organisation string `json:"organisation"`
	Project      string `json:"project"`
	// Newest is the id of the newest published snapshot, or empty.
	Newest string `json:"newest,omitempty"`
	// Changes grows with each change of Newest. It is at least the time of that in
	// milliseconds since 1970, so that it goes on to grow after an older release, which does
	// not know it, has dropped it.
	Changes int64 `json:"changes,omitempty"`
}

// maxURL is the most bytes of an address that we keep.
const maxURL = 2048

func checkURL(field, raw string, schemes ...string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || len(raw) > maxURL {
		return FieldErrorf(field, "must be an absolute URL without user and password, of at most %d bytes", maxURL)
	}
	if slices.Contains(schemes, u.Scheme) {
		return nil
	}
	return FieldErrorf(field, "must begin with %s://", strings.Join(schemes, ":// or "))
}

var analyticsForm = lazy.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

func checkSettings(t Settings) error {
	search := t.Search
	if search == SearchBundled {
		search = ""
	}
	for _, f := range []struct{ field, address string }{
		{"settings.search", search}, {"settings.assistant", t.Assistant}, {"settings.feedback", t.Feedback},
	} {
		if f.address != "" {
			if err := checkURL(f.field, f.address, "https"); err != nil {
				if f.field == "settings.search" {
					return FieldErrorf(f.field, "must be %q or the https address of a service, without user and password", SearchBundled)
				}
				return err
			}
		}
	}
	if t.AnalyticsID != "" && !analyticsForm().MatchString(t.AnalyticsID) {
		return FieldErrorf("settings.analyticsId", "must be at most 64 letters, digits, hyphens and underscores")
	}
	if base, err := NormalBasePath(t.BasePath); err != nil {
		return err
	} else if base != t.BasePath {
		return FieldErrorf("settings.basePath", "must have no slashes at its ends")
	}
	if hosts, err := NormalHosts(t.Hosts()); err != nil {
		return err
	} else if hosts != t.AllowHosts {
		return FieldErrorf("settings.allowHosts", "must be names of hosts, sorted, with commas between them")
	}
	return nil
}

// CreateProject creates a project and claims its domain, or returns
// CodeDomainTaken. Kind is KindCloud if empty.
func (s *Service) CreateProject(ctx context.Context, in Project) (Project, error) {
	return s.createProject(ctx, s.Operator(in.Organisation), in)
}

func (s *Service) createProject(ctx context.Context, c Caller, in Project) (Project, error) {
	domain, err := NormalDomain("domain", in.Domain)
	if err != nil {
		return Project{}, err
	}
	if err := checkURL("repository", in.Repository, "https", "http", "ssh"); err != nil {
		return Project{}, err
	}
	if in.Kind == "" {
		in.Kind = KindCloud
	}
	if err := (Configuration{in.Kind, in.Settings, in.Retention, in.Agent, in.Deploy}).Check(); err != nil {
		return Project{}, err
	}
	if _, err := s.activeOrganisation(ctx, in.Organisation); err != nil {
		return Project{}, err
	}
	p := Project{
		ID: s.opt.NewID(idProject), Organisation: in.Organisation, Domain: domain, Repository: in.Repository,
		Kind: in.Kind, Settings: in.Settings, Retention: in.Retention, Agent: in.Agent, Deploy: in.Deploy, CreatedAt: s.now(),
	}
	err = s.transact(ctx, func() error {
		var b batch
		b.put(projectKey(p.ID), 0, p)
		b.put(projectRow(p.Organisation, p.ID), 0, presence{})
		b.put(domainKey(p.Domain), 0, domainClaim{Organisation: p.Organisation, Project: p.ID})
		s.audit(&b, c, p.Organisation, "project.created", p.ID, append(changed("domain", "", p.Domain, "repository", "", p.Repository),
			configured(Configuration{}, p.configuration())...)...)
		err := s.write(ctx, &b)
		if conflictOn(err, domainKey(p.Domain)) {
			return Errorf(CodeDomainTaken, "domain: %s belongs to another project", p.Domain)
		}
		return err
	})
	if err != nil {
		return Project{}, err
	}
	return p, nil
}

// GetProject reads a project, or returns CodeNotFound.
func (s *Service) GetProject(ctx context.Context, id string) (Project, error) {
	p, _, err := find[Project](ctx, s, "project", projectKey(id), id)
	return p, err
}

// ListProjects returns all projects of an organisation, also revoked ones.
// It returns CodeNotFound for an unknown organisation.
func (s *Service) ListProjects(ctx context.Context, organisation string) ([]Project, error) {
	if _, err := s.GetOrganisation(ctx, organisation); err != nil {
		return nil, err
	}
	var all []Project
	q := store.Query{PK: projectRow(organisation, "").PK, Prefix: prefixProject}
	err := list(ctx, s, q, func(rec store.Record, _ presence) error {
		p, err := s.GetProject(ctx, rec.Key.SK[len(prefixProject):])
		if err == nil {
			all = append(all, p)
		}
		return err
	})
	return all, err
}

// Configuration is what can be changed of a project.
type Configuration struct {
	Kind      Kind
	Settings  Settings
	Retention Retention
	Agent     AgentSettings
	Deploy    DeployMode
}

// Check returns CodeInvalid, with the field, for what no project can be set to.
func (c Configuration) Check() error {
	if !slices.Contains(Kinds(), c.Kind) {
		return FieldErrorf("kind", "must be cloud, client-hosted or air-gapped")
	}
	if err := checkSettings(c.Settings); err != nil {
		return err
	}
	if !slices.Contains([]DeployMode{"", DeployAuto, DeployManual}, c.Deploy) {
		return FieldErrorf("deploy", "must be auto or manual")
	}
	if c.Retention.SnapshotDays < 0 {
		return FieldErrorf("retention.snapshotDays", "must not be negative")
	}
	if c.Retention.BundleDays < 0 {
		return FieldErrorf("retention.bundleDays", "must not be negative")
	}
	return c.Agent.check()
}

// branchForm is that of names which every forge takes for a branch.
var branchForm = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*$`)

// maxPrefix is the most bytes of a prefix of branches or titles.
const maxPrefix = 50

// check returns CodeInvalid for settings that no agent can work with.
func (t AgentSettings) check() error {
	if root, err := NormalPaths("agent.root", []string{"/" + t.Root}); t.Root != "" && (err != nil || root[0] != t.Root) {
		return FieldErrorf("agent.root", "must be the path of a folder in the repository, without slashes at its ends")
	}
	if t.Forge != "" && !slices.Contains(ForgeKinds(), t.Forge) {
		return FieldErrorf("agent.forge", "must be one of %s", strings.Join(ForgeKinds(), ", "))
	}
	if t.API != "" {
		if err := checkURL("agent.api", t.API, "https", "http"); err != nil {
			return err
		}
	}
	if p := t.BranchPrefix; p != "" && (len(p) > maxPrefix || !branchForm().MatchString(p+"x")) {
		return FieldErrorf("agent.branchPrefix", "must begin the name of a branch, with at most %d characters", maxPrefix)
	}
	if p := t.TitlePrefix; len(p) > maxPrefix || strings.ContainsFunc(p, unicode.IsControl) {
		return FieldErrorf("agent.titlePrefix", "must have at most %d characters and no line breaks", maxPrefix)
	}
	for field, list := range map[string]string{"agent.labels": t.Labels, "agent.reviewers": t.Reviewers} {
		names := AssignedNames(list)
		if len(names) > MaxAssigned || slices.ContainsFunc(names, func(n string) bool { return len(n) > maxPrefix || strings.ContainsFunc(n, unicode.IsControl) }) {
			return FieldErrorf(field, "must have at most %d names of at most %d characters, separated by commas", MaxAssigned, maxPrefix)
		}
	}
	if _, err := AgentRepositories(t.Repositories); err != nil {
		return err
	}
	if t.MaxTurns < 0 || t.MaxCost < 0 || t.MaxFiles < 0 || t.MaxMonthCost < 0 {
		return FieldErrorf("agent", "limits must not be negative")
	}
	return nil
}

// DeployMode is the project's deploy mode.
func (p Project) DeployMode() DeployMode { return cmp.Or(p.Deploy, DeployAuto) }

// ConfigureProject replaces a project's kind, settings, retention, agent and deploy mode. Exports
// that have started keep the kind and the settings that they started with.
// It returns CodeInvalid for wrong settings and CodeNotFound for an unknown
// project.
func (s *Service) ConfigureProject(ctx context.Context, id string, c Configuration) (Project, error) {
	return s.configureProject(ctx, s.Operator(""), id, c)
}

func (s *Service) configureProject(ctx context.Context, by Caller, id string, c Configuration) (Project, error) {
	if err := c.Check(); err != nil {
		return Project{}, err
	}
	return change(ctx, s, "project", projectKey(id), []string{id}, func(p *Project, b *batch) (bool, error) {
		if p.configuration() == c {
			return false, nil
		}
		s.audit(b, by, p.Organisation, "project.configured", id, configured(p.configuration(), c)...)
		p.Kind, p.Settings, p.Retention, p.Agent, p.Deploy = c.Kind, c.Settings, c.Retention, c.Agent, c.Deploy
		return true, nil
	})
}

func (p Project) configuration() Configuration {
	return Configuration{p.Kind, p.Settings, p.Retention, p.Agent, p.Deploy}
}

// configured lists what differs between two configurations, by the names that
// their fields have in records.
func configured(before, after Configuration) []AuditChange {
	texts := func(c Configuration) map[string]string {
		all := map[string]string{"kind": string(c.Kind), "deploy": string(c.Deploy)}
		for name, part := range map[string]any{"settings": c.Settings, "retention": c.Retention, "agent": c.Agent} {
			var fields map[string]json.RawMessage
			b, _ := json.Marshal(part) // structs of strings, numbers and booleans always encode
			_ = json.Unmarshal(b, &fields)
			for field, raw := range fields {
				text := string(raw) // numbers as they are: as a float64 a million would be 1e+06
				_ = json.Unmarshal(raw, &text)
				all[name+"."+field] = text
			}
		}
		return all
	}
	old, now := texts(before), texts(after)
	names := slices.Collect(maps.Keys(now))
	for name := range old {
		names = append(names, name)
	}
	slices.Sort(names)
	var triples []string
	for _, name := range slices.Compact(names) {
		triples = append(triples, name, old[name], now[name])
	}
	return changed(triples...)
}

// RevokeProject ends a project, frees its domain and removes its credential. Nothing of
// it is live after that. What was published and exported stays until its retention. Ending it again is
// success, and resumes where it was interrupted.
// It returns CodeNotFound for an unknown project.
func (s *Service) RevokeProject(ctx context.Context, id string) (Project, error) {
	return s.revokeProject(ctx, s.Operator(""), id)
}

func (s *Service) revokeProject(ctx context.Context, c Caller, id string) (Project, error) {
	p, err := change(ctx, s, "project", projectKey(id), []string{id}, func(p *Project, b *batch) (bool, error) {
		if !p.RevokedAt.IsZero() {
			// An older release ends a project without ending what is live.
			l, _, err := readOr[liveRecord](ctx, s, liveKey(id))
			if err != nil || l.Move.N == 0 || !l.EndedAt.IsZero() {
				return false, err
			}
			return true, s.endLive(ctx, b, id)
		}
		p.RevokedAt = s.now()
		s.audit(b, c, p.Organisation, "project.ended", id, changed("domain", p.Domain, "")...)
		claim, revision, err := readOr[domainClaim](ctx, s, domainKey(p.Domain))
		if err != nil {
			return false, err
		}
		if claim.Project == p.ID {
			b.remove(domainKey(p.Domain), revision)
		}
		return true, s.endLive(ctx, b, id)
	})
	if err == nil {
		err = s.forgetCredential(ctx, p)
	}
	return p, err
}

// site finds the project that a caller's domain belongs to. A domain that is
// nobody's and one that is another organisation's look the same.
func (s *Service) site(ctx context.Context, c Caller, domain string) (Project, domainClaim, int64, error) {
	if err := CheckDomain("domain", domain); err != nil {
		return Project{}, domainClaim{}, 0, err
	}
	gone := Errorf(CodeDomainNotFound, "domain not found")
	claim, revision, err := read[domainClaim](ctx, s, domainKey(domain))
	if errors.Is(err, store.ErrNotFound) || err == nil && (claim.Organisation != c.OrganisationID || c.outside(domain)) {
		return Project{}, domainClaim{}, 0, gone
	}
	if err != nil {
		return Project{}, domainClaim{}, 0, err
	}
	p, _, err := read[Project](ctx, s, projectKey(claim.Project))
	if errors.Is(err, store.ErrNotFound) || err == nil && !p.RevokedAt.IsZero() {
		return Project{}, domainClaim{}, 0, gone
	}
	return p, claim, revision, err
}
