// Package config reads the environment: every variable that Bindery honours is
// a field of Config, read once, by FromEnv, or, in Lambda functions, a field of
// Function (function.go). No other package asks for one.
//
//	BINDERY_URL        where the API is, for callers
//	BINDERY_ADMIN_KEY  the admin key of callers
//	BINDERY_PROFILE    which profile of bindery login commands use
//	BINDERY_PROJECT    the project that commands speak of
//	BINDERY_DATA       the data folder of a local Bindery
//	BINDERY_STACK      the stack of a Bindery on AWS
//	BINDERY_MODELS     the file that says which models agents ask
//	BINDERY_MODEL_KEY  the key of the default model's server
//	BINDERY_MODEL_KEYS a folder of keys, one file for each server of models
//	BINDERY_FORGE_HOSTS, BINDERY_FORGE_PRIVATE_HOSTS  which forges agents work with
//	BINDERY_FORGE_ALLOW_HTTP  whether private forges may be asked in the clear
//	BINDERY_GITHUB_APP, BINDERY_GITHUB_APP_KEY, BINDERY_GITHUB_APP_HOST  the id, the
//	                   file with the private key and the host of a GitHub App
//	BINDERY_WEBHOOK_HOSTS  hosts of the operator's network that webhooks may have
//	BINDERY_OIDC_CLIENT_SECRET  the secret that an OpenID provider knows the dashboard by
//	BINDERY_ALLOW_HTTP whether a key may go over a network in the clear
//	GITHUB_OUTPUT      where a step of a GitHub Actions workflow puts its outputs
//	NO_COLOR           no colour on terminals (https://no-color.org)
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Config is the environment of a process. The zero value is an empty one.
type Config struct {
	// URL is the address of the API without a trailing slash, such as
	// "https://api.example.com"; empty when BINDERY_URL is not set.
	URL string
	// AdminKey is what callers identify themselves with; empty when
	// BINDERY_ADMIN_KEY is not set. It must never be shown; a Config that is
	// printed, logged or encoded leaves it out.
	AdminKey string
	// Profile is the name of what callers have kept of URL and AdminKey; empty when
	// BINDERY_PROFILE is not set.
	Profile string
	// Project is the id of the project that commands speak of where none is
	// given; empty when BINDERY_PROJECT is not set.
	Project string
	// Data is the data folder; empty when BINDERY_DATA is not set.
	Data string
	// Stack is the name of a CloudFormation stack; empty when BINDERY_STACK is
	// not set.
	Stack string
	// Models is the file of the table of models, ModelKeys the folder of keys, by
	// the names of servers; empty when the variables are not set.
	Models, ModelKeys string
	// ModelKey is the key of the default model's server; as AdminKey, it is never
	// shown.
	ModelKey string
	// ForgeHosts and ForgePrivateHosts are hosts of forges, without and with
	// private addresses; nil when the variables are not set.
	ForgeHosts, ForgePrivateHosts []string
	// ForgeAllowHTTP lets private forges be asked without encryption.
	ForgeAllowHTTP bool
	// GitHubApp is the id of a GitHub App, GitHubAppKey the file with its private
	// key, GitHubAppHost where it is registered; empty when the variables are not
	// set.
	GitHubApp, GitHubAppKey, GitHubAppHost string
	// WebhookHosts are hosts of the operator's own network that webhooks may have;
	// nil when the variable is not set.
	WebhookHosts []string
	// OIDCClientSecret is what an OpenID provider knows the dashboard by; as AdminKey,
	// it is never shown.
	OIDCClientSecret string
	// AllowHTTP lets the key go to an address with http:// over a network.
	AllowHTTP bool
	// GitHubOutput is the file that GitHub Actions reads a step's outputs from;
	// empty when GITHUB_OUTPUT is not set.
	GitHubOutput string
	// NoColor asks for output without colour, whatever value NO_COLOR has.
	NoColor bool
}

// FromEnv reads the environment through getenv, which is os.Getenv outside of
// tests. An error names the variable, and never a key.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Profile: getenv("BINDERY_PROFILE"), Project: getenv("BINDERY_PROJECT"), Data: getenv("BINDERY_DATA"), Stack: getenv("BINDERY_STACK"),
		GitHubOutput: getenv("GITHUB_OUTPUT"), NoColor: getenv("NO_COLOR") != "",
		Models: getenv("BINDERY_MODELS"), ModelKeys: getenv("BINDERY_MODEL_KEYS"),
		GitHubApp: getenv(GitHubApp), GitHubAppKey: getenv("BINDERY_GITHUB_APP_KEY"), GitHubAppHost: getenv(GitHubAppHost),
		ForgeHosts: words(getenv(ForgeHosts)), ForgePrivateHosts: words(getenv(ForgePrivateHosts)),
		WebhookHosts: words(getenv(WebhookHosts))}
	if err := set(getenv, "BINDERY_URL", &c.URL, parseURL); err != nil {
		return Config{}, err
	}
	if err := set(getenv, AllowHTTP, &c.AllowHTTP, truth); err != nil {
		return Config{}, err
	}
	if err := set(getenv, "BINDERY_FORGE_ALLOW_HTTP", &c.ForgeAllowHTTP, truth); err != nil {
		return Config{}, err
	}
	for name, to := range map[string]*string{"BINDERY_ADMIN_KEY": &c.AdminKey, "BINDERY_MODEL_KEY": &c.ModelKey, "BINDERY_OIDC_CLIENT_SECRET": &c.OIDCClientSecret} {
		// A line end comes along easily when a key is pasted or read from a file.
		*to = strings.TrimSpace(getenv(name))
		if strings.ContainsFunc(*to, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return Config{}, errors.New(name + ": has characters that no key has")
		}
	}
	return c, nil
}

// words takes a list apart that has commas or spaces between its items; nil for
// none.
func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// parseURL checks the address of an API and returns it without a trailing slash.
func parseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return "", errors.New("has no host")
	case u.User != nil:
		return "", errors.New("must not hold a user or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(s, "#"):
		return "", errors.New("must not have a query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// hidden takes the place of a key wherever a Config is shown.
const hidden = "[hidden]"

// shown is a Config as it may be printed.
func (c Config) shown() string {
	type plain Config // without methods, which would call this one
	for _, key := range []*string{&c.AdminKey, &c.ModelKey, &c.OIDCClientSecret} {
		if *key != "" {
			*key = hidden
		}
	}
	return fmt.Sprintf("%+v", plain(c))
}

// String shows the Config without its key, as fmt does with all its verbs for
// text, so that no careless print gives it away.
func (c Config) String() string { return c.shown() }

// GoString is String for %#v.
func (c Config) GoString() string { return "config.Config" + c.shown() }

// LogValue is String for logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.shown()) }

// MarshalText is String for encoders.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.shown()), nil }
