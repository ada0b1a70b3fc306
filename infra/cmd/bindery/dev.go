package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/preview"
	"github.com/bindery-docs/bindery/shared/service/server"
)

// devFlags are the flags of bindery dev.
type devFlags struct {
	host string
	port int
	open bool
}

func (a *app) devCommand() *cobra.Command {
	var f devFlags
	opt := preview.Options{Kind: admin.KindCloud}
	cmd := &cobra.Command{
		Use:   "dev DIR",
		Short: "Show a folder as its bundle will be, and follow every change",
		Long: `Dev shows the site in a folder with a docs.json at an address of this machine. A page is
rendered when it is asked for, as an export renders it, and again when its file, a
snippet, a specification or docs.json changes: the page in the browser then changes as
well, and stays where it was scrolled to.

Findings are shown here and on the page; a click opens the editor that $VISUAL or $EDITOR
names at the line, or Visual Studio Code. What can't be read is shown over the page
as it was before. Nothing is written to the folder, and nothing is sent anywhere: what
pages load from other hosts is not fetched.

With --host 0.0.0.0, phones in the same network can see the site, too.`,
		Example: `  bindery dev docs --open
  bindery dev docs --host 0.0.0.0 --port 8080`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			server.CollectLate()
			set, err := settingsOf(cmd, args[0])
			if err != nil {
				return err
			}
			if err := set.check(opt.Domain, admin.Configuration{Kind: opt.Kind, Settings: opt.Settings}, nil); err != nil {
				return err
			}
			opt.Dir = args[0]
			return a.dev(cmd.Context(), f, cmd.Flags().Changed("port"), opt)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.host, "host", "127.0.0.1", "address to listen on; 0.0.0.0 is all of this machine's")
	flags.IntVar(&f.port, "port", 4000, "port to listen on; without the flag, the next that is free")
	flags.BoolVar(&f.open, "open", false, "open the site in a browser")
	flags.StringVar(&opt.Domain, "domain", server.SeedDomain, "domain that the site is published under: canonical addresses have it")
	flags.StringVar((*string)(&opt.Kind), "kind", string(admin.KindCloud), "deployment: cloud, client-hosted or air-gapped")
	bundleFlags(flags, &opt.Settings)
	_ = flags.MarkHidden("allow-host") // calls of run may be made calls of dev; nothing is fetched
	groupsFlag(cmd, &opt.Groups)
	return cmd
}

// dev shows a folder until ctx ends.
func (a *app) dev(ctx context.Context, f devFlags, fixed bool, opt preview.Options) error {
	begun := time.Now()
	opt.Log = a.logger(slog.LevelError)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	scripts := island.New(island.Options{Program: program, Log: opt.Log})
	defer scripts.Close()
	opt.Islands = scripts
	opt.Open = preview.Editor(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	opt.Names = hosts.OfMachine(f.host)
	news := &devNews{app: a}
	opt.Report = news.report
	listener, err := listenNear(f.host, f.port, fixed)
	if err != nil {
		return err
	}
	s, err := preview.New(ctx, opt)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer s.Close()
	compressed, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(func(mediaType string) bool {
		return compresses(mediaType) && mediaType != "text/event-stream" // which must not wait for more
	}))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address := "http://" + shownAddress(listener.Addr()) + s.Base()
	a.say("%s is at %s after %s (Ctrl-C ends this)", opt.Dir, a.paint(a.stdout, bold, address), time.Since(begun).Round(time.Millisecond))
	for _, other := range lanAddresses(listener.Addr()) {
		a.say("  for phones: http://%s%s", other, s.Base())
	}
	a.warnIfOpen(listener.Addr())
	if f.open {
		if err := openBrowser(address); err != nil {
			a.warn("the browser could not be opened: " + err.Error())
		}
	}
	watched := make(chan error, 1)
	go func() {
		err := s.Watch(ctx)
		watched <- err
		if err != nil {
			cancel()
		}
	}()
	err = serveUntil(ctx, &http.Server{
		Handler: compressed(s.Handler()), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // ends connections that wait for changes
	}, listener)
	cancel()
	return errors.Join(err, <-watched)
}

// portTries is how many ports are tried.
const portTries = 100

// listenNear listens on a port, or, unless it is fixed, the next one that is free.
func listenNear(host string, port int, fixed bool) (net.Listener, error) {
	for n := range portTries {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port+n)))
		if err == nil || fixed || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return nil, fmt.Errorf("the ports from %d to %d are in use", port, port+portTries-1)
}

// shownAddress is where a browser of this machine finds a listener.
func shownAddress(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return addr.String()
}

// lanAddresses are where other machines find a listener that listens everywhere.
func lanAddresses(addr net.Addr) []string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return nil
	}
	var out []string
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if at, ok := a.(*net.IPNet); ok && at.IP.To4() != nil && !at.IP.IsLoopback() && !at.IP.IsLinkLocalUnicast() {
			out = append(out, net.JoinHostPort(at.IP.String(), strconv.Itoa(tcp.Port)))
		}
	}
	return out
}

// openBrowser opens an address in the browser of the person at this machine.
func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// devNews shows what a preview finds, of later reports what is new.
type devNews struct {
	*app
	before []check.Finding
	counts check.Counts
	begun  bool
	fault  string // that was shown last
}

func (n *devNews) report(r preview.Report) {
	var b bytes.Buffer
	fault := ""
	if r.Fault != nil {
		if fault = r.Fault.File + r.Fault.Message; fault != n.fault {
			n.showFindings(&b, n.stdout, []check.Finding{r.Fault.Finding}, r.Line)
		}
	} else {
		fresh := check.New(n.before, r.Findings)
		n.showFindings(&b, n.stdout, fresh, r.Line)
		if !n.begun || r.Counts != n.counts || n.fault != "" {
			n.showSummary(&b, &checkReport{Pages: r.Pages, Diagnostics: r.Counts})
		}
		n.before, n.counts, n.begun = r.Findings, r.Counts, true
	}
	n.fault = fault
	_, _ = io.Copy(n.stdout, &b)
}
