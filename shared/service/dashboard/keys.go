package dashboard

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// pageLimit is how many entries a page of a list has: each costs a read or two.
const pageLimit = 20

// maxDomains is how many domains there are to choose from.
const maxDomains = 100

type keysView struct {
	Keys     []keyView
	Projects []admin.Project
	// Next and MoreProjects are cursors of the next pages.
	Next, MoreProjects string
}

type keyView struct {
	admin.Key
	By     string // who made it
	Active bool
}

func (q *request) key(k admin.Key) keyView {
	return keyView{Key: k, By: "an operator", Active: k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || q.d.opt.Now().Before(k.ExpiresAt))}
}

// names returns how people are shown, each of whom is read once.
func (q *request) names() func(id string) (string, error) {
	known := map[string]string{q.person.ID: "you"}
	return func(id string) (string, error) {
		if _, ok := known[id]; !ok {
			p, err := q.admin().GetPerson(q.ctx(), id)
			if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
				return "", err
			}
			known[id] = nameOf(p)
			if known[id] == "" {
				known[id] = id
			}
		}
		return known[id], nil
	}
}

func keysPage(q *request) error {
	var v keysView
	keys, next, err := q.as().Keys(q.ctx(), q.value("cursor"), pageLimit)
	if err != nil {
		return err
	}
	names := q.names()
	for _, k := range keys {
		kv := q.key(k)
		if id := k.CreatedBy; id != "" {
			if kv.By, err = names(id); err != nil {
				return err
			}
		}
		v.Keys = append(v.Keys, kv)
	}
	v.Next = next
	if v.Projects, v.MoreProjects, err = q.admin().OwnProjects(q.ctx(), q.caller, "", pageLimit); err != nil {
		return err
	}
	return q.page("keys", "API keys", v)
}

type newKeyView struct {
	Scopes, Domains, Expiry []choice
}

var scopeMeaning = map[admin.Scope]string{
	admin.ScopeRead:   "Read: exports, snapshots, findings, agent jobs",
	admin.ScopeWrite:  "Write: publish, start and cancel exports, ask agents",
	admin.ScopeManage: "Manage: what decides about other systems, such as webhooks",
	admin.ScopeDeploy: "Deploy: decide which version of a site is live",
	admin.ScopeBundle: "Bundle: links to one domain's bundles, alone and for that domain, for a server that fetches them",
}

func (q *request) newKey(code int, p *problem) error {
	sent := q.r.PostForm
	var v newKeyView
	for _, s := range admin.Scopes() {
		chosen := s == admin.ScopeRead || s == admin.ScopeWrite
		if sent != nil {
			chosen = contains(sent["scopes"], string(s))
		}
		v.Scopes = append(v.Scopes, choice{string(s), scopeMeaning[s], chosen})
	}
	projects, _, err := q.admin().OwnProjects(q.ctx(), q.caller, "", maxDomains)
	if err != nil {
		return err
	}
	domain := q.r.PostFormValue("domain")
	v.Domains = []choice{{"", "All of the organisation", domain == ""}}
	for _, p := range projects {
		v.Domains = append(v.Domains, choice{p.Domain, p.Domain, p.Domain == domain})
	}
	days := q.r.PostFormValue("expiry")
	if days == "" {
		days = "90"
	}
	for _, e := range [][2]string{{"7", "7 days"}, {"30", "30 days"}, {"60", "60 days"}, {"90", "90 days"}, {"date", "On a date, below"}, {"never", "Never"}} {
		v.Expiry = append(v.Expiry, choice{e[0], e[1], e[0] == days})
	}
	return q.show(code, "newkey", "New API key", v, p)
}

func newKeyPage(q *request) error { return q.newKey(http.StatusOK, nil) }

type madeKeyView struct {
	admin.Key
	Secret string
}

func createKey(q *request) error {
	in := admin.KeyRequest{Name: q.value("name"), Domain: q.value("domain")}
	for _, s := range q.r.PostForm["scopes"] {
		in.Scopes = append(in.Scopes, admin.Scope(s))
	}
	err := q.keyLimits(&in)
	var k admin.Key
	var secret string
	if err == nil {
		k, secret, err = q.as().CreateKey(q.ctx(), in)
	}
	if err != nil {
		return q.again(err, q.newKey)
	}
	return q.leaveWithSecret(q.path("keys", k.ID, "made"), k.ID, secret)
}

// madeKeyPage shows a key that was made a moment ago.
func madeKeyPage(q *request) error {
	k, err := q.as().Key(q.ctx(), q.r.PathValue("key"))
	if err != nil {
		return err
	}
	return q.page("madekey", "Your new key", madeKeyView{k, q.takeSecret(k.ID)})
}

// keyLimits reads what limits a key: scopes, end, addresses.
func (q *request) keyLimits(in *admin.KeyRequest) error {
	if len(in.Scopes) == 0 {
		return admin.FieldErrorf("scopes", "choose at least one")
	}
	switch expiry := q.value("expiry"); expiry {
	case "never":
	case "date":
		day, err := time.Parse(time.DateOnly, q.value("expiresAt"))
		if err != nil {
			return admin.FieldErrorf("expiresAt", "must be a date such as 2027-03-31")
		}
		in.ExpiresAt = day.Add(24*time.Hour - time.Second) // that day is its last
	default:
		days, err := strconv.Atoi(expiry)
		if err != nil || days < 1 || days > 366 {
			return admin.FieldErrorf("expiry", "choose one of the list")
		}
		in.ExpiresAt = q.d.opt.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	for _, line := range lines(q.value("allowedAddresses")) {
		network, err := netip.ParsePrefix(line)
		if err != nil {
			addr, err := netip.ParseAddr(line)
			if err != nil {
				return admin.FieldErrorf("allowedAddresses", "%q is not an address such as 192.0.2.7, nor a network such as 192.0.2.0/24", line)
			}
			network = netip.PrefixFrom(addr, addr.BitLen())
		}
		in.AllowedAddresses = append(in.AllowedAddresses, network)
	}
	return nil
}

func revokeKeyPage(q *request) error {
	k, err := q.as().Key(q.ctx(), q.r.PathValue("key"))
	if err != nil {
		return err
	}
	return q.page("ask", "Revoke this key?", question{
		Text:   "The key “" + k.Name + "”, which ends in " + k.Tail + ", stops working at once. This can't be undone.",
		Action: q.path("keys", k.ID, "revoke"), Yes: "Revoke the key", No: q.path("keys"), Danger: true,
	})
}

func revokeKey(q *request) error {
	if _, err := q.as().RevokeKey(q.ctx(), q.r.PathValue("key")); err != nil {
		return err
	}
	return q.leave(q.path("keys"), "revoked")
}

// question is a page that asks before it does something.
type question struct {
	Text, Action, Yes, No string
	Danger                bool
	Fields                map[string]string // hidden ones
}

// nameOf is how a person is shown.
func nameOf(p admin.Person) string {
	switch {
	case p.Name != "":
		return p.Name
	case p.Address != "":
		return p.Address
	}
	return p.ID
}
