package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/bundle"
	"github.com/bindery-docs/bindery/shared/site"
	"github.com/bindery-docs/bindery/shared/store"
)

// run is around every step: it gives errors their codes, keeps the first cause
// that no retry heals for Fail, and turns a panic into an error.
func (s *Steps) run(ctx context.Context, job, step string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.ErrorContext(ctx, "a step panicked", "job", job, "step", step, "panic", p, "stack", string(debug.Stack()))
			err = admin.Errorf(admin.CodeInternal, "the export met a fault of ours").Wrap(fmt.Errorf("panic: %v", p))
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil { // stopped from outside: the workflow knows why
			err = ctx.Err()
			return
		}
		err = coded(err)
		level := slog.LevelError
		switch code := admin.CodeOf(err); code {
		case admin.CodeTemporary, admin.CodeJobNotActive:
			level = slog.LevelWarn
		default:
			message := ""
			if c, ok := errors.AsType[store.Coded](err); ok {
				message = c.SafeMessage()
			}
			if e := s.admin.RecordFailure(ctx, job, code, message); e != nil && admin.CodeOf(e) != admin.CodeJobNotActive {
				s.log.WarnContext(ctx, "the cause of a failure was not recorded", "job", job, "error", e)
			}
		}
		s.log.Log(ctx, level, "a step failed", "job", job, "step", step, "error", err)
	}()
	return fn()
}

// coded gives an error a code. What has none yet is what a port said, and a
// later call may not meet it.
func coded(err error) error {
	if _, ok := errors.AsType[store.Coded](err); ok {
		return err
	}
	if config, ok := errors.AsType[*site.ConfigError](err); ok {
		return admin.Errorf(admin.CodeInvalidSite, "%s", config.Error()).Wrap(err)
	}
	if name, ok := errors.AsType[*bundle.Error](err); ok && name.Fault == bundle.Unsafe {
		return admin.Errorf(admin.CodeInvalidSite, "%s: the file can't be in a bundle: %s", name.Path, name.Message).Wrap(err)
	}
	if errors.Is(err, store.ErrDigest) {
		return admin.Errorf(admin.CodeInconsistent, "the snapshot's files are not what its manifest says").Wrap(err)
	}
	return admin.Errorf(admin.CodeTemporary, "the export's storage did not answer as it should").Wrap(err)
}

// internal marks an error as a fault of ours.
func internal(message string, err error) error {
	return admin.Errorf(admin.CodeInternal, "%s", message).Wrap(err)
}

// messages are what a failed job says when the step itself left no cause.
var messages = map[string]string{
	admin.CodeInvalidSite:     "the site can't be exported as it is",
	admin.CodeRendererChanged: "the renderer was changed during the export; start another one",
	admin.CodeSiteTooLarge:    "the site is over a limit of exports",
	admin.CodeInconsistent:    "the snapshot's files are not what its manifest says",
	admin.CodeTemporary:       "the export met a passing fault again and again; start another one",
	admin.CodeInternal:        "the export met a fault of ours",
}

// Fail marks a job as failed. The cause that a step recorded goes before the
// one that the workflow names. A job that is final already stays as it is, and
// that is no error.
func (s *Steps) Fail(ctx context.Context, in FailInput) error {
	code := in.Error.Error
	message := messages[code]
	if message == "" {
		s.log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.JobID, "error", code, "cause", in.Error.Cause)
		code, message = admin.CodeInternal, messages[admin.CodeInternal]
		if in.Error.Error == "States.Timeout" {
			message = "the export took too long"
		}
	}
	err := s.admin.FailExport(ctx, in.JobID, code, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return coded(err)
	}
	s.clean(ctx, in.JobID, "")
	return nil
}

// clean removes what a job that is final needs no more: all its objects but
// keep, the bundle of one that is completed. What it misses costs storage until
// the next sweep, and nothing else.
func (s *Steps) clean(ctx context.Context, job, keep string) {
	for {
		list, err := s.objects.List(ctx, jobPrefix(job), "", 1000)
		var keys []string
		for _, o := range list {
			if o.Key != keep {
				keys = append(keys, o.Key)
			}
		}
		if err == nil && len(keys) > 0 {
			err = s.objects.Delete(ctx, keys...)
		}
		if err != nil {
			s.log.WarnContext(ctx, "the parts of an export were not removed", "job", job, "error", err)
		}
		if err != nil || len(keys) == 0 {
			return
		}
	}
}
