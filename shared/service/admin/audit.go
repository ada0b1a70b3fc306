package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// auditLife is how long an entry of the audit log is kept.
const auditLife = 400 * 24 * time.Hour

// Kinds of actors in the audit log.
const (
	ActorPerson   = "person"
	ActorKey      = "key"
	ActorOperator = "operator"
)

// AuditEntry says who changed what. Entries are written in the transaction of the
// change that they tell of; nothing changes or removes one before its time.
type AuditEntry struct {
	ID string    `json:"id"` // sorts by time
	At time.Time `json:"at"`
	// ActorKind is one of ActorPerson, ActorKey and ActorOperator, and Actor the id
	// of the person or key, or the operator's name.
	ActorKind string `json:"actorKind"`
	Actor     string `json:"actor"`
	// Address is where the request came from; empty for operators.
	Address string `json:"address,omitempty"`
	// Action is what was done, such as "key.created", and Target the id or name of
	// what it was done to.
	Action  string        `json:"action"`
	Target  string        `json:"target"`
	Changes []AuditChange `json:"changes,omitempty"`
}

// Actor names the person, key or operator that changed something.
type Actor struct {
	Kind string `json:"kind"` // one of ActorPerson, ActorKey and ActorOperator
	ID   string `json:"id"`   // of the person or key, or the operator's name
}

// actor names a caller in records.
func (s *Service) actor(c Caller) Actor {
	switch {
	case c.Operator != "":
		return Actor{ActorOperator, c.Operator}
	case c.Person != "":
		return Actor{ActorPerson, c.Person}
	case c.KeyID != "":
		return Actor{ActorKey, c.KeyID}
	}
	return Actor{ActorOperator, s.opt.Operator}
}

// caller is a caller who is this actor, for the audit log.
func (a Actor) caller() Caller {
	switch a.Kind {
	case ActorPerson:
		return Caller{Person: a.ID}
	case ActorKey:
		return Caller{KeyID: a.ID}
	}
	return Caller{Operator: a.ID}
}

// AuditChange is a field that has changed. Secrets are in none.
type AuditChange struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// maxAuditText is the most bytes of a value in the audit log.
const maxAuditText = 500

// changed lists what has changed, in triples of a field, its value before and its
// value after. Equal values are left out.
func changed(triples ...string) []AuditChange {
	var all []AuditChange
	for i := 0; i+2 < len(triples); i += 3 {
		before, after := cutText(triples[i+1], maxAuditText), cutText(triples[i+2], maxAuditText)
		if triples[i+1] != triples[i+2] {
			all = append(all, AuditChange{triples[i], before, after})
		}
	}
	return all
}

// audit adds an entry to a transaction.
func (s *Service) audit(b *batch, c Caller, org, action, target string, changes ...AuditChange) {
	now, by := s.now(), s.actor(c)
	e := AuditEntry{
		ID: timePart(now) + s.opt.NewID("")[1:], At: now, ActorKind: by.Kind, Actor: by.ID,
		Action: action, Target: target, Changes: changes,
	}
	if c.Address.IsValid() {
		e.Address = c.Address.String()
	}
	b.put(store.Key{PK: auditPK(org), SK: e.ID}, 0, e).ExpiresAt = now.Add(auditLife)
}

// joined lists values with commas between them.
func joined[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ",")
}

// timeText is a time as the audit log has it, empty for none.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func auditPK(org string) string { return "audit#" + org }

// AuditList asks for a page of an organisation's audit log.
type AuditList struct {
	// Action is the action, or its part before the dot; Actor and Target are ids or
	// names. Empty ones mean all.
	Action, Actor, Target string
	// Since and Until bound the time of entries, the latter excluded; the zero time sets no bound.
	Since, Until time.Time
	// Cursor is where the page before ended; empty for the first.
	Cursor string
	Limit  int // 0: DefaultPage
}

func (in AuditList) wants(e AuditEntry) bool {
	kind, _, _ := strings.Cut(e.Action, ".")
	return (in.Action == "" || in.Action == e.Action || in.Action == kind) && (in.Actor == "" || in.Actor == e.Actor) &&
		(in.Target == "" || in.Target == e.Target) && (in.Until.IsZero() || e.At.Before(in.Until))
}

var auditCursorForm = lazy.Regexp(`^[0-9a-z_]{1,60}$`)

// Audit returns entries of the audit log of a caller's organisation, the latest
// first, and the cursor of the next page, which is empty at the end. A page may
// hold fewer than its limit, or none, where more follow.
// It returns CodeRole, CodeScope or CodeInvalid.
func (s *Service) Audit(ctx context.Context, c Caller, in AuditList) ([]AuditEntry, string, error) {
	if err := c.May(ActionAudit); err != nil {
		return nil, "", err
	}
	limit, err := checkPage(in.Limit)
	if err != nil {
		return nil, "", err
	}
	// With a filter, most entries may be others.
	q := store.Query{PK: auditPK(c.OrganisationID), Limit: max(limit, DefaultPage), Descending: true}
	at := in.Cursor
	switch {
	case at != "" && !auditCursorForm().MatchString(at):
		return nil, "", FieldErrorf("cursor", "is not one that the audit log returned")
	case at == "" && !in.Until.IsZero():
		at = timePart(in.Until)
	}
	if at != "" {
		q.Cursor = store.EncodeCursor(q, store.Record{Key: store.Key{PK: q.PK, SK: at}})
	}
	entries := []AuditEntry{}
	for looked := 0; ; {
		page, err := s.opt.Store.Query(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, rec := range page.Records {
			var e AuditEntry
			if err := json.Unmarshal(rec.Value, &e); err != nil {
				return nil, "", err
			}
			if e.At.Before(in.Since) {
				return entries, "", nil
			}
			wanted := rec.ExpiresAt.After(s.now()) && in.wants(e)
			if len(entries) == limit {
				if wanted {
					return entries, at, nil // another page follows
				}
				continue
			}
			at = rec.Key.SK
			if wanted {
				entries = append(entries, e)
			}
		}
		if page.Cursor == "" {
			return entries, "", nil
		}
		if looked += len(page.Records); looked >= maxLooked {
			return entries, at, nil
		}
		q.Cursor = page.Cursor
	}
}

// WriteAudit writes all entries that a list asks for, the latest first, as lines
// of JSON, or as CSV with a head. It returns the errors of Audit and of w.
func (s *Service) WriteAudit(ctx context.Context, c Caller, in AuditList, asCSV bool, w io.Writer) error {
	lines, rows := json.NewEncoder(w), csv.NewWriter(w)
	write := func(e AuditEntry) error { return lines.Encode(e) }
	if asCSV {
		if err := rows.Write([]string{"at", "actorKind", "actor", "address", "action", "target", "changes"}); err != nil {
			return err
		}
		write = func(e AuditEntry) error {
			var changes []string
			for _, ch := range e.Changes {
				changes = append(changes, ch.Field+": "+ch.Before+" → "+ch.After)
			}
			row := []string{e.At.Format(time.RFC3339Nano), e.ActorKind, e.Actor, e.Address, e.Action, e.Target, strings.Join(changes, "; ")}
			for i, cell := range row {
				// Spreadsheets take such a cell as a formula.
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					row[i] = "'" + cell
				}
			}
			return rows.Write(row)
		}
	}
	in.Limit = MaxPage
	for {
		entries, next, err := s.Audit(ctx, c, in)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := write(e); err != nil {
				return err
			}
		}
		if in.Cursor = next; next == "" {
			rows.Flush()
			return rows.Error()
		}
	}
}
