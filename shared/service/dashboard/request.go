package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// maxForm is the most bytes of a form without files: a prompt and what is around it.
const maxForm = 256 << 10

// request is one request and who makes it.
type request struct {
	d *Dashboard
	w http.ResponseWriter
	r *http.Request

	session admin.Session
	person  admin.Person
	caller  admin.Caller
	org     admin.Organisation // of the address; zero on pages of none
	off     []admin.Webhook    // endpoints that were switched off, for who may change that
	files   []admin.Attachment // files of the form
	json    bool               // whether a script gets the answer
}

var (
	errForeign = admin.Errorf(admin.CodeRole, "this form was sent from another site, so nothing was changed")
	errRecent  = errors.New("the sign-in is too old")
)

func notFound() error { return admin.Errorf(admin.CodeNotFound, "there is no such page") }

func (d *Dashboard) request(w http.ResponseWriter, r *http.Request) *request {
	return &request{d: d, w: w, r: r}
}

func (q *request) ctx() context.Context  { return q.r.Context() }
func (q *request) admin() *admin.Service { return q.d.opt.Admin }
func (q *request) as() admin.Acting      { return q.d.opt.Admin.As(q.caller) }

// path is a path below the organisation's.
func (q *request) path(parts ...string) string {
	escaped := []string{"/org", url.PathEscape(q.org.ID)}
	for _, p := range parts {
		escaped = append(escaped, url.PathEscape(p))
	}
	return strings.Join(escaped, "/")
}

// route answers by one row of the table.
func (d *Dashboard) route(row route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin, seen := time.Now(), &answered{ResponseWriter: w, status: http.StatusOK}
		q := d.request(seen, r)
		q.json = row.json
		r.Body = http.MaxBytesReader(w, r.Body, row.most())
		if err := q.answer(row); err != nil {
			q.fail(err)
		}
		// Not the address: a link that signs in has its token there.
		d.opt.Log.InfoContext(r.Context(), "page", "method", r.Method, "route", cmp.Or(row.path, "none"), "status", seen.status,
			"address", d.opt.ClientAddr(r), "organisation", q.org.ID, "person", q.person.ID, "took", time.Since(begin))
	})
}

// answered remembers the status of an answer, for the log.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (q *request) answer(row route) error {
	if !row.open {
		if err := q.identify(row); err != nil {
			return err
		}
	}
	if q.r.Method == http.MethodPost && !row.json {
		if err := q.readForm(row); err != nil {
			return err
		}
	}
	return row.handle(q)
}

// identify finds out who asks, and whether they may.
func (q *request) identify(row route) (err error) {
	token := q.d.token(q.r)
	org := q.r.PathValue("org")
	if q.session, q.caller, err = q.admin().SessionCaller(q.ctx(), token, org); err != nil {
		if row.action != "" || admin.CodeOf(err) != admin.CodeNotFound {
			if admin.CodeOf(err) == admin.CodeNotFound {
				q.person, _ = q.admin().GetPerson(q.ctx(), q.session.Person) // for the head of the page
				return notFound()
			}
			return err
		}
		q.caller = admin.Caller{}
	}
	q.caller.Address = q.d.opt.ClientAddr(q.r)
	if q.person, err = q.admin().GetPerson(q.ctx(), q.session.Person); err != nil {
		return err
	}
	if org != "" {
		if q.org, err = q.admin().GetOrganisation(q.ctx(), org); err != nil {
			return err
		}
	}
	if row.action != "" {
		if err := q.caller.May(row.action); err != nil {
			return err
		}
	}
	if org != "" && q.r.Method == http.MethodGet && q.may(admin.ActionWebhooks) {
		all, err := q.admin().Webhooks(q.ctx(), q.caller)
		if err != nil {
			return err
		}
		q.off = slices.DeleteFunc(all, func(w admin.Webhook) bool { return w.OffAt.IsZero() })
	}
	if row.recent && !q.admin().Recent(q.session) {
		return errRecent
	}
	return nil
}

// may reports whether the caller may do what an action is.
func (q *request) may(a admin.Action) bool { return q.caller.May(a) == nil }

