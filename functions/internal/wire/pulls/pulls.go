// Package pulls is the agent's steps that read and write repositories. They can
// open the credentials of projects, and have no model's key.
package pulls

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Steps returns the steps with what they are wired to. It fails as wire.New does,
// and where a list of hosts can't be read.
func Steps(f *cloud.Function) (*wire.Wiring, *pull.Steps, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.CredentialKey}, objects.Open, open)
	if err != nil {
		return nil, nil, err
	}
	dir, err := fetched(os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	known, err := forges.New(w.Admin, forge.Options{AllowHosts: w.Env.ForgeHosts, AllowPrivate: w.Env.ForgePrivateHosts, TempDir: dir, Logger: f.Log})
	if err != nil {
		return nil, nil, err
	}
	steps, err := pull.New(pull.Options{Admin: w.Admin, Objects: w.Objects, Forge: known.Forge, Log: f.Log})
	return w, steps, err
}

// fetched makes the folder, below another, of what this process fetches. Lambda
// keeps the disk where it starts a process anew after one that died: what that
// one left is removed, and nothing of a process that lives.
func fetched(below string) (string, error) {
	name := filepath.Join(below, "fetched-")
	left, err := filepath.Glob(name + "*")
	if err != nil {
		return "", err
	}
	own := strconv.Itoa(os.Getpid())
	for _, dir := range left {
		pid := strings.TrimPrefix(dir, name)
		if _, err := os.Stat("/proc/" + pid); pid == own || errors.Is(err, fs.ErrNotExist) {
			if err := os.RemoveAll(dir); err != nil {
				return "", err
			}
		}
	}
	return name + own, os.Mkdir(name+own, 0o700)
}

// open is the wire.Port of credentials.
func open(w *wire.Wiring) error {
	w.Secrets = kmsstore.New(w.AWS, kmsstore.Options{Key: w.Env.CredentialKey, Records: w.Records})
	return nil
}
