package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// run is around every step: it adds codes to errors, keeps the first cause
// that no retry can cure for Fail, turns a panic into an error, and notes how long
// a step took that succeeded. shard is 0 for a step of the whole.
func (s *Steps) run(ctx context.Context, id, step string, shard int, fn func() error) (err error) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			s.opt.Log.ErrorContext(ctx, "a step panicked", "job", id, "step", step, "panic", p, "stack", string(debug.Stack()))
			err = internal(job.Message(admin.CodeInternal), fmt.Errorf("panic: %v", p))
		}
		if more, ok := errors.AsType[*moreError](err); ok {
			err, shard = nil, more.parts // one call of several
		}
		if err == nil {
			if e := s.opt.Admin.NoteStep(ctx, id, step, shard, time.Since(began)); e != nil {
				s.opt.Log.WarnContext(ctx, "how long a step took was not noted", "job", id, "step", step, "error", e)
			}
			return
		}
		if ctx.Err() != nil { // stopped from outside: the workflow knows why
			err = ctx.Err()
			return
		}
		err = coded(err)
		level := slog.LevelError
		code := admin.CodeOf(err)
		_, outage := errors.AsType[*store.Outage](err)
		switch {
		case code == admin.CodeTemporary && !outage, code == admin.CodeJobNotActive:
			level = slog.LevelWarn
		default:
			message := ""
			if c, ok := errors.AsType[store.Coded](err); ok {
				message = c.SafeMessage()
			}
			if e := s.opt.Admin.RecordFailure(ctx, id, code, message); e != nil && admin.CodeOf(e) != admin.CodeJobNotActive {
				s.opt.Log.WarnContext(ctx, "the cause of a failure was not recorded", "job", id, "error", e)
			}
		}
		s.opt.Log.Log(ctx, level, "a step failed", "job", id, "step", step, "error", err)
	}()
	return fn()
}

// coded gives an error a code: to those about the site, and to all others as
// package job does.
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
	if ended, ok := errors.AsType[*island.Ended](err); ok {
		return admin.Errorf(admin.CodeInvalidSite, "%s", ended.Error()).Wrap(err)
	}
	return job.Coded(err)
}

// internal marks an error as one of the service itself.
func internal(message string, err error) error {
	return admin.Errorf(admin.CodeInternal, "%s", message).Wrap(err)
}
