package dashboard

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// token is the session's token that a browser sends.
func (d *Dashboard) token(r *http.Request) string { return d.cookieValue(r, d.cookie) }

func (d *Dashboard) cookieValue(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie keeps a secret in the browser; one that is empty is removed.
func (d *Dashboard) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	age := int(life / time.Second)
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: d.secure, SameSite: http.SameSiteLaxMode})
}

// secretLife is how long the page after a form may wait for the secret that it shows.
const secretLife = time.Minute

// leaveWithSecret leads to the page that shows the secret of something that a form has
// made, so that a reload of the page makes nothing. Until then the browser alone has it.
func (q *request) leaveWithSecret(path, id, secret string) error {
	q.d.setCookie(q.w, q.d.secret, id+"."+secret, secretLife)
	return q.leave(path, "")
}

// takeSecret returns the secret of what has an id, once: "" after that.
func (q *request) takeSecret(id string) string {
	secret, ok := strings.CutPrefix(q.d.cookieValue(q.r, q.d.secret), id+".")
	if !ok || id == "" {
		return ""
	}
	q.d.setCookie(q.w, q.d.secret, "", 0)
	return secret
}

func (d *Dashboard) forget(w http.ResponseWriter) { d.setCookie(w, d.cookie, "", 0) }

// localPath returns a path to which a sign-in may lead: a page of ours, whatever
// the address says. Everything else is the first page.
func localPath(next string) string {
	const first = "/"
	if strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) || len(next) > 1024 {
		return first
	}
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		!Owns(u.Path) || strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, "/sign-") {
		return first
	}
	return next
}

// loopback reports whether a request comes from this machine and was sent to it by
// such a name: a page of the web that calls itself 127.0.0.1 has another.
func loopback(r *http.Request, from netip.Addr) bool {
	return from.Unmap().IsLoopback() && hosts.IsLoopback(hosts.Name(r.Host))
}

type signInView struct {
	Provider, Links bool
	Start           string // where a sign-in at the provider begins
	Again           bool
	// NoAuthTime says that the provider did not say when the last fresh sign-in was.
	NoAuthTime bool
}

func (q *request) signIn(next string, again bool) signInView {
	v := signInView{Provider: q.d.provider != nil, Links: q.d.opt.Links, Again: again, NoAuthTime: again && q.session.NoAuthTime}
	pairs := []string{"next", next}
	if again {
		pairs = append(pairs, "again", "1")
	}
	v.Start = query("/sign-in/start", pairs...)
	return v
}

func signInPage(q *request) error {
	next := localPath(q.value("next"))
	if _, err := q.admin().Session(q.ctx(), q.d.token(q.r)); err == nil {
		return q.leave(next, "")
	}
	return q.page("signin", "Sign in", q.signIn(next, false))
}

// signInAgain asks for a fresh sign-in before something that gives others power.
func (q *request) signInAgain() {
	next := "/"
	if q.r.Method == http.MethodGet {
		next = q.r.URL.RequestURI()
	} else if q.org.ID != "" {
		next = q.path("keys", "new")
	}
	if err := q.show(http.StatusForbidden, "signin", "Sign in again", q.signIn(next, true), nil); err != nil {
		q.fail(err)
	}
}

// errCrowd refuses a sign-in of an address of which too many failed.
var errCrowd = errors.New("too many failed sign-ins")

// admitted returns errCrowd if too many sign-ins of the request's address failed.
func (q *request) admitted(of admin.SignInLimit) error {
	wait, err := q.admin().SignInWait(q.ctx(), of, q.d.opt.ClientAddr(q.r))
	return q.waits(wait, err)
}

// failed counts a failed sign-in of the request's address.
func (q *request) failed(of admin.SignInLimit) error {
	wait, err := q.admin().CountFailure(q.ctx(), of, q.d.opt.ClientAddr(q.r))
	return q.waits(wait, err)
}

func (q *request) waits(wait time.Duration, err error) error {
	if err != nil || wait == 0 {
		return err
	}
	q.w.Header().Set("Retry-After", seconds(wait))
	return errCrowd
}

// begin begins a session of somebody who has just signed in.
func (q *request) begin(s admin.NewSession, next string) error {
	s.Address, s.Agent, s.Old = q.d.opt.ClientAddr(q.r), q.r.UserAgent(), q.d.token(q.r)
	token, _, err := q.admin().BeginSession(q.ctx(), s)
	if err != nil {
		return err
	}
	q.d.setCookie(q.w, q.d.cookie, token, 7*24*time.Hour)
	return q.leave(localPath(next), "")
}

func signInByLink(q *request) error {
	if !q.d.opt.Links || !loopback(q.r, q.d.opt.ClientAddr(q.r)) {
		return notFound()
	}
	if err := q.admitted(admin.LinkSignIns); err != nil {
		return err
	}
	person, err := q.admin().TakeLink(q.ctx(), q.value("token"))
	if admin.CodeOf(err) == admin.CodeUnauthorized {
		if err := q.failed(admin.LinkSignIns); err != nil {
			return err
		}
		return q.show(http.StatusUnauthorized, "error", "This link has ended", "A link signs you in once, within a minute. bindery sign-in prints a new one.", nil)
	}
	if err != nil {
		return err
	}
	return q.begin(admin.NewSession{Person: person}, q.value("next"))
}

func signOut(q *request) error {
	if err := q.admin().EndSession(q.ctx(), q.d.token(q.r)); err != nil {
		return err
	}
	q.d.forget(q.w)
	return q.leave("/sign-in", "signed-out")
}

// home leads to the organisation that was looked at last.
func home(q *request) error {
	org := q.session.Organisation
	orgs, err := q.admin().OrganisationsOf(q.ctx(), q.person.ID)
	if err != nil {
		return err
	}
	switch {
	case org != "":
	case len(orgs) == 0:
		return q.page("alone", "No organisation yet", q.person)
	default:
		org = orgs[0].ID
	}
	return q.leave("/org/"+url.PathEscape(org)+"/exports", "")
}

func organisationHome(q *request) error { return q.leave(q.path("exports"), "") }

type ownView struct {
	Sessions      []admin.Session
	Current       string
	Organisations []admin.Organisation
}

func ownPage(q *request) error {
	v := ownView{Current: q.session.ID}
	var err error
	if v.Sessions, err = q.admin().Sessions(q.ctx(), q.person.ID); err != nil {
		return err
	}
	if v.Organisations, err = q.admin().OrganisationsOf(q.ctx(), q.person.ID); err != nil {
		return err
	}
	return q.page("me", "You", v)
}

func endSession(q *request) error {
	id := q.r.PathValue("id")
	if err := q.admin().EndPersonSession(q.ctx(), q.person.ID, id); err != nil {
		return err
	}
	if id == q.session.ID {
		q.d.forget(q.w)
		return q.leave("/sign-in", "signed-out")
	}
	return q.leave("/me", "session")
}
