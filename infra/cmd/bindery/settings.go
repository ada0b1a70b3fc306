package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// fileSettings are the places of the flags that a folder's own file set, by the
// flag's name: "docs/bindery.yaml:2:3".
type fileSettings map[string]string

// settingsOf sets the flags of a command that were not given to what the folder's
// own file says.
func settingsOf(cmd *cobra.Command, dir string) (fileSettings, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // who reads the folder says so
	}
	settings, faults, err := check.ReadRun(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		d := faults[0]
		return nil, usagef("%s:%d:%d: %s", filepath.Join(dir, d.File), d.Line, d.Column, d.Message)
	}
	set := fileSettings{}
	for _, s := range settings {
		flag := cmd.Flags().Lookup(s.Key)
		if flag == nil || flag.Changed { // not a setting of this command
			continue
		}
		set[s.Key] = filepath.Join(dir, s.Place())
		for _, value := range s.Values {
			if err := flag.Value.Set(value); err != nil {
				if flag.Value.Type() == "bool" {
					err = errors.New("must be true or false")
				}
				return nil, usagef("%s: %s: %s", set[s.Key], s.Key, withoutField(err))
			}
		}
		flag.Changed = true
	}
	return set, nil
}

// check returns an error for what no export can be set to: it names the line of the
// folder's own file, or the flag.
func (set fileSettings) check(domain string, project admin.Configuration, paths []string) error {
	_, err := admin.NormalDomain("domain", domain)
	if err == nil {
		err = project.Check()
	}
	if err == nil {
		_, err = admin.NormalPaths("path", paths)
	}
	var fault *admin.Error
	if !errors.As(err, &fault) {
		return err
	}
	name := flagOf(fault.Field)
	if place, ok := set[name]; ok {
		return usagef("%s: %s: %s", place, name, withoutField(err))
	}
	return usagef("--%s: %s", name, withoutField(err))
}

// flagOf returns the flag that sets a field of a project.
func flagOf(field string) string {
	field, _, _ = strings.Cut(strings.TrimPrefix(field, "settings."), "[")
	switch field {
	case "allowHosts":
		return "allow-host"
	case "analyticsId":
		return "analytics-id"
	case "basePath":
		return "base-path"
	}
	return field
}

// withoutField is what an error says, without the field's name in records.
func withoutField(err error) string {
	var fault *admin.Error
	if errors.As(err, &fault) {
		return strings.TrimPrefix(fault.SafeMessage(), fault.Field+": ")
	}
	return err.Error()
}
