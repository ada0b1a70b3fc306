package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// A request that carries an Idempotency-Key is done once: a repeated one gets
// the first one's answer. The row that remembers it is keyed by organisation,
// operation and key.
const (
	// requestLife is how long an answer is remembered.
	requestLife = 24 * time.Hour
	// requestLease is how long a request may run before another with
	// the same key may take its place: longer than any request runs, so that
	// only one that died is overtaken. Whoever comes meanwhile learns what is
	// left of it: by then the key is free, and most often long before.
	requestLease = 2 * time.Minute
)

// request is the row. It is running until Done.
type request struct {
	// Input is the digest of what was asked for.
	Input     string    `json:"input"`
	StartedAt time.Time `json:"startedAt"`
	Done      bool      `json:"done,omitempty"`
	// Ref is the id of what the request made; the answer is written anew from
	// it, so that links are signed anew.
	Ref string `json:"ref,omitempty"`
	// Code, Message and Field are those of a refusal.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// slot is a row that the running request holds.
type slot struct {
	key      store.Key
	row      request
	revision int64
	// done says that the transaction of the request itself wrote the row's
	// final form.
	done bool
}

// settle adds the final form of the row to a transaction: what the request
// makes and that it is done become true together.
func (sl *slot) settle(b *batch, ref string) {
	if sl == nil {
		return
	}
	row := sl.row
	row.Done, row.Ref = true, ref
	b.put(sl.key, sl.revision, row).ExpiresAt = row.StartedAt.Add(requestLife)
}

// settled takes note of how the transaction ended. Where the row was in its
// way, the lease is over and another request has taken the key.
func (sl *slot) settled(err error) error {
	if sl == nil {
		return err
	}
	if conflictOn(err, sl.key) {
		// Not wrapped: no other try of this request meets another row.
		return Errorf(CodeKeyRunning, "Idempotency-Key: another request with this key is running").After(time.Second)
	}
	sl.done = err == nil
	return err
}

// once does run at most once for an Idempotency-Key. Run returns what it made
// and its id; replay makes the same answer from the id. Without a key run just
// runs.
func once[T any](ctx context.Context, s *Service, c Caller, operation, key string, input any,
	run func(*slot) (T, string, error), replay func(ref string) (T, error)) (T, error) {
	if key == "" {
		v, _, err := run(nil)
		return v, err
	}
	var zero T
	sl, err := s.reserve(ctx, c, operation, key, input)
	if err != nil {
		return zero, err
	}
	if sl.row.Done {
		if sl.row.Code != "" {
			return zero, &Error{code: sl.row.Code, message: sl.row.Message, Field: sl.row.Field}
		}
		return replay(sl.row.Ref)
	}
	v, ref, err := run(sl)
	if !sl.done {
		s.conclude(ctx, sl, ref, err)
	}
	return v, err
}

// reserve takes the row for a request, or returns the one of a request that
// is done.
func (s *Service) reserve(ctx context.Context, c Caller, operation, key string, input any) (*slot, error) {
	if err := CheckIdempotencyKey(key); err != nil {
		return nil, err
	}
	b, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	asked := sha256.Sum256(b)
	name := sha256.Sum256([]byte(key))
	sl := &slot{key: store.Key{PK: "request#" + c.OrganisationID + "#" + operation + "#" + hex.EncodeToString(name[:]), SK: skRequest}}
	digest := hex.EncodeToString(asked[:])
	err = s.transact(ctx, func() error {
		now := s.now()
		row, revision, err := readOr[request](ctx, s, sl.key)
		if err != nil {
			return err
		}
		age := now.Sub(row.StartedAt)
		if revision > 0 && age < requestLife {
			switch {
			case row.Input != digest:
				return Errorf(CodeKeyReused, "Idempotency-Key: was used for another request")
			case row.Done && passing(row.Code): // done anew
			case row.Done:
				sl.row, sl.revision = row, revision
				return nil
			case age < requestLease && !row.StartedAt.Before(s.opt.Since):
				return Errorf(CodeKeyRunning, "Idempotency-Key: the first request with this key is still running").After(requestLease - age)
			}
		}
		sl.row = request{Input: digest, StartedAt: now}
		var b batch
		b.put(sl.key, revision, sl.row).ExpiresAt = now.Add(requestLife)
		if err := s.write(ctx, &b); err != nil {
			return err
		}
		sl.revision = revision + 1
		return nil
	})
	return sl, err
}

// conclude writes what became of a request, or frees its key where a second
// try may do better. It continues after the caller has hung up. Where it fails,
// the lease ends the matter.
func (s *Service) conclude(ctx context.Context, sl *slot, ref string, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var b batch
	code := CodeOf(cause)
	switch {
	case cause == nil:
		sl.settle(&b, ref)
	case keepable(code):
		row := sl.row
		row.Done, row.Code = true, code
		if e, ok := errors.AsType[*Error](cause); ok {
			row.Message, row.Field = e.message, e.Field
		}
		b.put(sl.key, sl.revision, row).ExpiresAt = row.StartedAt.Add(requestLife)
	default:
		b.remove(sl.key, sl.revision)
	}
	if err := s.write(ctx, &b); err != nil {
		s.opt.Log.WarnContext(ctx, "idempotency row not concluded", "error", err)
	}
}

// CheckIdempotencyKey returns CodeInvalid for an Idempotency-Key of a wrong form.
func CheckIdempotencyKey(key string) error {
	if len(key) > MaxIdempotencyKey || !idempotencyForm().MatchString(key) {
		return FieldErrorf("Idempotency-Key", "must be 1 to %d visible ASCII characters", MaxIdempotencyKey)
	}
	return nil
}
