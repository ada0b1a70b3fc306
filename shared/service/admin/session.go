package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Session is a person's sign-in on one browser. Who has its token is the person;
// the token itself is not kept.
type Session struct {
	// ID names the session to its person; it says nothing of the token.
	ID     string `json:"id"`
	Person string `json:"person"`
	// Organisation is the one that was looked at last; empty before the first.
	Organisation string `json:"organisation,omitempty"`
	// SignedInAt is the beginning, ProvedAt when the person proved who they are,
	// which may be earlier, SeenAt the last request, to a few minutes, and ExpiresAt
	// the end, if no request comes before it.
	SignedInAt time.Time `json:"signedInAt"`
	ProvedAt   time.Time `json:"provedAt"`
	SeenAt     time.Time `json:"seenAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
	// Address and Agent are where it began: the client's address and what its
	// browser calls itself.
	Address string `json:"address,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// NoAuthTime says that a fresh sign-in was asked for and the provider did not say
	// when it was.
	NoAuthTime bool `json:"noAuthTime,omitempty"`
	// Digest is the SHA-256 of the token in hex.
	Digest string `json:"digest"`
}

const (
	sessionIdle = 12 * time.Hour     // without a request
	sessionLife = 7 * 24 * time.Hour // at most, however much it is used
	// sessionPace is how often a session's last request is noted: not each
	// request is worth a write.
	sessionPace = 5 * time.Minute
	// recentSignIn is how old a sign-in may be for what gives others power.
	recentSignIn = 15 * time.Minute
	maxSessions  = 20 // of a person; the oldest make room
	maxAgent     = 200
	flowLife     = 10 * time.Minute
	linkLife     = time.Minute // of a link that signs in
	signInSpan   = 10 * time.Minute
	maxSignIns   = 30 // of an address within signInSpan

	skSession     = "session"
	skFlow        = "flow"
	skSignInLink  = "link"
	skSignIns     = "signins"
	prefixSession = "session#"
)

func sessionKey(token string) store.Key    { return digestedKey("session#", token, skSession) }
func flowKey(token string) store.Key       { return digestedKey("flow#", token, skFlow) }
func signInLinkKey(token string) store.Key { return digestedKey("link#", token, skSignInLink) }

// digestedKey is the key of what only a secret leads to.
func digestedKey(prefix, secret, sk string) store.Key {
	return store.Key{PK: prefix + keyDigest(secret), SK: sk}
}

func sessionRow(person, id string) store.Key {
	return store.Key{PK: "person#" + person, SK: prefixSession + id}
}

func errNoSession() *Error { return Errorf(CodeUnauthorized, "sign in first") }

// Recent reports whether the sign-in is so fresh that keys and owners may be made.
func (s *Service) Recent(sess Session) bool { return s.now().Sub(sess.ProvedAt) <= recentSignIn }

// NewSession is how a session begins.
type NewSession struct {
	Person string
	// ProvedAt is when the person proved who they are; zero for now.
	ProvedAt time.Time
	// NoAuthTime is copied to Session.
	NoAuthTime bool
	Address    netip.Addr
	Agent      string
	// Old is the token that the browser had before, if any.
	Old string
}

// BeginSession begins a session of a person who has just signed in, and ends the
// one of an old token, if there is any: a token that somebody knew before the
// sign-in is worth nothing after it. The first result is the new token, which is
// returned here and never again.
// It returns CodeNotFound for an unknown person.
func (s *Service) BeginSession(ctx context.Context, in NewSession) (string, Session, error) {
	if _, err := s.GetPerson(ctx, in.Person); err != nil {
		return "", Session{}, err
	}
	if err := s.EndSession(ctx, in.Old); err != nil {
		return "", Session{}, err
	}
	now := s.now()
	token := newSecret("session")
	sess := Session{
		ID: timePart(now) + s.opt.NewID("")[1:], Person: in.Person, SignedInAt: now, ProvedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionIdle),
		NoAuthTime: in.NoAuthTime, Agent: cutText(in.Agent, maxAgent), Digest: keyDigest(token),
	}
	if !in.ProvedAt.IsZero() && in.ProvedAt.Before(now) {
		sess.ProvedAt = in.ProvedAt.UTC()
	}
	if in.Address.IsValid() {
		sess.Address = in.Address.Unmap().String()
	}
	have, err := s.Sessions(ctx, in.Person)
	if err != nil {
		return "", Session{}, err
	}
	for i := maxSessions - 1; i < len(have); i++ { // the latest are first
		if err := s.endSession(ctx, have[i]); err != nil {
			return "", Session{}, err
		}
	}
	var b batch
	b.put(sessionKey(token), 0, sess).ExpiresAt = sess.end()
	b.put(sessionRow(in.Person, sess.ID), 0, keyEntry{Digest: sess.Digest}).ExpiresAt = sess.end()
	return token, sess, s.write(ctx, &b)
}

