package dashboard

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// provider is an OpenID provider, which is asked what it is at the first sign-in:
// one that is down keeps nobody from starting.
type provider struct {
	opt      Provider
	callback string
	client   *http.Client
	now      func() time.Time

	mu     sync.Mutex
	found  *oidc.Provider
	secret string
}

// providerPatience is how long the provider may take to answer one request.
const providerPatience = 10 * time.Second

func newProvider(opt Provider, callback string, now func() time.Time) *provider {
	return &provider{opt: opt, callback: callback, now: now, client: cmp.Or(opt.Client, &http.Client{Timeout: providerPatience})}
}

// find returns the provider as it describes itself. Its keys are fetched anew, by
// the library, whenever a signature names one that is not known.
func (p *provider) find(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	// The provider keeps its context for the fetches of keys.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.opt.Issuer)
	if err != nil {
		return nil, admin.Errorf(admin.CodeTemporary, "the identity provider does not answer; try again in a moment").Wrap(err)
	}
	p.found = found
	return found, nil
}

// clientSecret returns the secret, which is read once.
func (p *provider) clientSecret(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opt.ReadSecret == nil || p.secret != "" {
		return cmp.Or(p.secret, p.opt.ClientSecret), nil
	}
	secret, err := p.opt.ReadSecret(ctx)
	if err != nil {
		return "", err
	}
	p.secret = secret
	return secret, nil
}

// config is what the library knows the client as. Only exchanges need its secret.
func (p *provider) config(found *oidc.Provider, secret string) oauth2.Config {
	return oauth2.Config{
		ClientID: p.opt.ClientID, ClientSecret: secret, Endpoint: found.Endpoint(), RedirectURL: p.callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// beginSignIn sends the browser to the provider, with a state and a nonce that only
// this browser can use, once.
func beginSignIn(q *request) error {
	p := q.d.provider
	if p == nil {
		return notFound()
	}
	found, err := p.find(q.ctx())
	if err != nil {
		return err
	}
	f := admin.Flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: localPath(q.value("next")), Again: q.value("again") != ""}
	token, err := q.admin().BeginFlow(q.ctx(), f)
	if err != nil {
		return err
	}
	q.d.setCookie(q.w, q.d.flow, token, 10*time.Minute)
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)}
	if f.Again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	config := p.config(found, "")
	q.w.Header().Set("Location", config.AuthCodeURL(f.State, options...))
	q.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// endSignIn takes the provider's answer.
func endSignIn(q *request) error {
	p := q.d.provider
	if p == nil {
		return notFound()
	}
	if err := q.admitted(admin.ProviderSignIns); err != nil {
		return err
	}
	flow, err := q.admin().TakeFlow(q.ctx(), q.d.cookieValue(q.r, q.d.flow))
	q.d.setCookie(q.w, q.d.flow, "", 0)
	if admin.CodeOf(err) == admin.CodeUnauthorized {
		return q.refuse("it was begun in another browser, took longer than ten minutes or was used already", nil)
	}
	if err != nil {
		return err
	}
	// Only the address counts: nothing of a body is looked at.
	answer := q.r.URL.Query()
	switch {
	case subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(flow.State)) != 1:
		return q.refuse("its answer belongs to another sign-in", nil)
	case answer.Has("iss") && answer.Get("iss") != p.opt.Issuer:
		return q.refuse("its answer is another provider's", nil)
	case answer.Get("error") != "":
		return q.refuse("the identity provider did not sign you in", fmt.Errorf("the provider answered %q", answer.Get("error")))
	}
	secret, err := p.clientSecret(q.ctx())
	if err != nil {
		return err
	}
	id, proved, err := p.identity(q.ctx(), secret, answer.Get("code"), flow)
	if err != nil {
		return q.refuse("the identity provider's answer can't be trusted", err)
	}
	person, err := q.admin().SignIn(q.ctx(), id, q.d.opt.ClientAddr(q.r))
	if err != nil {
		return err
	}
	s := admin.NewSession{Person: person.ID, ProvedAt: notProved}
	if flow.Again { // only a sign-in that was asked for is a fresh one
		s.ProvedAt, s.NoAuthTime = proved, proved.IsZero()
		if s.NoAuthTime {
			s.ProvedAt = notProved
		}
	}
	return q.begin(s, flow.Next)
}

