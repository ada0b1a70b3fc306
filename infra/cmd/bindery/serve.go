package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/base/httpend"
	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/archive"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/service/preview"
)

func (a *app) serveCommand() *cobra.Command {
	var addr string
	var open bool
	cmd := &cobra.Command{
		Use:   "serve FILE|DIR",
		Short: "Look at a bundle in a browser",
		Long: `Serve shows a bundle, or a folder that a bundle was unpacked into, on this machine. It
reads single files from the archive by its index and compares each with its digest. An
archive of an older release, which has no index, is checked and unpacked into a temporary
folder. /guides/start is guides/start.html, and the redirects of the site are followed.
Text is sent compressed to readers who take it.
Requests must name the machine by its address, its name or localhost, as those of dev.`,
		Example: `  bindery serve bundle.tar.gz
  bindery serve ./public --addr 127.0.0.1:9000`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			return a.serveBundle(cmd.Context(), args[0], addr, open)
		}),
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8788", "address to listen on; port 0 takes a free one")
	cmd.Flags().BoolVar(&open, "open", false, "open the site in a browser")
	return cmd
}

// serveBundle shows a bundle, or the folder of one, until ctx ends.
func (a *app) serveBundle(ctx context.Context, name, addr string, open bool) error {
	dir := name
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	show := func(handler http.Handler) error {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		a.warnIfOpen(listener.Addr())
		at := fmt.Sprintf("http://%s/", listener.Addr())
		a.say("%s is at %s (Ctrl-C ends this)", name, at)
		if open {
			if err := browse(ctx, at); err != nil {
				a.warn("no browser could be opened: " + err.Error())
			}
		}
		// Other sites must not read pages that are for some groups only.
		handler = preview.Named(handler, hosts.OfMachine(host))
		return serveUntil(ctx, &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}, listener)
	}
	if !info.IsDir() {
		handler, done, err := a.archiveHandler(ctx, name)
		if err == nil {
			defer done()
			return show(handler)
		}
		if !errors.Is(err, bundle.ErrNoIndex) {
			return fmt.Errorf("%s: %w", name, err)
		}
		folder, err := tempdir.Make("serve")
		if err != nil {
			return err
		}
		dir = folder.Path
		defer func() { _ = folder.Remove() }()
		if err := unpack(ctx, name, dir); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	handler, err := bundleHandler(root.FS())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !isFile(root.FS(), bundle.InfoPath) && isFile(root.FS(), "docs.json") {
		return fmt.Errorf("%s is the source of a site, not a bundle: bindery dev %[1]s shows it, and bindery run %[1]s --out bundle.tar.gz makes a bundle of it", name)
	}
	if !isFile(root.FS(), bundle.InfoPath) {
		a.warn(fmt.Sprintf("there is no %s in %s; is it the folder that a bundle was unpacked into?", bundle.InfoPath, name))
	}
	return show(handler)
}

// archiveCache is the most bytes of files that serve has in memory, archiveLargest the most
// of one file.
const archiveCache, archiveLargest = 32 << 20, 1 << 20

// archiveHandler shows an archive without unpacking it, until done is called. The error
// is bundle.ErrNoIndex for an archive of an older release, and for what is no archive.
func (a *app) archiveHandler(ctx context.Context, name string) (_ http.Handler, done func(), _ error) {
	src, err := archive.OpenFile(name)
	if err != nil {
		return nil, nil, err
	}
	cache := site.NewCache(archiveCache, archiveLargest)
	footer, err := archive.Footer(ctx, src, src.Size())
	var v *archive.Version
	if err == nil {
		v, err = archive.Open(ctx, src, footer.Root, cache)
	}
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	h := &site.Handler{Cache: cache, Fresh: true, Failed: func(_ context.Context, _ site.Version, f site.File, err error) {
		what := "the index"
		if f != nil {
			what = f.Facts().Name
		}
		a.warn(fmt.Sprintf("%s can't be read: %v", what, err))
	}}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reply := h.Answer(w, r, v); reply.Err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	return handler, func() { _ = src.Close() }, nil
}

func unpack(ctx context.Context, file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, _, err := bundle.Unpack(ctx, f, dir, bundle.Limits{}); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// warnIfOpen says so when others than this machine can connect.
func (a *app) warnIfOpen(addr net.Addr) {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		a.warn(fmt.Sprintf("others can connect to %s, and nothing here is encrypted", addr))
	}
}

// serveUntil serves until ctx ends, then lets requests under way end for a
// while.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	httpend.EndUnused(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		_ = server.Close()
	}
	<-ended
	return nil
}

// bundleHandler shows an unpacked bundle by the rules of bindery-serve: clean
// addresses, redirects, 404.html, the policy that the bundle asks for.
func bundleHandler(files fs.FS) (http.Handler, error) {
	info, err := readInfo(files)
	if err != nil {
		return nil, err
	}
	redirects, err := address.NewRedirects(info.Redirects)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.InfoPath, err)
	}
	policy := ""
	if info.Format != 0 {
		policy = site.ContentSecurityPolicy(info)
	}
	addresses := address.Addresses{
		Has: func(name string) bool { return isFile(files, name) },
		Stub: func(name string) bool {
			data, _, err := readFile(files, name)
			return err == nil && strings.HasSuffix(name, ".html") && address.IsStub(data)
		},
		Redirects: redirects,
	}
	compressed, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(compresses))
	if err != nil {
		return nil, err
	}
	return compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		answer := addresses.Find(r.URL.Path, r.URL.RawQuery)
		if to := answer.To; to != "" {
			status := http.StatusTemporaryRedirect
			if answer.Permanent {
				status = http.StatusPermanentRedirect
			}
			// A browser must not keep it for the next bundle at this address.
			w.Header().Set("Cache-Control", "no-cache")
			http.Redirect(w, r, address.WithQuery(to, r.URL.RawQuery), status)
			return
		}
		status, name := http.StatusOK, answer.File
		data, modified, err := readFile(files, name)
		if err != nil {
			status, name = http.StatusNotFound, "404.html"
			if data, modified, err = readFile(files, name); err != nil {
				http.NotFound(w, r)
				return
			}
		}
		w.Header().Set("Content-Type", site.ContentType(name))
		w.Header().Set("Cache-Control", site.CacheControl(name))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		if status != http.StatusOK {
			w.WriteHeader(status)
			if r.Method == http.MethodGet {
				_, _ = w.Write(data)
			}
			return
		}
		site.WithoutRange(r)
		http.ServeContent(w, r, name, modified, bytes.NewReader(data))
	})), nil
}

// compresses reports whether a media type becomes smaller on its way: pictures
// and fonts are compressed already.
func compresses(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	switch mediaType = strings.TrimSpace(mediaType); mediaType {
	case "application/json", "application/javascript", "application/xml", "application/wasm", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") || strings.HasSuffix(mediaType, "+xml")
}

// readInfo reads the description of an unpacked bundle; a folder without one
// has an empty one.
func readInfo(files fs.FS) (*bundle.Info, error) {
	raw, err := fs.ReadFile(files, bundle.InfoPath)
	if errors.Is(err, fs.ErrNotExist) {
		return &bundle.Info{}, nil
	}
	if err != nil {
		return nil, err
	}
	return bundle.ParseInfo(raw)
}

func isFile(files fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}

func readFile(files fs.FS, name string) (data []byte, modified time.Time, err error) {
	if !isFile(files, name) {
		return nil, modified, fs.ErrNotExist
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, modified, err
	}
	data, err = fs.ReadFile(files, name)
	return data, info.ModTime(), err
}
