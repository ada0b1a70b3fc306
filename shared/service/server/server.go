// Package server is a whole Bindery in one process: API, storage, workflow and
// what looks after jobs, on one data folder. It only puts other rooms together;
// programs and tests start one with Open and Serve.
//
//	server.go    Server: what it is made of, its beginning and its end
//	limits.go    how long requests and answers may take
//	unused.go    connections without a request, which no end waits for
//	conn.go      connections: how many, and what net/http would refuse its own way
//	children.go  the processes that do the steps of exports, one for each
//	child.go     what such a process does
//	agent.go     the steps of agents, and whether one can work for a project
//	hosts.go     the names of the server: of the API and the dashboard, and of sites
//	people.go    the dashboard, and links that sign its owner in
//	seed.go      an organisation, a project and a key to begin with
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/httpend"
	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/sites"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/webhook"
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
	// webhookPause is the time between two looks for events that wait for endpoints.
	webhookPause = time.Second
	// eventPause is the time between two looks for events of an agent job that a caller
	// waits for.
	eventPause = 200 * time.Millisecond
	// sweepEvery is after how many looks files that no record names are removed.
	sweepEvery = 60
	// drainTime is how long ending may take before requests and steps are
	// broken off. Nothing is lost by that: a job begins again.
	drainTime = 20 * time.Second
)

// Options are what a Server works with. Dir and Addr are required.
type Options struct {
	// Dir is the data folder, which is made if it is not there. One process at
	// a time can serve it.
	Dir string
	// Temporary says that Dir is removed after Close: nothing is synced to the disk,
	// and the processes of exports collect garbage late (CollectLate).
	Temporary bool
	// SnapshotID is that of admin.Options.
	SnapshotID func(manifest string) string
	// Kept is a folder in which exports leave what pages are made into for later
	// ones, also of other Servers; it is made if it does not exist. All exports of
	// the Server must be of one site. By default nothing is kept.
	Kept string
	// Addr is the address to listen on; port 0 takes a free one.
	Addr string
	// Program is started, again and again, to do the steps of exports and to
	// show components that authors write: one that calls Child where IsChild
	// says so, and island.Work where island.IsWorker does. Without it, steps are
	// done in this process, and exports leave such components out.
	Program string
	// Memory is how many bytes the process of an export may hold, 4 GiB unless
	// it is set.
	Memory uint64
	// Models are what agents ask; nil means that there are no agents.
	Models *models.Models
	// Forge says which forges agents may work with. Credentials are the projects';
	// a *forge.App serves those that have none.
	Forge forge.Options
	// Callbacks is which addresses webhooks may have.
	Callbacks remote.Callbacks
	// Proxies may say where a request comes from: for the addresses that keys are bound
	// to, limits and logs.
	Proxies proxy.Trusted
	// Dashboard serves people at "/"; nil for callers of the API alone.
	Dashboard *Dashboard
	// Hosts are further names by which clients call the API and the dashboard.
	Hosts []string
	// SitesAddr is the host below which each site has one, with its port unless that is the
	// one of the public address. By default it is localhost, if the public address is on this
	// machine. Without a dashboard, or a SitesAddr for a public address elsewhere, no
	// sites are served.
	SitesAddr string
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
}

// CollectLate has this process, that of a short command, let its heap grow by
// three times as much as usual before it collects garbage, as long as it holds
// less than 3 GiB.
func CollectLate() {
	debug.SetMemoryLimit(childMemory / 4 * 3)
	debug.SetGCPercent(300)
}

// Server is a whole Bindery in one process.
type Server struct {
	// URL is where it answers on this machine.
	URL string
	// Public is the address that links begin with: URL unless people come by another.
	Public string
	// Admin is its rules, beside the API.
	Admin *admin.Service

	dir      string
	log      *slog.Logger
	local    *local.Local
	listener net.Listener
	server   *http.Server
	tasks    map[string]asl.Task
	keeper   *job.Keeper
	webhooks *webhook.Dispatcher
	children *children // nil without a program
	forges   *forges.Forges
	models   *models.Models       // nil without agents
	people   *dashboard.Dashboard // nil without one
	links    bool                 // links of LocalLink sign in
	proxies  proxy.Trusted
	names    names
	sites    *sites.Handler
	stop     context.CancelFunc
	work     sync.WaitGroup
	ended    chan struct{} // closed when it answers no more
	closing  chan struct{} // closed by Close: calls that wait for events end
	close    sync.Once
	fault    error // why, to be read after ended

	// pull is the step that asks a forge for a pull request.
	pull func(context.Context, admin.AgentRef) (job.PullOutput, error)

	timeouts timeouts      // of requests and responses
	most     int           // connections of one client address
	pause    time.Duration // between two looks
	drain    time.Duration // limits Close
}