// end is when a session ends however much it is used.
func (sess Session) end() time.Time { return sess.SignedInAt.Add(sessionLife) }

// Session returns the session of a token: CodeUnauthorized where there is none, or
// none any more. It reads the store each time, so that a session that has ended is
// nobody's from that moment.
func (s *Service) Session(ctx context.Context, token string) (Session, error) {
	if token == "" || len(token) > MaxID {
		return Session{}, errNoSession()
	}
	sess, revision, err := read[Session](ctx, s, sessionKey(token))
	now := s.now()
	if errors.Is(err, store.ErrNotFound) || err == nil && !now.Before(sess.ExpiresAt) {
		return Session{}, errNoSession()
	}
	if err != nil || now.Sub(sess.SeenAt) < sessionPace {
		return sess, err
	}
	sess.SeenAt, sess.ExpiresAt = now, now.Add(sessionIdle)
	if sess.ExpiresAt.After(sess.end()) {
		sess.ExpiresAt = sess.end()
	}
	if err := s.putSession(ctx, revision, sess); isConflict(err) {
		return s.Session(ctx, token) // it has ended, or another request noted it
	} else if err != nil {
		return Session{}, err
	}
	return sess, nil
}

// SessionCaller returns the person of a session as a caller of an organisation,
// and keeps that this one was looked at last; an empty organisation is the one
// that was. Losing the membership of that one ends the session: CodeUnauthorized.
// For any other organisation that the person is no member of, it is CodeNotFound.
func (s *Service) SessionCaller(ctx context.Context, token, organisation string) (Session, Caller, error) {
	sess, err := s.Session(ctx, token)
	if err != nil {
		return Session{}, Caller{}, err
	}
	if organisation == "" {
		organisation = sess.Organisation
	}
	c, err := s.PersonCaller(ctx, sess.Person, organisation)
	switch {
	case CodeOf(err) == CodeNotFound && organisation == sess.Organisation && organisation != "":
		if err := s.endSession(ctx, sess); err != nil {
			return Session{}, Caller{}, err
		}
		return Session{}, Caller{}, Errorf(CodeUnauthorized, "you are no longer a member of the organisation; sign in again")
	case err != nil || organisation == sess.Organisation:
		return sess, c, err
	}
	err = s.transact(ctx, func() error {
		var revision int64
		if sess, revision, err = read[Session](ctx, s, sessionKey(token)); errors.Is(err, store.ErrNotFound) {
			return errNoSession()
		} else if err != nil {
			return err
		}
		sess.Organisation = organisation
		return s.putSession(ctx, revision, sess)
	})
	return sess, c, err
}

// putSession writes a session, which the store lets go with its end.
func (s *Service) putSession(ctx context.Context, revision int64, sess Session) error {
	var b batch
	b.put(store.Key{PK: "session#" + sess.Digest, SK: skSession}, revision, sess).ExpiresAt = sess.end()
	return s.write(ctx, &b)
}

// EndSession ends the session of a token. One that is not there is success.
func (s *Service) EndSession(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	sess, _, err := readOr[Session](ctx, s, sessionKey(token))
	if err != nil || sess.ID == "" {
		return err
	}
	return s.endSession(ctx, sess)
}

func (s *Service) endSession(ctx context.Context, sess Session) error {
	var b batch
	b.remove(store.Key{PK: "session#" + sess.Digest, SK: skSession}, 0)
	b.remove(sessionRow(sess.Person, sess.ID), 0)
	return s.write(ctx, &b)
}

