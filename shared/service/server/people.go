package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

// Dashboard is how people reach the pages of a Server.
type Dashboard struct {
	// URL is the address under which they do, and callers of the API, too: every link
	// begins with it. Empty for the one that it listens on. See CheckURL.
	URL string
	// Provider signs them in; nil for links alone.
	Provider *dashboard.Provider
}

// CheckURL says why an address can't be that of a Server: it must lead to the root of a
// host, where the API, the links and the dashboard are.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("must be an address that begins with https:// or http:// and names a host")
	case u.User != nil:
		return errors.New("must have no user or password")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(address, "#"):
		return errors.New("must have no query and no fragment: links have their own")
	case u.Path != "" && u.Path != "/":
		return fmt.Errorf("must have no path: nothing is served below %s, the API and the dashboard are at /", u.Path)
	}
	return nil
}

// publicURL is what links begin with.
func publicURL(opt Options, own string) (string, error) {
	if opt.Dashboard == nil || opt.Dashboard.URL == "" {
		return own, nil
	}
	if err := CheckURL(opt.Dashboard.URL); err != nil {
		return "", fmt.Errorf("the address %s %w", opt.Dashboard.URL, err)
	}
	return strings.TrimSuffix(opt.Dashboard.URL, "/"), nil
}

func (s *Server) addDashboard(opt Options) (err error) {
	if opt.Dashboard == nil {
		return nil
	}
	// Elsewhere a cookie would go over the network in the clear, or a browser would
	// not take it.
	u, err := url.Parse(s.Public)
	if err != nil {
		return err
	}
	s.links = u.Scheme == "http" && hosts.IsLoopback(hosts.Name(u.Host))
	s.people, err = dashboard.New(dashboard.Options{Admin: s.Admin, Objects: s.local.Objects(), URL: s.Public, ClientAddr: s.proxies.Client, Provider: opt.Dashboard.Provider, Links: s.links, Log: s.log})
	return err
}

// SignInLink returns a link that signs the owner of this machine in, once, within a
// minute; empty where the dashboard is for others than this machine, or there is
// none. It returns the errors of admin.Service.LocalLink.
func (s *Server) SignInLink(ctx context.Context) (string, error) {
	if !s.links {
		return "", nil
	}
	return signInLink(ctx, s.Admin, s.Public)
}

func signInLink(ctx context.Context, rules *admin.Service, address string) (string, error) {
	token, err := rules.LocalLink(ctx)
	if err != nil {
		return "", err
	}
	return address + "/sign-in/link?token=" + url.QueryEscape(token), nil
}

// SignInLink is Server.SignInLink from another process on the same data folder,
// which says where the server is.
func SignInLink(ctx context.Context, rules *admin.Service, dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, "env"))
	if err != nil {
		return "", fmt.Errorf("the folder does not say where its Bindery is; start it with bindery up: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "BINDERY_URL="); ok {
			return signInLink(ctx, rules, address)
		}
	}
	return "", fmt.Errorf("%s does not say where its Bindery is", f.Name())
}