// notProved is when a person proved who they are if nobody says so: never lately.
var notProved = time.Unix(0, 0)

// clockDifference is how far a provider's clock may be ahead.
const clockDifference = time.Minute

// refuse says why a sign-in failed; the cause is for the log.
func (q *request) refuse(why string, cause error) error {
	q.d.opt.Log.WarnContext(q.ctx(), "a sign-in was refused", "why", why, "error", cause)
	if err := q.failed(admin.ProviderSignIns); err != nil {
		return err
	}
	return q.show(http.StatusUnauthorized, "error", "You are not signed in", "This sign-in did not work: "+why+". Begin again.", nil)
}

// identity exchanges a code for what the provider says of who signs in, and when
// that person last proved it; zero where the provider does not say.
func (p *provider) identity(ctx context.Context, secret, code string, flow admin.Flow) (admin.Identity, time.Time, error) {
	var zero time.Time
	found, err := p.find(ctx)
	if err != nil {
		return admin.Identity{}, zero, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	config := p.config(found, secret)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(flow.Verifier))
	if err != nil {
		return admin.Identity{}, zero, err
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return admin.Identity{}, zero, fmt.Errorf("the provider sent no id token")
	}
	verified, err := found.Verifier(&oidc.Config{ClientID: p.opt.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return admin.Identity{}, zero, err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(flow.Nonce)) != 1 {
		return admin.Identity{}, zero, fmt.Errorf("the id token belongs to another sign-in")
	}
	c, err := p.claimsOf(verified)
	if err != nil {
		return admin.Identity{}, zero, err
	}
	if c.Email == "" || c.groups == nil && len(p.opt.Groups) > 0 { // some providers say it there alone
		if info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(tokens)); err == nil && info.Subject == verified.Subject {
			if more, err := p.claimsOf(info); err == nil {
				c.add(more)
			}
		}
	}
	if c.groups == nil && c.Elsewhere[p.opt.GroupsClaim] != nil {
		return admin.Identity{}, zero, fmt.Errorf("the provider has too many groups of this person to say: have it send only those that it knows for this client")
	}
	if c.AuthTime > 0 {
		zero = time.Unix(c.AuthTime, 0)
	}
	if zero.After(p.now().Add(clockDifference)) {
		return admin.Identity{}, time.Time{}, fmt.Errorf("the provider says that the sign-in was at %s, which is in the future", zero.UTC().Format(time.RFC3339))
	}
	return admin.Identity{
		Issuer: verified.Issuer, Subject: verified.Subject, Address: c.Email,
		// A few providers write a text for the truth value.
		Verified: c.EmailVerified == true || c.EmailVerified == "true", Name: c.Name,
		Roles: p.opt.Groups.roles(c.groups),
	}, zero, nil
}

// claims are what we read of what a provider says.
type claims struct {
	Email         string `json:"email"`
	EmailVerified any    `json:"email_verified"`
	Name          string `json:"name"`
	AuthTime      int64  `json:"auth_time"` // seconds since 1970
	// Elsewhere has the claims that a provider does not send here, as Entra does
	// with the groups of who has more than 200.
	Elsewhere map[string]any `json:"_claim_names"`
	groups    []string       // nil where the claim is not there
}

// claimsOf reads the claims of an id token, or of the provider's answer about a
// person.
func (p *provider) claimsOf(from interface{ Claims(any) error }) (claims, error) {
	var c claims
	if err := from.Claims(&c); err != nil || len(p.opt.Groups) == 0 {
		return c, err
	}
	var all map[string]any
	if err := from.Claims(&all); err != nil {
		return c, err
	}
	switch v := all[p.opt.GroupsClaim].(type) {
	case string:
		c.groups = []string{v}
	case []any:
		c.groups = []string{}
		for _, one := range v {
			if name, ok := one.(string); ok {
				c.groups = append(c.groups, name)
			}
		}
	}
	return c, nil
}

// add takes from other claims of the same person what is missing.
func (c *claims) add(more claims) {
	if c.Email == "" {
		c.Email, c.EmailVerified = more.Email, more.EmailVerified
	}
	if c.groups == nil {
		c.groups = more.groups
	}
	c.Name = cmp.Or(c.Name, more.Name)
}
