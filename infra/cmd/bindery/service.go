package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

const (
	// localPace is what callers of a service on this machine are asked to
	// keep: there is no network between, and exports take seconds. That is the
	// shortest that Retry-After can say, and long beside the export of a small
	// site: a job younger than freeAge may be read at any pace.
	localPace = time.Second
	freeAge   = 5 * time.Second
	// reconcilePause is the time between two looks for jobs that hang.
	reconcilePause = time.Minute
	// drainTime is how long ending may take before requests and steps are
	// broken off. Nothing is lost by that: a job begins again.
	drainTime = 20 * time.Second
)

// service is a whole Bindery in one process: API, storage and workflow.
type service struct {
	// URL is where it answers.
	URL   string
	Admin *admin.Service

	log      *slog.Logger
	local    *local.Local
	listener net.Listener
	server   *http.Server
	steps    *export.Steps
	keeper   *job.Keeper
	islands  *island.Engine
	stop     context.CancelFunc
	work     sync.WaitGroup
	served   chan error
}

// openService takes the data folder and the address; Serve begins.
func openService(ctx context.Context, data, addr string, log *slog.Logger) (*service, error) {
	l, err := local.Open(ctx, local.Options{Dir: data, Log: log})
	if err != nil {
		return nil, err
	}
	s := &service{log: log, local: l, served: make(chan error, 1)}
	if err := l.Lock(); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	s.URL = "http://" + reachable(s.listener.Addr())
	l.SetBaseURL(s.URL)
	s.Admin = admin.New(admin.Options{
		Store: l.Store(), Objects: l.Objects(), Runner: l.Runner(), Log: log, PollAfter: localPace, PollFreely: freeAge,
	})
	program, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	s.islands = island.New(island.Options{Program: program, Log: log})
	s.steps = export.New(export.Options{Admin: s.Admin, Objects: l.Objects(), Islands: s.islands, Fetcher: remote.New(remote.Options{Log: log}), Log: log})
	s.keeper = job.NewKeeper(job.Options{Admin: s.Admin, Objects: l.Objects(), Runner: l.Runner(), Log: log})
	return s, nil
}

// reachable is the address under which a listener is reached from this machine.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return addr.String()
}

// Serve begins to answer and to run exports, those of an earlier process
// first. It returns at once.
func (s *service) Serve(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	tasks := s.steps.Tasks()
	tasks[job.TaskFail] = job.Task(job.Silent(s.keeper.Fail))
	err := s.local.Runner().Resume(ctx, tasks, local.RunnerOptions{OnEnd: s.ended, Log: s.log})
	if err != nil {
		return err
	}
	calls := api.Handler(api.Options{Admin: s.Admin, Objects: s.local.Objects(), Log: slog.New(slog.NewMultiHandler(
		s.log.Handler(), requestHandler{slog.NewJSONHandler(s.local.RequestLog(), nil)}))})
	links := s.local.Objects().Handler()
	s.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		// "OPTIONS *" is a method that nothing answers, like all others.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No ServeMux: it answers unclean paths with redirects of its own.
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, local.LinkPath) {
				links.ServeHTTP(w, r)
				return
			}
			calls.ServeHTTP(w, r)
		}),
	}
	go func() { s.served <- s.server.Serve(s.listener) }()
	s.work.Go(func() { s.reconcile(ctx) })
	return nil
}

// ended is told of executions that did not succeed, as an event rule is in the
// cloud, and fails their job.
func (s *service) ended(ctx context.Context, e store.Execution) error {
	return s.keeper.Fail(ctx, job.FailInput{JobID: e.Name, Error: job.ErrorNames{Error: e.Error, Cause: e.Cause}})
}

// reconcile looks for jobs that hang, now and then.
func (s *service) reconcile(ctx context.Context) {
	tick := time.NewTicker(reconcilePause)
	defer tick.Stop()
	for {
		if err := s.keeper.Reconcile(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "reconciling failed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends well: requests under way are answered, steps stop at a point from
// where the next start goes on.
func (s *service) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var errs []error
	if s.server != nil {
		if err := s.server.Shutdown(ctx); err != nil {
			errs = append(errs, s.server.Close())
		}
		if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	} else {
		errs = append(errs, s.listener.Close())
	}
	if s.stop != nil {
		errs = append(errs, s.local.Runner().Close(ctx))
		s.stop()
	}
	s.work.Wait()
	s.islands.Close()
	return errors.Join(append(errs, s.local.Close(ctx))...)
}