// Open takes the data folder and the address; Serve begins. The error is
// local.ErrLocked where another process serves the folder.
func Open(ctx context.Context, opt Options) (*Server, error) {
	log := cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	l, err := local.Open(ctx, local.Options{Dir: opt.Dir, Temporary: opt.Temporary, Log: log})
	if err != nil {
		return nil, err
	}
	s := &Server{dir: opt.Dir, log: log, local: l, ended: make(chan struct{}), closing: make(chan struct{}), proxies: opt.Proxies, timeouts: defaultTimeouts(), most: maxConnections, pause: reconcilePause, drain: drainTime}
	if err := l.Lock(); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	s.sweepPrivate()
	if s.listener, err = net.Listen("tcp", opt.Addr); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	s.URL = "http://" + reachable(s.listener.Addr())
	if s.Public, err = publicURL(opt, s.URL); err != nil {
		return nil, errors.Join(err, s.listener.Close(), l.Close(ctx))
	}
	l.SetBaseURL(s.Public)
	at := ""
	if s.names, at, err = namesOf(opt, s.Public); err != nil {
		return nil, errors.Join(err, s.listener.Close(), l.Close(ctx))
	}
	s.Admin = admin.New(admin.Options{
		SnapshotID: opt.SnapshotID,
		Store:      l.Store(), Objects: l.Objects(), Runner: l.Runner(), Secrets: l.Secrets(), Log: log, PollAfter: localPace, PollFreely: freeAge,
		Since:     time.Now(), // the folder is locked
		Callbacks: opt.Callbacks,
		Sites:     admin.Sites{URL: at, Key: l.Key("sites")},
		AgentReady: func(ctx context.Context, p admin.Project, model string) (string, error) {
			return s.agentReady(ctx, p, model)
		},
		AgentModels: func() []admin.AgentModel { return models.List(s.table()) },
	})
	s.tasks = map[string]asl.Task{}
	if err := s.addAgent(opt); err != nil {
		return nil, errors.Join(err, s.listener.Close(), l.Close(ctx))
	}
	if opt.Program != "" {
		charge := charge{Dir: opt.Dir, Temporary: opt.Temporary, Kept: opt.Kept, KeepInObjects: !opt.Temporary, Program: opt.Program, Renderer: export.Renderer(), Memory: cmp.Or(opt.Memory, childMemory)}
		s.children = &children{charge: charge, log: log, record: s.Admin.RecordFailure, jobs: map[string]*family{}}
		for _, name := range []string{job.TaskPlan, job.TaskRender, job.TaskAssemble} {
			s.tasks[name] = s.children.task(name)
		}
	} else {
		values, err := openKept(opt.Kept)
		if err != nil {
			return nil, errors.Join(err, s.listener.Close(), l.Close(ctx))
		}
		steps := export.New(export.Options{Kept: values, KeepInObjects: !opt.Temporary, Admin: s.Admin, Objects: l.Objects(), Fetcher: remote.New(remote.Options{Log: log}), Log: log})
		for name, task := range steps.Tasks() {
			s.tasks[name] = task
		}
	}
	s.webhooks = webhook.New(webhook.Options{
		Admin: s.Admin, Sender: webhook.NewSender(webhook.SenderOptions{Callbacks: opt.Callbacks}), Log: log,
	})
	if err := s.addDashboard(opt); err != nil {
		return nil, errors.Join(err, s.listener.Close(), l.Close(ctx))
	}
	s.sites = sites.New(sites.Options{Admin: s.Admin, Objects: l.Objects(), Dashboard: s.Public, Secure: strings.HasPrefix(s.Public, "https:"), Log: log})
	s.keeper = job.NewKeeper(job.Options{Admin: s.Admin, Objects: l.Objects(), Runner: l.Runner(), Pull: s.pull, Log: log})
	return s, nil
}

// Addr is the address that it listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Bundle returns the bundle of a completed export: its record, and a function that
// opens its file. It returns the errors of admin.Service.FindExport.
func (s *Server) Bundle(ctx context.Context, jobID string) (admin.Bundle, func(ctx context.Context) (*os.File, error), error) {
	j, err := s.Admin.FindExport(ctx, jobID)
	if err != nil {
		return admin.Bundle{}, nil, err
	}
	if j.Bundle == nil {
		return admin.Bundle{}, nil, fmt.Errorf("the job %s has no bundle", jobID)
	}
	return *j.Bundle, func(ctx context.Context) (*os.File, error) {
		return s.local.Objects().File(ctx, j.Bundle.Key)
	}, nil
}