// Sessions returns a person's sessions that have not ended, the latest sign-in
// first, and no more than a page of them.
func (s *Service) Sessions(ctx context.Context, person string) ([]Session, error) {
	if !validID(person) {
		return nil, notFound("person")
	}
	q := store.Query{PK: personKey(person).PK, Prefix: prefixSession, Limit: DefaultPage, Descending: true}
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	var sessions []Session
	for _, rec := range page.Records {
		var row keyEntry
		if err := json.Unmarshal(rec.Value, &row); err != nil {
			return nil, err
		}
		sess, _, err := readOr[Session](ctx, s, store.Key{PK: "session#" + row.Digest, SK: skSession})
		if err != nil {
			return nil, err
		}
		if sess.ID != "" && s.now().Before(sess.ExpiresAt) {
			sessions = append(sessions, sess)
		}
	}
	return sessions, nil
}

// EndPersonSession ends one of a person's own sessions, by its id. One that is not
// there is CodeNotFound.
func (s *Service) EndPersonSession(ctx context.Context, person, id string) error {
	row, _, err := find[keyEntry](ctx, s, "session", sessionRow(person, id), person, id)
	if err != nil {
		return err
	}
	return s.endSession(ctx, Session{ID: id, Person: person, Digest: row.Digest})
}

// GetPerson reads a person, or returns CodeNotFound.
func (s *Service) GetPerson(ctx context.Context, id string) (Person, error) {
	p, _, err := find[Person](ctx, s, "person", personKey(id), id)
	return p, err
}

// Flow is a sign-in at an identity provider that has begun: what must come back
// with its answer, and what is kept from the browser until then.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
	// Next is the path that the person wanted to see.
	Next string `json:"next,omitempty"`
	// Again says that a fresh sign-in was asked for.
	Again     bool      `json:"again,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// BeginFlow keeps a sign-in that begins, for ten minutes. The result binds it to a
// browser: who has it may end the sign-in, once.
func (s *Service) BeginFlow(ctx context.Context, f Flow) (string, error) {
	token := newSecret("flow")
	f.ExpiresAt = s.now().Add(flowLife)
	var b batch
	b.put(flowKey(token), 0, f).ExpiresAt = f.ExpiresAt
	return token, s.write(ctx, &b)
}

// TakeFlow returns a sign-in that has begun, and forgets it: CodeUnauthorized the
// second time, and after its end.
func (s *Service) TakeFlow(ctx context.Context, token string) (Flow, error) {
	return take(ctx, s, flowKey(token), func(f Flow) bool { return s.now().Before(f.ExpiresAt) })
}

// signInLink signs its person in.
type signInLink struct {
	Person    string    `json:"person"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// take reads a record and removes it in one: only one caller gets it.
func take[T any](ctx context.Context, s *Service, key store.Key, good func(T) bool) (T, error) {
	var zero T
	v, revision, err := read[T](ctx, s, key)
	if err == nil {
		var b batch
		b.remove(key, revision)
		err = s.write(ctx, &b)
	}
	gone := Errorf(CodeUnauthorized, "this sign-in has ended or was used already; begin again")
	switch {
	case errors.Is(err, store.ErrNotFound) || isConflict(err):
		return zero, gone
	case err != nil:
		return zero, err
	case !good(v):
		return zero, gone
	}
	return v, nil
}

// localIssuer vouches for the owner of a machine, who can read its data folder.
const (
	localIssuer  = "local"
	localAddress = "owner@localhost"
)

