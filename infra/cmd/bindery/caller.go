package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/client"
)

// caller holds the flags by which a command finds the API.
type caller struct {
	url, key, keyFile, profile string
	allowHTTP                  bool
}

func (c *caller) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.url, "url", "", "address of the API (default: $BINDERY_URL, else that of the profile)")
	cmd.Flags().StringVar(&c.key, "key", "", "admin key (default: $BINDERY_ADMIN_KEY, which other users can't see, else that of the profile)")
	cmd.Flags().StringVar(&c.keyFile, "key-file", "", "file that holds the admin key")
	cmd.Flags().StringVar(&c.profile, "profile", "", "profile of bindery login, in place of the environment (default: $BINDERY_PROFILE, else default)")
	cmd.Flags().BoolVar(&c.allowHTTP, "allow-http", false, "send the key also to an address with http:// that is not this machine's or a cluster's own (default: $BINDERY_ALLOW_HTTP)")
}

// access is where the API is and who asks it: what flags say, then the
// environment, then the profile. What is said nowhere is empty.
func (a *app) access(c *caller) (p profile, err error) {
	if c.key != "" && c.keyFile != "" {
		return p, usagef("--key and --key-file can't be used together")
	}
	if c.profile != "" && (c.url != "" || c.key != "" || c.keyFile != "") {
		return p, usagef("--profile has an address and a key of its own: use it without --url, --key and --key-file")
	}
	kept, err := a.profile(c.profile)
	if err != nil {
		return p, err
	}
	if c.profile != "" {
		kept.AllowHTTP = kept.AllowHTTP || c.allowHTTP || a.env.AllowHTTP
		return kept, nil
	}
	p = profile{URL: cmp.Or(c.url, a.env.URL, kept.URL), Key: c.key, Project: a.env.Project, AllowHTTP: c.allowHTTP || a.env.AllowHTTP}
	if c.keyFile != "" {
		raw, err := os.ReadFile(c.keyFile)
		if err != nil {
			return p, err
		}
		p.Key = strings.TrimSpace(string(raw))
	}
	p.Key = cmp.Or(p.Key, a.env.AdminKey)
	// What a profile says holds for its own address. Above all, its key is sent to
	// no other.
	if strings.TrimRight(p.URL, "/") == kept.URL {
		p.Key, p.Project, p.AllowHTTP = cmp.Or(p.Key, kept.Key), cmp.Or(p.Project, kept.Project), p.AllowHTTP || kept.AllowHTTP
	}
	return p, nil
}

// client makes the client that a command's flags, the environment and the profile
// ask for.
func (a *app) client(c *caller) (*client.Client, error) {
	p, err := a.access(c)
	if err != nil {
		return nil, err
	}
	if p.URL == "" {
		return nil, usagef("the address of the API is missing: --url, BINDERY_URL or bindery login")
	}
	if p.Key == "" {
		return nil, usagef("the admin key is missing: --key, --key-file, BINDERY_ADMIN_KEY or bindery login")
	}
	return a.newClient(p.URL, p.Key, p.AllowHTTP, 0)
}

// newClient makes a client that asks a number of times; 0 is the usual number.
func (a *app) newClient(url, key string, allowHTTP bool, attempts int) (*client.Client, error) {
	c, err := client.New(client.Options{
		BaseURL: url, Key: key, AllowHTTP: allowHTTP, Log: a.logger(slog.LevelWarn), UserAgent: "bindery/" + strings.Fields(version())[0], Attempts: attempts,
	})
	if errors.Is(err, client.ErrInTheClear) {
		err = fmt.Errorf("%w, or --allow-http (BINDERY_ALLOW_HTTP=true) on a network that you trust", err)
	}
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// projectOf is the project that a command speaks of: the flag's, the environment's
// or the profile's.
func (a *app) projectOf(flag string, c *caller) (string, error) {
	if flag != "" {
		return flag, nil
	}
	p, err := a.access(c)
	if err == nil && p.Project == "" {
		err = usagef("the project is missing: --project, BINDERY_PROJECT or bindery login --project")
	}
	return p.Project, err
}
