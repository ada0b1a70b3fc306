package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/bundle"
)

func (a *app) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve FILE|DIR",
		Short: "Look at a bundle in a browser",
		Long: `Serve shows a bundle, checked and unpacked into a temporary folder, or a folder that a
bundle was unpacked into, on this machine. /guides/start is guides/start.html, and the
redirects in its bindery.json are followed.`,
		Example: `  bindery serve bundle.tar.gz
  bindery serve ./public --addr 127.0.0.1:9000`,
		Args: cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			if !info.IsDir() {
				if dir, err = os.MkdirTemp("", "bindery-serve-"); err != nil {
					return err
				}
				defer func() { _ = os.RemoveAll(dir) }()
				if err := unpack(cmd.Context(), args[0], dir); err != nil {
					return err
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer root.Close()
			redirects, err := readRedirects(root.FS())
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			listener, err := net.Listen("tcp", addr)
			if err != nil {
				return err
			}
			a.warnIfOpen(listener.Addr())
			a.say("%s is at http://%s/ (Ctrl-C ends this)", args[0], listener.Addr())
			return serveUntil(cmd.Context(), &http.Server{Handler: bundleHandler(root.FS(), redirects), ReadHeaderTimeout: 10 * time.Second}, listener)
		}),
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8788", "address to listen on; port 0 takes a free one")
	return cmd
}

func unpack(ctx context.Context, file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := bundle.Unpack(ctx, f, dir, bundle.Limits{}); err != nil {
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

// bundleHandler serves an unpacked bundle by clean addresses: x is x.html, a
// folder its index.html, and what is not there a redirect, or else 404.html.
func bundleHandler(site fs.FS, redirects []redirectRule) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name := strings.Trim(path.Clean("/"+r.URL.Path), "/")
		folder := strings.HasSuffix(r.URL.Path, "/")
		// Temporary, also where the site says otherwise: a browser would keep a
		// permanent one for the next bundle at this address.
		redirect := func(to string) {
			if r.URL.RawQuery != "" && !strings.ContainsAny(to, "?#") {
				to += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
		base := path.Base("/" + name)
		switch {
		case name == "" || folder && isFile(site, name+"/index.html"):
			name = path.Join(name, "index.html")
		case folder && isFile(site, name+".html"):
			redirect("../" + base) // links of a page are relative to its file
			return
		case isFile(site, name):
		case isFile(site, name+".html"):
			name += ".html"
		case isFile(site, name+"/index.html"):
			redirect("./" + base + "/")
			return
		default:
			if to, ok := follow(redirects, name); ok {
				redirect(to)
				return
			}
		}
		status := http.StatusOK
		data, info, err := readFile(site, name)
		if err != nil {
			status, name = http.StatusNotFound, "404.html"
			if data, info, err = readFile(site, name); err != nil {
				http.NotFound(w, r)
				return
			}
		}
		if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if status != http.StatusOK {
			w.WriteHeader(status)
			if r.Method == http.MethodGet {
				_, _ = w.Write(data)
			}
			return
		}
		http.ServeContent(w, r, name, info.ModTime(), bytes.NewReader(data))
	})
}

func isFile(site fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(site, name)
	return err == nil && info.Mode().IsRegular()
}

func readFile(site fs.FS, name string) ([]byte, fs.FileInfo, error) {
	if !isFile(site, name) {
		return nil, nil, errors.New("no such file")
	}
	info, err := fs.Stat(site, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := fs.ReadFile(site, name)
	return data, info, err
}