// LocalLink returns a token that signs the owner of this machine in, once, within
// a minute. The owner is made a member of every organisation that has not ended.
// It is for operators alone: it makes an owner.
func (s *Service) LocalLink(ctx context.Context) (string, error) {
	id := Identity{Issuer: localIssuer, Subject: "owner", Address: localAddress, Verified: true, Name: "Owner of this machine"}
	p, err := s.SignIn(ctx, id, netip.Addr{})
	if err != nil {
		return "", err
	}
	orgs, err := s.ListOrganisations(ctx)
	if err != nil {
		return "", err
	}
	invited := false
	for _, o := range orgs {
		_, member, err := readOr[Membership](ctx, s, memberKey(o.ID, p.ID))
		if err != nil {
			return "", err
		}
		if member != 0 || !o.RevokedAt.IsZero() {
			continue
		}
		if _, err := s.Invite(ctx, s.Operator(o.ID), localAddress, RoleOwner); err != nil {
			return "", err
		}
		invited = true
	}
	if invited {
		if p, err = s.SignIn(ctx, id, netip.Addr{}); err != nil {
			return "", err
		}
	}
	token := newSecret("link")
	link := signInLink{p.ID, s.now().Add(linkLife)}
	var b batch
	b.put(signInLinkKey(token), 0, link).ExpiresAt = link.ExpiresAt
	return token, s.write(ctx, &b)
}

// TakeLink returns the person whom a link signs in, and forgets the link:
// CodeUnauthorized the second time, and after its minute.
func (s *Service) TakeLink(ctx context.Context, token string) (string, error) {
	link, err := take(ctx, s, signInLinkKey(token), func(l signInLink) bool { return s.now().Before(l.ExpiresAt) })
	return link.Person, err
}

// signIns counts the sign-ins of an address that failed.
type signIns struct {
	Since time.Time `json:"since"`
	Count int       `json:"count"`
}

// SignInLimit is a limit of failed sign-ins of one address.
type SignInLimit string

// Limits of failed sign-ins: at a provider, and by links, each with its own count.
const (
	ProviderSignIns SignInLimit = "signins#"
	LinkSignIns     SignInLimit = "linksignins#"
)

// CountSignIn does what CountFailure does, for sign-ins at a provider.
func (s *Service) CountSignIn(ctx context.Context, from netip.Addr) (time.Duration, error) {
	return s.CountFailure(ctx, ProviderSignIns, from)
}

// SignInWait returns how long an address must wait for its next sign-in after too many
// failures, or 0. All addresses of an IPv6 /64 network count as one: a provider gives a
// customer a whole /64.
func (s *Service) SignInWait(ctx context.Context, of SignInLimit, from netip.Addr) (time.Duration, error) {
	return s.failures(ctx, of, from, 0)
}

// CountFailure counts a failed sign-in. If the address must wait, it counts nothing and
// returns the time to wait.
func (s *Service) CountFailure(ctx context.Context, of SignInLimit, from netip.Addr) (time.Duration, error) {
	return s.failures(ctx, of, from, 1)
}

func (s *Service) failures(ctx context.Context, of SignInLimit, from netip.Addr, more int) (time.Duration, error) {
	from = from.Unmap().WithZone("")
	bits := 64
	if from.Is4() {
		bits = 32
	}
	network, err := from.Prefix(bits)
	if err != nil {
		return 0, err
	}
	var wait time.Duration
	err = s.transact(ctx, func() error {
		key := store.Key{PK: string(of) + network.String(), SK: skSignIns}
		n, revision, err := readOr[signIns](ctx, s, key)
		if err != nil {
			return err
		}
		now := s.now()
		if now.Sub(n.Since) >= signInSpan {
			n = signIns{Since: now}
		}
		if n.Count >= maxSignIns {
			wait = n.Since.Add(signInSpan).Sub(now)
			return nil
		}
		if more == 0 {
			return nil
		}
		n.Count += more
		var b batch
		b.put(key, revision, n).ExpiresAt = n.Since.Add(signInSpan)
		return s.write(ctx, &b)
	})
	return wait, err
}

// OrganisationsOf returns the organisations that a person is a member of and that
// have not ended, as far as one page goes.
func (s *Service) OrganisationsOf(ctx context.Context, person string) ([]Organisation, error) {
	ids, _, err := s.MembershipsOf(ctx, person, "", 0)
	if err != nil {
		return nil, err
	}
	orgs := make([]Organisation, 0, len(ids))
	for _, id := range ids {
		o, err := s.GetOrganisation(ctx, id)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, o)
	}
	return slices.DeleteFunc(orgs, func(o Organisation) bool { return !o.RevokedAt.IsZero() }), nil
}