// value is a field of the form, or of the address.
func (q *request) value(name string) string { return strings.TrimSpace(q.r.FormValue(name)) }

// leave leads to another page after a form; what was done is said there.
func (q *request) leave(path, done string) error {
	if done != "" {
		path += "?done=" + url.QueryEscape(done)
	}
	q.w.Header().Set("Location", path)
	q.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// show writes a page.
func (q *request) show(code int, page, title string, data any, problem *problem) error {
	var b bytes.Buffer
	if err := q.d.pages.write(&b, page, q.view(page, title, data, problem)); err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(code)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(q.d.place(b.Bytes())) // the reader has gone, and nobody else could be told
	}
	return nil
}

// page writes a page where nothing is wrong.
func (q *request) page(page, title string, data any) error {
	return q.show(http.StatusOK, page, title, data, nil)
}

// fail answers with what went wrong.
func (q *request) fail(err error) {
	if errors.Is(err, errRecent) {
		q.signInAgain()
		return
	}
	if errors.Is(err, errCrowd) {
		q.error(http.StatusTooManyRequests, "Too many sign-ins", "Too many sign-ins from your address failed. Try again in a few minutes.")
		return
	}
	code := admin.CodeOf(err)
	if code == admin.CodeUnauthorized && q.r.Method != http.MethodPost {
		q.d.forget(q.w)
		_ = q.leave("/sign-in?next="+url.QueryEscape(q.r.URL.RequestURI()), "")
		return
	}
	message := admin.MessageInternal
	if own, ok := errors.AsType[*admin.Error](err); ok && code != admin.CodeInternal {
		message = plain(own)
		if own.RetryAfter > 0 {
			q.w.Header().Set("Retry-After", seconds(own.RetryAfter))
		}
		if own.Err != nil {
			q.d.opt.Log.WarnContext(q.ctx(), "dashboard refused", "method", q.r.Method, "path", q.r.URL.Path, "error", err)
		}
	} else if code == admin.CodeInternal {
		q.d.opt.Log.ErrorContext(q.ctx(), "dashboard failed", "method", q.r.Method, "path", q.r.URL.Path, "error", err)
	} else {
		message = "try again in a moment"
	}
	if q.json {
		q.refuseJSON(code, sentence(message))
		return
	}
	title := map[int]string{
		http.StatusNotFound: "Not found", http.StatusForbidden: "You may not do this", http.StatusUnauthorized: "Sign in",
		http.StatusInternalServerError: "Something went wrong", http.StatusTooManyRequests: "Too many requests",
	}[status(code)]
	if title == "" {
		title = "This did not work"
	}
	q.error(status(code), title, sentence(message))
}

// error writes a page that says what is wrong.
func (q *request) error(code int, title, message string) {
	if err := q.show(code, "error", title, message, nil); err != nil {
		q.d.opt.Log.ErrorContext(q.ctx(), "dashboard could not write its error page", "error", err)
		http.Error(q.w, admin.MessageInternal, http.StatusInternalServerError)
	}
}

// again shows a form anew, with what was typed and what is wrong with it. Errors
// that no change of the form mends fail the request.
func (q *request) again(err error, show func(code int, p *problem) error) error {
	code := admin.CodeOf(err)
	own, ok := errors.AsType[*admin.Error](err)
	if !ok || code == admin.CodeInternal || code == admin.CodeRole || code == admin.CodeNotFound {
		return err
	}
	if own.RetryAfter > 0 {
		q.w.Header().Set("Retry-After", seconds(own.RetryAfter))
	}
	field, _, _ := strings.Cut(own.Field, "[")
	return show(status(code), &problem{Field: field, Message: sentence(plain(own))})
}

// plain is an error's message without the field's name, which is the API's.
func plain(err *admin.Error) string { return strings.TrimPrefix(err.SafeMessage(), err.Field+": ") }

// once names a form, so that sending it twice does its work once.
func once() string { return rand.Text() }

// onceOf is the name of the form that was sent; a new one for a form without.
func (q *request) onceOf() string {
	if name := q.r.PostFormValue("once"); len(name) == len(once()) {
		return name
	}
	return once()
}