// TakeUpload makes a file of this machine what an upload asks for, without a copy, and
// reports whether it could: it can where the server's folder is a temporary one, and
// on the same disk. The file must not change afterwards.
func (s *Server) TakeUpload(ctx context.Context, u api.Upload, file string) (bool, error) {
	return s.local.Objects().Take(ctx, u.URL, file)
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
func (s *Server) Serve(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.tasks[job.TaskFail] = job.Task(job.Silent(s.keeper.Fail))
	s.tasks[job.TaskAgentFail] = job.Task(job.Silent(s.keeper.FailAgent))
	options := local.RunnerOptions{OnEnd: s.keeper.Ended, Owner: s.owner, Log: s.log}
	if s.children != nil {
		options.Over = func(e store.Execution) { s.children.forget(e.Name) }
	}
	err := s.local.Runner().Resume(ctx, s.tasks, options)
	if err != nil {
		return err
	}
	if n, err := s.Admin.Backfill(ctx, false); err != nil {
		s.log.ErrorContext(ctx, "exports of earlier releases are not in the list of exports", "error", err)
	} else if n > 0 {
		s.log.InfoContext(ctx, "exports of earlier releases are in the list of exports", "count", n)
	}
	calls := api.Handler(api.Options{Admin: s.Admin, Objects: s.local.Objects(), ClientAddr: s.proxies.Client, Log: s.log, EventPause: eventPause, Closing: s.closing})
	links := s.local.Objects().Handler()
	s.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		// "OPTIONS *" is a method that nothing answers, like all others.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// No ServeMux: it answers unclean paths with redirects of its own.
		Handler: limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			label, ok := s.names.of(r)
			switch {
			case !ok:
				http.Error(w, fmt.Sprintf("This server does not answer for the host %q. If it should, start it with --host.", r.Host), http.StatusMisdirectedRequest)
				return
			case label != "":
				s.sites.Serve(w, r, label)
				return
			}
			if strings.HasPrefix(r.URL.Path, local.LinkPath) {
				links.ServeHTTP(w, r)
				return
			}
			if s.people != nil && dashboard.Owns(r.URL.Path) {
				s.people.ServeHTTP(w, r)
				return
			}
			calls.ServeHTTP(w, r)
		}), s.timeouts),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			if c, ok := c.(*conn); ok {
				c.refusing = state == http.StateActive // until a handler has the request
			}
		},
	}
	httpend.EndUnused(s.server)
	go func() {
		s.fault = s.server.Serve(&listener{Listener: s.listener, most: s.most, proxies: s.proxies, open: map[netip.Addr]int{}})
		close(s.ended)
	}()
	s.work.Go(func() { s.reconcile(ctx) })
	// Exports end in processes of their own, so nobody here is told of an event.
	s.work.Go(func() { s.webhooks.Run(ctx, webhookPause) })
	return nil
}

// Wait waits until ctx ends, which is not an error, or until the server, after
// Serve, can't go on.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ended:
		return s.fault
	}
}

// owner is the organisation of an execution, by its job.
func (s *Server) owner(ctx context.Context, e store.Execution) string {
	if e.Workflow == store.WorkflowAgent {
		var ref admin.AgentRef
		_ = json.Unmarshal([]byte(e.Input), &ref) // it names no job then
		j, _ := s.Admin.FindAgentJob(ctx, ref.Project, ref.Job)
		return j.Organisation
	}
	j, err := s.Admin.FindExport(ctx, e.Name)
	if err != nil {
		return "" // the execution itself says what is wrong
	}
	return j.Organisation
}

// reconcile looks for jobs that hang and files that nothing names, now and then.
func (s *Server) reconcile(ctx context.Context) {
	tick := time.NewTicker(s.pause)
	defer tick.Stop()
	for n := 1; ; n++ {
		if err := s.keeper.Reconcile(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "reconciling failed", "error", err)
		}
		if n%sweepEvery == 0 {
			if err := s.local.Objects().Sweep(ctx); err != nil && ctx.Err() == nil {
				s.log.ErrorContext(ctx, "files that nothing names were not removed", "error", err)
			}
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
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	s.close.Do(func() { close(s.closing) })
	var errs []error
	if s.server != nil {
		if err := s.server.Shutdown(ctx); err != nil {
			errs = append(errs, s.server.Close())
		}
		if <-s.ended; !errors.Is(s.fault, http.ErrServerClosed) {
			errs = append(errs, s.fault)
		}
	} else {
		errs = append(errs, s.listener.Close())
	}
	if s.stop != nil {
		errs = append(errs, s.local.Runner().Close(ctx))
		s.stop()
	}
	s.work.Wait()
	if s.children != nil {
		s.children.Close()
	}
	return errors.Join(append(errs, s.local.Close(ctx))...)
}
