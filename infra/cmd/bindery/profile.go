package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// defaultProfile is the profile of callers who name none.
const defaultProfile = "default"

// profile is where the API is and who asks it, kept from one call of the program
// to the next.
type profile struct {
	URL       string `json:"url"`
	Key       string `json:"key"`
	Project   string `json:"project,omitempty"`
	AllowHTTP bool   `json:"allowHTTP,omitempty"`
}

// profiles is the file of profiles, by name.
type profiles struct {
	Profiles map[string]profile `json:"profiles"`
}

// profilesFile is where profiles are kept: in the user's folder of settings.
func profilesFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "bindery", "config"), nil
}

// loadProfiles reads the file; one that is not there has no profiles, and neither
// has a user without a folder of settings. The error of a file that can't be read
// shows nothing of what is in it.
func loadProfiles() (p profiles, err error) {
	file, err := profilesFile()
	if err != nil {
		return p, nil
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := basejson.UnmarshalKnown(raw, &p); err != nil {
		return p, fmt.Errorf("%s is not a file of profiles; bindery login makes a new one once it is removed", file)
	}
	return p, nil
}

// save writes the file as a whole or not at all, for its owner alone. Without
// profiles there is no file.
func (p profiles) save() (file string, err error) {
	if file, err = profilesFile(); err != nil {
		return "", err
	}
	if len(p.Profiles) == 0 {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		return file, nil
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	// Its mode is 0600 from the start.
	f, err := os.CreateTemp(filepath.Dir(file), ".config-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return file, err
}

// names are the names of all profiles, sorted.
func (p profiles) names() []string { return slices.Sorted(maps.Keys(p.Profiles)) }

// profileName is the profile that a call is for: the flag's, the environment's or
// the default one.
func (a *app) profileName(flag string) string {
	return cmp.Or(flag, a.env.Profile, defaultProfile)
}

// profile returns the profile that a call is for. One that the caller named must
// exist; the default one may be empty.
func (a *app) profile(flag string) (profile, error) {
	all, err := loadProfiles()
	if err != nil {
		return profile{}, err
	}
	name := a.profileName(flag)
	p, ok := all.Profiles[name]
	if !ok && (flag != "" || a.env.Profile != "") {
		return profile{}, usagef("there is no profile %q%s; bindery login --url URL --profile %[1]s makes it", name, meant("", name, all.names()))
	}
	if ok {
		a.warnIfRead()
	}
	return p, nil
}

// warnIfRead warns of a file of keys that others can read.
func (a *app) warnIfRead() {
	file, err := profilesFile()
	if err != nil {
		return
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		a.warn(fmt.Sprintf("%s holds keys and can be read by others: chmod 600 %[1]s", file))
	}
}

func (a *app) loginCommand() *cobra.Command {
	var p profile
	var name string
	cmd := &cobra.Command{
		Use:   "login --url URL [--profile NAME]",
		Short: "Keep the address of an API and a key for later calls",
		Long: `Login reads an admin key from standard input, or asks for it on a terminal without showing it,
tries it, and keeps it with the address in a profile: in a file in your folder of settings
that only you can read (mode 0600). Commands use the profile default, or the one that
--profile or BINDERY_PROFILE names.

BINDERY_URL and BINDERY_ADMIN_KEY win over a profile, and --profile over these. The key of a
profile is sent to the address of that profile and to no other.`,
		Example: `  bindery login --url https://bindery.example.com
  bindery login --url https://staging.example.com --profile staging < key.txt
  bindery jobs list --profile staging`,
		Args: cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			p.URL = strings.TrimRight(cmp.Or(p.URL, a.env.URL), "/")
			if err := required("url", p.URL); err != nil {
				return err
			}
			all, err := loadProfiles()
			if err != nil {
				return err
			}
			if p.Key, err = a.readSecret("Admin key"); err != nil {
				return err
			}
			whose, err := a.accepted(cmd.Context(), p)
			if err != nil {
				return err
			}
			if all.Profiles == nil {
				all.Profiles = map[string]profile{}
			}
			all.Profiles[a.profileName(name)] = p
			file, err := all.save()
			if err != nil {
				return err
			}
			a.say("%s %s%s: profile %s in %s", a.paint(a.stdout, green, "✓"), p.URL, whose, a.profileName(name), file)
			if a.env.URL != "" && a.env.URL != p.URL || a.env.AdminKey != "" && a.env.AdminKey != p.Key {
				a.warn("BINDERY_URL or BINDERY_ADMIN_KEY is set, and wins over this profile where --profile is not given")
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&p.URL, "url", "", "address of the API (default: $BINDERY_URL)")
	cmd.Flags().StringVar(&name, "profile", "", "name of the profile (default: $BINDERY_PROFILE, else default)")
	cmd.Flags().StringVar(&p.Project, "project", "", "id of the project that the profile's commands speak of")
	cmd.Flags().BoolVar(&p.AllowHTTP, "allow-http", false, "send the key also to an address with http:// that is not this machine's or a cluster's own")
	return cmd
}

// accepted tries a profile and returns whose key it has. A key that may not read
// the organisation is a key all the same.
func (a *app) accepted(ctx context.Context, p profile) (whose string, err error) {
	c, err := a.newClient(p.URL, p.Key, p.AllowHTTP || a.env.AllowHTTP, 0)
	if err != nil {
		return "", err
	}
	org, err := c.Organisation(ctx)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusForbidden {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("nothing was kept: %w", err)
	}
	return ", organisation " + org.Name, nil
}

func (a *app) logoutCommand() *cobra.Command {
	var name string
	var all bool
	cmd := &cobra.Command{
		Use:   "logout [--profile NAME]",
		Short: "Remove a profile and its key from this machine",
		Long: `Logout removes a profile from the file of profiles. The key itself stays valid until somebody
revokes it.`,
		Example: `  bindery logout
  bindery logout --profile staging
  bindery logout --all`,
		Args: cobra.NoArgs,
		RunE: a.does(func(*cobra.Command, []string) error {
			kept, err := loadProfiles()
			if err != nil && !all {
				return err
			}
			name := a.profileName(name)
			if _, ok := kept.Profiles[name]; !ok && !all {
				return fmt.Errorf("there is no profile %q%s", name, meant("", name, kept.names()))
			}
			if delete(kept.Profiles, name); all {
				kept.Profiles, name = nil, "all"
			}
			if _, err := kept.save(); err != nil {
				return err
			}
			a.say("removed: %s", name)
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "profile", "", "name of the profile (default: $BINDERY_PROFILE, else default)")
	cmd.Flags().BoolVar(&all, "all", false, "remove all profiles")
	return cmd
}

// profileReport is a profile as it is shown: without its key.
type profileReport struct {
	Profile string `json:"profile"`
	URL     string `json:"url"`
	Project string `json:"project,omitempty"`
	Used    bool   `json:"used"`
}

func (a *app) profilesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profiles",
		Short:   "List the profiles that bindery login has kept",
		Example: `  bindery profiles`,
		Args:    cobra.NoArgs,
		RunE: a.does(func(*cobra.Command, []string) error {
			all, err := loadProfiles()
			if err != nil {
				return err
			}
			list := []profileReport{}
			for _, name := range all.names() {
				list = append(list, profileReport{name, all.Profiles[name].URL, all.Profiles[name].Project, name == a.profileName("")})
			}
			return a.print(list, func(w io.Writer) {
				var rows [][]string
				for _, p := range list {
					used := ""
					if p.Used {
						used = "used"
					}
					rows = append(rows, []string{p.Profile, used, p.URL, p.Project})
				}
				table(w, "profile used url project", rows)
			})
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}
