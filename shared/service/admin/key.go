package admin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Scope is a right that a key has. One does not include the other.
type Scope string

// The scopes.
const (
	ScopeRead  Scope = "read"  // GET
	ScopeWrite Scope = "write" // everything else
	// ScopeManage is for what decides about other systems: webhooks, whatever the
	// method.
	ScopeManage Scope = "manage"
	// ScopeBundle is for links to the bundles of one domain's exports and nothing
	// else, so that a server may hold such a key. It is a key's only scope.
	ScopeBundle Scope = "bundle"
	// ScopeDeploy is for what is live: exports that go live, promotes and roll backs.
	ScopeDeploy Scope = "deploy"
)

// Scopes lists the scopes.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeWrite, ScopeManage, ScopeDeploy, ScopeBundle} }

// Key is an admin key as it is stored and listed: everything but the secret.
type Key struct {
	ID           string  `json:"id"`
	Organisation string  `json:"organisation"`
	Name         string  `json:"name"`
	Scopes       []Scope `json:"scopes"`
	// AllowedAddresses are the networks that the key may be used from; none
	// means any.
	AllowedAddresses []netip.Prefix `json:"allowedAddresses,omitempty"`
	// Domain is the only one that the key is for; empty for all of the organisation.
	Domain    string    `json:"domain,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// CreatedBy is the person who made it, empty for an operator, and Tail the last
	// letters of the key, by which people tell keys apart. Keys of earlier releases
	// have neither.
	CreatedBy string `json:"createdBy,omitempty"`
	Tail      string `json:"tail,omitempty"`
	// ExpiresAt is the key's end, RevokedAt when an operator ended it; zero
	// for never and not yet.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	// UsedAt is the hour in which the key was last used, a few minutes late; zero
	// for never, and where a key is not read from a list.
	UsedAt time.Time `json:"-"`
	// Digest is the SHA-256 of the whole key in hex: the key itself is not kept.
	Digest string `json:"digest"`
}

// IsKey reports whether an id is a key's.
func IsKey(id string) bool { return strings.HasPrefix(id, idKey+"_") }

// public is the key without its digest.
func (k Key) public() Key {
	k.Digest = ""
	return k
}

// KeyRequest asks for a new key.
type KeyRequest struct {
	Organisation string
	Name         string
	// Scopes; none means read and write.
	Scopes           []Scope
	AllowedAddresses []netip.Prefix
	// Domain is the only one that the key is for; empty for all.
	Domain string
	// ExpiresAt, if not zero, must be in the future.
	ExpiresAt time.Time
}

// Caller is who made a request in the name of an organisation: one of its keys, a
// person who is a member, or an operator. May says what it may do.
type Caller struct {
	OrganisationID string
	Plan           Plan
	// KeyID is the key, Scopes what it may do, and Domain the only one that it is
	// for; empty for all.
	KeyID  string
	Scopes []Scope
	Domain string
	// Person is the id of a person, whom PersonCaller returns, and Role what that
	// person is in the organisation.
	Person string
	Role   Role
	// Operator is the name of an operator, who may do everything.
	Operator string
	// Address is where the request came from; zero where that is not known.
	Address netip.Addr
}

// outside reports whether a domain is not one that the caller is for: to such a key
// it is as if it were another organisation's.
func (c Caller) outside(domain string) bool { return c.Domain != "" && c.Domain != domain }

// keyEntry is the row by which an organisation's keys are listed.
type keyEntry struct {
	Digest string `json:"digest"`
	// UsedAt is the hour in which the key was last used, as far as calls are
	// settled. It is here and not with the key, which requests read.
	UsedAt time.Time `json:"usedAt,omitzero"`
}

const (
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretLength   = 32 // letters of base62: 190 bits
	tailLength     = 4  // letters of the checksum, which say nothing of the secret alone
	checksumLength = 6  // letters of base62 that hold a CRC-32
	maxAddresses   = 100
	maxKeysPerHour = 10   // that people may make in an organisation
	lastYear       = 9999 // RFC 3339 has four digits for a year
)

// newSecret makes a key: prefix, underscore, secret, checksum.
func newSecret(prefix string) string {
	secret := make([]byte, 0, secretLength)
	var b [2 * secretLength]byte
	for len(secret) < secretLength {
		rand.Read(b[:])
		for _, c := range b {
			// 248 is the greatest multiple of 62 in a byte: all letters equally likely.
			if c < 248 && len(secret) < secretLength {
				secret = append(secret, base62[c%62])
			}
		}
	}
	head := prefix + "_" + string(secret)
	return head + checksum(head)
}

// checksum distinguishes a mistyped key from a key without asking the store.
func checksum(head string) string {
	n := crc32.ChecksumIEEE([]byte(head))
	var b [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		b[i] = base62[n%62]
		n /= 62
	}
	return string(b[:])
}

// wellFormed reports whether a string has the form of a key, checksum included.
func wellFormed(prefix, key string) bool {
	secret, ok := strings.CutPrefix(key, prefix+"_")
	if !ok || len(secret) != secretLength+checksumLength || strings.Trim(secret, base62) != "" {
		return false
	}
	head := key[:len(key)-checksumLength]
	return checksum(head) == key[len(head):]
}

func keyDigest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// CreateKey makes an admin key for an organisation. The second result is the
// key itself: it is returned here and never again.
// It returns CodeInvalid, or CodeNotFound for an unknown or ended organisation.
func (s *Service) CreateKey(ctx context.Context, in KeyRequest) (Key, string, error) {
	return s.createKey(ctx, s.Operator(in.Organisation), in)
}

func (s *Service) createKey(ctx context.Context, c Caller, in KeyRequest) (Key, string, error) {
	if err := checkName("name", in.Name); err != nil {
		return Key{}, "", err
	}
	scopes := []Scope{ScopeRead, ScopeWrite}
	if len(in.Scopes) > 0 {
		scopes = nil
		for i, sc := range in.Scopes {
			if !slices.Contains(Scopes(), sc) {
				return Key{}, "", FieldErrorf(indexed("scopes", i), "must be read, write, manage, deploy or bundle")
			}
			if !slices.Contains(scopes, sc) {
				scopes = append(scopes, sc)
			}
		}
	}
	if slices.Contains(scopes, ScopeBundle) {
		switch {
		case len(scopes) > 1:
			return Key{}, "", FieldErrorf("scopes", "a key with the scope bundle has no other")
		case in.Domain == "":
			return Key{}, "", FieldErrorf("domain", "a key with the scope bundle is for one domain: name it")
		}
	}
	if len(in.AllowedAddresses) > maxAddresses {
		return Key{}, "", FieldErrorf("allowedAddresses", "must be at most %d networks", maxAddresses)
	}
	var networks []netip.Prefix
	for i, p := range in.AllowedAddresses {
		if !p.IsValid() {
			return Key{}, "", FieldErrorf(indexed("allowedAddresses", i), "is not a network")
		}
		networks = append(networks, p.Masked())
	}
	now := s.now()
	if !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now) {
		return Key{}, "", FieldErrorf("expiresAt", "must be in the future")
	}
	if in.ExpiresAt.UTC().Year() > lastYear {
		return Key{}, "", FieldErrorf("expiresAt", "must not be after the year %d", lastYear)
	}
	if _, err := s.activeOrganisation(ctx, in.Organisation); err != nil {
		return Key{}, "", err
	}
	if err := s.checkKeyDomain(ctx, in.Organisation, in.Domain, scopes); err != nil {
		return Key{}, "", err
	}
	secret := newSecret(s.opt.KeyPrefix)
	k := Key{
		ID: s.opt.NewID(idKey), Organisation: in.Organisation, Name: in.Name, Scopes: scopes, AllowedAddresses: networks, Domain: in.Domain,
		CreatedAt: now, CreatedBy: c.Person, Tail: secret[len(secret)-tailLength:], Digest: keyDigest(secret),
	}
	if !in.ExpiresAt.IsZero() {
		k.ExpiresAt = in.ExpiresAt.UTC()
	}
	err := s.transact(ctx, func() error {
		var b batch
		if c.Operator == "" {
			if err := s.countKey(ctx, &b, k); err != nil {
				return err
			}
		}
		b.put(keyKey(k.Digest), 0, k)
		b.put(keyRow(k.Organisation, k.ID), 0, keyEntry{Digest: k.Digest})
		s.audit(&b, c, k.Organisation, "key.created", k.ID, changed("name", "", k.Name, "scopes", "", joined(k.Scopes),
			"allowedAddresses", "", joined(k.AllowedAddresses), "domain", "", k.Domain, "expiresAt", "", timeText(k.ExpiresAt))...)
		if err := s.notify(ctx, &b, k.Organisation, EventKeyCreated, k.ID, k.public()); err != nil {
			return err
		}
		return s.write(ctx, &b)
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// checkKeyDomain returns CodeInvalid for a domain that no key of an organisation with
// such scopes can be for.
func (s *Service) checkKeyDomain(ctx context.Context, organisation, domain string, scopes []Scope) error {
	if domain == "" {
		return nil
	}
	_, _, _, err := s.site(ctx, Caller{OrganisationID: organisation}, domain)
	switch {
	case CodeOf(err) == CodeDomainNotFound:
		return FieldErrorf("domain", "no project of the organisation has it")
	case err == nil && slices.Contains(scopes, ScopeManage):
		return FieldErrorf("domain", "a key with the scope manage is for all domains")
	}
	return err
}

// keyHour counts the keys that people made in an hour of the clock.
type keyHour struct {
	Hour time.Time `json:"hour"`
	Made int       `json:"made"`
}

// countKey adds to a transaction that people made a key, as long as they made
// fewer than maxKeysPerHour in this hour: CodeTooManyKeys.
func (s *Service) countKey(ctx context.Context, b *batch, k Key) error {
	key := store.Key{PK: "org#" + k.Organisation, SK: skKeyHour}
	made, revision, err := readOr[keyHour](ctx, s, key)
	if err != nil {
		return err
	}
	if hour := k.CreatedAt.Truncate(time.Hour); !made.Hour.Equal(hour) {
		made = keyHour{Hour: hour}
	}
	if made.Made++; made.Made > maxKeysPerHour {
		return Errorf(CodeTooManyKeys, "an organisation can make %d admin keys in an hour", maxKeysPerHour).
			After(made.Hour.Add(time.Hour).Sub(k.CreatedAt))
	}
	b.put(key, revision, made)
	return nil
}

// ListKeys returns all keys of an organisation, also those that have ended.
// It returns CodeNotFound for an unknown organisation.
func (s *Service) ListKeys(ctx context.Context, organisation string) ([]Key, error) {
	if _, err := s.GetOrganisation(ctx, organisation); err != nil {
		return nil, err
	}
	var all []Key
	q := store.Query{PK: keyRow(organisation, "").PK, Prefix: prefixKeyRow}
	err := list(ctx, s, q, func(_ store.Record, row keyEntry) error {
		k, err := s.keyOf(ctx, row)
		if err == nil {
			all = append(all, k)
		}
		return err
	})
	return all, err
}

// keyOf reads the key of a row.
func (s *Service) keyOf(ctx context.Context, row keyEntry) (Key, error) {
	k, _, err := read[Key](ctx, s, keyKey(row.Digest))
	k.UsedAt = row.UsedAt
	return k, err
}

// RevokeKey ends a key at once. Ending it again is success. It returns
// CodeNotFound if the organisation has no such key.
func (s *Service) RevokeKey(ctx context.Context, organisation, id string) (Key, error) {
	return s.revokeKey(ctx, s.Operator(organisation), id)
}

func (s *Service) revokeKey(ctx context.Context, c Caller, id string) (Key, error) {
	organisation := c.OrganisationID
	row, _, err := find[keyEntry](ctx, s, "key", keyRow(organisation, id), organisation, id)
	if err != nil {
		return Key{}, err
	}
	return change(ctx, s, "key", keyKey(row.Digest), nil, func(k *Key, b *batch) (bool, error) {
		if !k.RevokedAt.IsZero() {
			return false, nil
		}
		k.RevokedAt = s.now()
		s.audit(b, c, organisation, "key.revoked", k.ID, changed("name", k.Name, "")...)
		return true, s.notify(ctx, b, k.Organisation, EventKeyRevoked, k.ID, k.public())
	})
}

// Authenticate returns the caller of a request. Its key must have one of the
// scopes. Every request is checked against the store: a key that was revoked is
// refused from that moment.
//
// The errors are CodeUnauthorized and CodeKeyExpired (nobody we know), then
// CodeAddress and CodeScope; with the latter two the Caller is filled, for the
// log.
func (s *Service) Authenticate(ctx context.Context, authorization string, addr netip.Addr, scopes ...Scope) (Caller, error) {
	scheme, key, _ := strings.Cut(authorization, " ")
	key = strings.TrimSpace(key)
	switch {
	case authorization == "":
		return Caller{}, Errorf(CodeUnauthorized, "an admin key is required, as Authorization: Bearer <key>")
	case !strings.EqualFold(scheme, "Bearer") || !wellFormed(s.opt.KeyPrefix, key):
		return Caller{}, Errorf(CodeUnauthorized, "this is not a valid admin key")
	}
	digest := keyDigest(key)
	k, _, err := read[Key](ctx, s, keyKey(digest))
	if errors.Is(err, store.ErrNotFound) || err == nil && subtle.ConstantTimeCompare([]byte(k.Digest), []byte(digest)) != 1 {
		return Caller{}, Errorf(CodeUnauthorized, "this is not a valid admin key")
	}
	if err != nil {
		return Caller{}, err
	}
	if !k.RevokedAt.IsZero() {
		return Caller{}, Errorf(CodeUnauthorized, "this admin key was revoked")
	}
	if !k.ExpiresAt.IsZero() && !s.now().Before(k.ExpiresAt) {
		return Caller{}, Errorf(CodeKeyExpired, "this admin key has expired")
	}
	o, _, err := read[Organisation](ctx, s, organisationKey(k.Organisation))
	if err != nil {
		return Caller{}, err
	}
	if !o.RevokedAt.IsZero() {
		return Caller{}, Errorf(CodeUnauthorized, "the organisation of this admin key was ended")
	}
	c := Caller{OrganisationID: k.Organisation, KeyID: k.ID, Plan: o.Plan, Scopes: k.Scopes, Domain: k.Domain, Address: addr.Unmap()}
	if !allowed(k.AllowedAddresses, addr) {
		return c, Errorf(CodeAddress, "this admin key may not be used from this address")
	}
	if !slices.ContainsFunc(scopes, func(s Scope) bool { return slices.Contains(k.Scopes, s) }) {
		return c, lacks(scopes...)
	}
	return c, nil
}

// lacks is the error for a key with none of the scopes.
func lacks(scopes ...Scope) error {
	var names []string
	for _, s := range scopes {
		names = append(names, strconv.Quote(string(s)))
	}
	return Errorf(CodeScope, "this admin key lacks the scope %s", strings.Join(names, " or "))
}

func allowed(networks []netip.Prefix, addr netip.Addr) bool {
	if len(networks) == 0 {
		return true
	}
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// RequirePlan refuses callers whose organisation has a lower plan than p.
func RequirePlan(c Caller, p Plan) error {
	if slices.Index(plans, c.Plan) < slices.Index(plans, p) {
		return Errorf(CodePlan, "this needs the %s plan", p)
	}
	return nil
}
