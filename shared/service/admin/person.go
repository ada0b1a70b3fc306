package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Person is somebody for whom an identity provider vouches.
type Person struct {
	ID string `json:"id"`
	// Address is the mail address at the last sign-in; it may not be verified.
	Address   string    `json:"address,omitempty"`
	Name      string    `json:"name,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// Identity describes who signs in, as an identity provider vouches for it.
type Identity struct {
	// Issuer and Subject together name a person for good.
	Issuer, Subject string
	Address         string
	// Verified reports whether the provider has made sure that the address is the
	// person's.
	Verified bool
	Name     string
	// Roles are those that the person's groups at the provider have in
	// organisations, by their ids; nil for none.
	Roles map[string]Role
}

// Membership is a person's role in an organisation.
type Membership struct {
	Organisation string    `json:"organisation"`
	Person       string    `json:"person"`
	Address      string    `json:"address,omitempty"` // the one that was invited
	Role         Role      `json:"role"`
	Since        time.Time `json:"since"`
	// Groups reports that the membership comes of the person's groups at the
	// provider, and lasts as long as they say so at each sign-in.
	Groups bool `json:"groups,omitempty"`
}

// Invitation waits for somebody who signs in with an address.
type Invitation struct {
	Organisation string    `json:"organisation"`
	Address      string    `json:"address"` // in lower case
	Role         Role      `json:"role"`
	CreatedAt    time.Time `json:"createdAt"`
	ExpiresAt    time.Time `json:"expiresAt"`
}

const (
	// invitationLife is how long an invitation waits.
	invitationLife = 14 * 24 * time.Hour
	// maxAddress is the most bytes of a mail address (RFC 5321).
	maxAddress = 254
)

// owners counts an organisation's owners: there is always one after the first.
type owners struct {
	Owners int `json:"owners"`
}

func personKey(id string) store.Key { return store.Key{PK: "person#" + id, SK: skPerson} }
func personRow(id, org string) store.Key {
	return store.Key{PK: "person#" + id, SK: prefixMember + org}
}
func memberKey(org, person string) store.Key {
	return store.Key{PK: "org#" + org, SK: prefixMember + person}
}
func ownersKey(org string) store.Key { return store.Key{PK: "org#" + org, SK: "owners"} }
func identityKey(id Identity) store.Key {
	return store.Key{PK: "identity#" + digestOf([]string{id.Issuer, id.Subject}), SK: "identity"}
}
func invitationKey(address, org string) store.Key {
	return store.Key{PK: "invitation#" + addressDigest(address), SK: org}
}
func invitationRow(org, address string) store.Key {
	return store.Key{PK: "org#" + org, SK: prefixInvitation + addressDigest(address)}
}

func addressDigest(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])
}

// normalAddress returns a mail address in the form in which invitations are kept.
func normalAddress(address string) (string, error) {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" || len(address) > maxAddress || !isASCII(address) {
		return "", FieldErrorf("address", "must be a mail address such as person@example.com")
	}
	return strings.ToLower(address), nil
}

func checkRole(role Role) error {
	if !slices.Contains(Roles(), role) {
		return FieldErrorf("role", "must be owner, admin, member or viewer")
	}
	return nil
}

// Invite invites whoever has an address to a caller's organisation, or changes the
// role of an invitation that waits. It sends no mail.
// It returns CodeRole, CodeScope, CodeInvalid, or CodeNotFound for an organisation
// that has ended.
func (s *Service) Invite(ctx context.Context, c Caller, address string, role Role) (Invitation, error) {
	if err := c.May(ActionMembers); err != nil {
		return Invitation{}, err
	}
	address, err := normalAddress(address)
	if err != nil {
		return Invitation{}, err
	}
	if err := checkRole(role); err != nil {
		return Invitation{}, err
	}
	if _, err := s.activeOrganisation(ctx, c.OrganisationID); err != nil {
		return Invitation{}, err
	}
	now := s.now()
	in := Invitation{Organisation: c.OrganisationID, Address: address, Role: role, CreatedAt: now, ExpiresAt: now.Add(invitationLife)}
	err = s.transact(ctx, func() error {
		old, revision, err := readOr[Invitation](ctx, s, invitationKey(address, in.Organisation))
		if err != nil {
			return err
		}
		_, rowRevision, err := readOr[Invitation](ctx, s, invitationRow(in.Organisation, address))
		if err != nil {
			return err
		}
		var b batch
		b.put(invitationKey(address, in.Organisation), revision, in).ExpiresAt = in.ExpiresAt
		b.put(invitationRow(in.Organisation, address), rowRevision, in).ExpiresAt = in.ExpiresAt
		s.audit(&b, c, in.Organisation, "member.invited", address, changed("role", string(old.Role), string(role))...)
		return s.write(ctx, &b)
	})
	return in, err
}

// Withdraw takes an invitation back. One that is not there is CodeNotFound.
// It returns CodeRole, CodeScope or CodeInvalid, too.
func (s *Service) Withdraw(ctx context.Context, c Caller, address string) error {
	if err := c.May(ActionMembers); err != nil {
		return err
	}
	address, err := normalAddress(address)
	if err != nil {
		return err
	}
	return s.transact(ctx, func() error {
		_, revision, err := find[Invitation](ctx, s, "invitation", invitationKey(address, c.OrganisationID))
		if err != nil {
			return err
		}
		var b batch
		b.remove(invitationKey(address, c.OrganisationID), revision)
		b.remove(invitationRow(c.OrganisationID, address), 0)
		s.audit(&b, c, c.OrganisationID, "member.uninvited", address)
		return s.write(ctx, &b)
	})
}

// SignIn returns the person of an identity, and makes one at the first sign-in. An
// identity whose address is verified claims the invitations of that address, and
// memberships that come of groups become what its roles are. The audit log has
// from as where the request came from; the zero address is nowhere.
// It returns CodeInvalid for an identity without issuer or subject, and the
// store's errors.
func (s *Service) SignIn(ctx context.Context, id Identity, from netip.Addr) (Person, error) {
	if id.Issuer == "" || id.Subject == "" {
		return Person{}, FieldErrorf("identity", "has no issuer or no subject")
	}
	address, err := normalAddress(id.Address)
	if err != nil { // it invites nobody, and nobody is shut out for it
		address, id.Verified = "", false
	}
	fresh := s.opt.NewID(idPerson)
	var p Person
	err = s.transact(ctx, func() error {
		known, revision, err := readOr[personRef](ctx, s, identityKey(id))
		if err != nil {
			return err
		}
		var b batch
		if revision == 0 {
			known = personRef{fresh}
			b.put(identityKey(id), 0, known)
		}
		before, revision, err := readOr[Person](ctx, s, personKey(known.Person))
		if err != nil {
			return err
		}
		if p = before; revision == 0 {
			p = Person{ID: known.Person, CreatedAt: s.now()}
		}
		p.Address, p.Name = address, cutText(id.Name, maxName)
		if p == before {
			return nil
		}
		b.put(personKey(p.ID), revision, p)
		return s.write(ctx, &b)
	})
	if err != nil {
		return p, err
	}
	c := Caller{Person: p.ID, Address: from}
	if id.Verified {
		waiting, err := all[Invitation](ctx, s, store.Query{PK: invitationKey(address, "").PK, Limit: MaxPage})
		if err != nil {
			return p, err
		}
		for _, in := range waiting {
			if err := s.claim(ctx, c, in); err != nil {
				return p, err
			}
		}
	}
	return p, s.followGroups(ctx, c, id.Roles)
}

// personRef names the person of an identity.
type personRef struct {
	Person string `json:"person"`
}

// claim makes a member of a person who was invited. One who is a member keeps the
// role.
func (s *Service) claim(ctx context.Context, c Caller, in Invitation) error {
	return s.transact(ctx, func() error {
		in, revision, err := read[Invitation](ctx, s, invitationKey(in.Address, in.Organisation))
		if errors.Is(err, store.ErrNotFound) || err == nil && !s.now().Before(in.ExpiresAt) {
			return nil
		}
		if err != nil {
			return err
		}
		_, member, err := readOr[Membership](ctx, s, memberKey(in.Organisation, c.Person))
		if err != nil {
			return err
		}
		var b batch
		b.remove(invitationKey(in.Address, in.Organisation), revision)
		b.remove(invitationRow(in.Organisation, in.Address), 0)
		if member == 0 {
			m := Membership{Organisation: in.Organisation, Person: c.Person, Address: in.Address, Role: in.Role, Since: s.now()}
			b.put(memberKey(m.Organisation, c.Person), 0, m)
			b.put(personRow(c.Person, m.Organisation), 0, presence{})
			if err := s.countOwners(ctx, &b, m.Organisation, "", m.Role); err != nil {
				return err
			}
			s.audit(&b, c, m.Organisation, "member.joined", c.Person, changed("role", "", string(m.Role), "address", "", m.Address)...)
		}
		return s.write(ctx, &b)
	})
}

// countOwners adds to a transaction what the change of a role means for the number
// of owners, which never falls to none: CodeLastOwner.
func (s *Service) countOwners(ctx context.Context, b *batch, org string, before, after Role) error {
	if (before == RoleOwner) == (after == RoleOwner) {
		return nil
	}
	n, revision, err := readOr[owners](ctx, s, ownersKey(org))
	if err != nil {
		return err
	}
	if n.Owners++; before == RoleOwner {
		if n.Owners -= 2; n.Owners < 1 {
			return Errorf(CodeLastOwner, "an organisation needs an owner; make somebody else one first")
		}
	}
	b.put(ownersKey(org), revision, n)
	return nil
}

// SetRole changes the role of a member of a caller's organisation.
// It returns CodeRole, CodeScope, CodeInvalid, CodeNotFound for somebody who is no
// member, or CodeLastOwner.
func (s *Service) SetRole(ctx context.Context, c Caller, person string, role Role) (Membership, error) {
	if err := c.May(ActionMembers); err != nil {
		return Membership{}, err
	}
	if err := checkRole(role); err != nil {
		return Membership{}, err
	}
	return change(ctx, s, "member", memberKey(c.OrganisationID, person), []string{person}, func(m *Membership, b *batch) (bool, error) {
		before := m.Role
		if before == role {
			return false, nil
		}
		m.Role = role
		s.audit(b, c, m.Organisation, "member.role", person, changed("role", string(before), string(role))...)
		return true, s.countOwners(ctx, b, m.Organisation, before, role)
	})
}

// RemoveMember ends the membership of a person in a caller's organisation. People
// may end their own.
// It returns CodeRole, CodeScope, CodeNotFound for somebody who is not a member, or
// CodeLastOwner.
func (s *Service) RemoveMember(ctx context.Context, c Caller, person string) error {
	if c.Person == "" || c.Person != person {
		if err := c.May(ActionMembers); err != nil {
			return err
		}
	}
	return s.transact(ctx, func() error {
		m, revision, err := find[Membership](ctx, s, "member", memberKey(c.OrganisationID, person), person)
		if err != nil {
			return err
		}
		var b batch
		b.remove(memberKey(m.Organisation, person), revision)
		b.remove(personRow(person, m.Organisation), 0)
		s.audit(&b, c, m.Organisation, "member.removed", person, changed("role", string(m.Role), "")...)
		if err := s.countOwners(ctx, &b, m.Organisation, m.Role, ""); err != nil {
			return err
		}
		return s.write(ctx, &b)
	})
}

// PersonCaller returns a person as a caller of an organisation: CodeNotFound for
// somebody who is not a member, and where the organisation has ended. It reads the
// membership anew, so that one who was removed is nobody from that moment.
func (s *Service) PersonCaller(ctx context.Context, person, organisation string) (Caller, error) {
	m, _, err := find[Membership](ctx, s, "organisation", memberKey(organisation, person), organisation, person)
	if err != nil {
		return Caller{}, err
	}
	o, err := s.activeOrganisation(ctx, organisation)
	if err != nil {
		return Caller{}, err
	}
	return Caller{OrganisationID: organisation, Plan: o.Plan, Person: person, Role: m.Role}, nil
}

// MembershipsOf returns a page of the ids of organisations that a person is a
// member of, and the cursor of the next page.
// It returns CodeInvalid.
func (s *Service) MembershipsOf(ctx context.Context, person, cursor string, limit int) ([]string, string, error) {
	if !validID(person) {
		return nil, "", notFound("person")
	}
	var orgs []string
	next, err := s.somePage(ctx, personRow(person, ""), cursor, limit, func(rec store.Record) error {
		orgs = append(orgs, rec.Key.SK[len(prefixMember):])
		return nil
	})
	return orgs, next, err
}

// Members returns a page of the members of a caller's organisation, and the cursor
// of the next page, which is empty at the end.
// It returns CodeRole, CodeScope or CodeInvalid.
func (s *Service) Members(ctx context.Context, c Caller, cursor string, limit int) ([]Membership, string, error) {
	return ownPage[Membership](ctx, s, c, memberKey(c.OrganisationID, ""), cursor, limit)
}

// Invitations returns a page of the invitations of a caller's organisation that
// wait, and the cursor of the next page, which is empty at the end.
// It returns CodeRole, CodeScope or CodeInvalid.
func (s *Service) Invitations(ctx context.Context, c Caller, cursor string, limit int) ([]Invitation, string, error) {
	waiting, next, err := ownPage[Invitation](ctx, s, c, store.Key{PK: "org#" + c.OrganisationID, SK: prefixInvitation}, cursor, limit)
	waiting = slices.DeleteFunc(waiting, func(in Invitation) bool { return !s.now().Before(in.ExpiresAt) })
	return waiting, next, err
}

// ownPage returns a page of what a caller's organisation has, for whoever may read.
func ownPage[T any](ctx context.Context, s *Service, c Caller, prefix store.Key, cursor string, limit int) ([]T, string, error) {
	if err := c.May(ActionRead); err != nil {
		return nil, "", err
	}
	page := []T{}
	next, err := s.somePage(ctx, prefix, cursor, limit, func(rec store.Record) error {
		var v T
		err := json.Unmarshal(rec.Value, &v)
		page = append(page, v)
		return err
	})
	return page, next, err
}

// somePage calls fn with a page of the records of a partition whose sort keys begin
// as prefix's does. A cursor is the rest of the last one's.
func (s *Service) somePage(ctx context.Context, prefix store.Key, cursor string, limit int, fn func(store.Record) error) (next string, err error) {
	limit, err = checkPage(limit)
	if err != nil {
		return "", err
	}
	q := store.Query{PK: prefix.PK, Prefix: prefix.SK, Limit: limit}
	if cursor != "" {
		if !validID(cursor) {
			return "", FieldErrorf("cursor", "is not one that this list returned")
		}
		q.Cursor = store.EncodeCursor(q, store.Record{Key: store.Key{PK: prefix.PK, SK: prefix.SK + cursor}})
	}
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return "", err
	}
	for _, rec := range page.Records {
		if err := fn(rec); err != nil {
			return "", err
		}
		next = rec.Key.SK[len(prefix.SK):]
	}
	if page.Cursor == "" {
		next = ""
	}
	return next, nil
}
