package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

const docsDir = "../../docs"

// commandsPage writes what the program knows of its commands as a page.
func commandsPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(`---
title: Every command
description: All commands of bindery with their flags, as the program describes them.
icon: square-terminal
---

` + "`bindery COMMAND --help` shows the same in a terminal. [Commands](/operate/cli) says which of them are for whom, and what the exit codes mean.\n")
	var walk func(cmd *cobra.Command, depth int)
	walk = func(cmd *cobra.Command, depth int) {
		if depth > 1 && !cmd.HasSubCommands() || depth == 1 {
			fmt.Fprintf(&b, "\n%s %s\n\n%s.\n", strings.Repeat("#", depth+1), cmd.CommandPath(), cmd.Short)
		}
		if !cmd.HasSubCommands() {
			b.WriteString("\n```text\n" + cmd.UseLine() + "\n```\n")
			var rows []string
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Hidden || f.Name == "help" {
					return
				}
				name := "`--" + f.Name + "`"
				if f.Shorthand != "" {
					name += ", `-" + f.Shorthand + "`"
				}
				kind, usage := pflag.UnquoteUsage(f)
				initial := ""
				switch f.DefValue {
				case "", "false", "[]", "0", "0s":
				default:
					initial = "`" + f.DefValue + "`"
				}
				if kind == "" {
					kind = "switch"
				}
				usage = strings.NewReplacer("|", "\\|", "<", "\\<", "{", "\\{").Replace(usage)
				rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", name, kind, initial, usage))
			})
			if len(rows) > 0 {
				b.WriteString("\n| Flag | Value | Default | Meaning |\n|---|---|---|---|\n" + strings.Join(rows, ""))
			}
			if cmd.Example != "" {
				lines := strings.Split(strings.Trim(cmd.Example, "\n"), "\n")
				for i := range lines {
					lines[i] = strings.TrimPrefix(lines[i], "  ")
				}
				b.WriteString("\n```bash\n" + strings.Join(lines, "\n") + "\n```\n")
			}
		}
		for _, below := range cmd.Commands() {
			if !below.Hidden && below.Name() != "help" && below.Name() != "completion" {
				walk(below, depth+1)
			}
		}
	}
	walk(root, 0)
	return b.Bytes()
}

// The page of all commands is what the program says of itself.
func TestPageOfAllCommands(t *testing.T) {
	got := commandsPage((&app{}).root())
	file := filepath.Join(docsDir, "operate", "commands.mdx")
	golden.Same(t, file, got)
}

// Ids in help have the form of those that the API makes.
func TestIDsInHelp(t *testing.T) {
	page := string(commandsPage((&app{}).root()))
	form := regexp.MustCompile(`^(?:(?:org|prj|key|psn|whk|exp)_[0-9a-hjkmnp-tv-z]{26}|(?:agj|snp|evt)_[0-9a-hjkmnp-tv-z]{36})$`)
	ids := regexp.MustCompile(`\b(?:org|prj|key|psn|whk|exp|agj|snp|evt)_[^\s"')]*`).FindAllString(page, -1)
	if len(ids) < 20 {
		t.Errorf("only %d ids", len(ids))
	}
	for _, id := range ids {
		if !form.MatchString(id) {
			t.Errorf("%s has not the form of an id", id)
		}
	}
}

// Calls of bindery in the documentation name commands that exist, flags that
// they have, and no argument too many.
func TestCallsInTheDocumentation(t *testing.T) {
	call := regexp.MustCompile(`(?m)(?:^|[ \t$` + "`" + `(;&|])bindery ((?:[a-z][a-z-]*)(?:[ \t][^\n` + "`" + `]*(?:\\\n[^\n` + "`" + `]*)*)?)`)
	calls := 0
	check := func(name, text string) {
		// Only code: prose may speak of the program, too.
		for _, code := range regexp.MustCompile("(?s)```(?:bash|sh|shell|console|yaml|text)[^\n]*\n(.*?)```|`(bindery [^`\n]+)`").FindAllStringSubmatch(text, -1) {
			for _, m := range call.FindAllStringSubmatch(code[1]+code[2], -1) {
				line := strings.ReplaceAll(m[1], "\\\n", " ")
				for _, end := range []string{" | ", " > ", " >", " && ", "; ", " #", " || ", ")"} {
					line, _, _ = strings.Cut(line, end)
				}
				words := strings.Fields(strings.NewReplacer(`"`, "", "'", "", "[", "", "]", "", ",", "").Replace(line))
				root := (&app{}).root()
				root.InitDefaultCompletionCmd()
				cmd, rest, err := root.Find(words)
				if err != nil || len(rest) > 0 && cmd.HasSubCommands() && !strings.HasPrefix(rest[0], "-") {
					t.Errorf("%s: bindery %s: no such command", name, line)
					continue
				}
				calls++
				for _, word := range rest {
					flagName, isLong := strings.CutPrefix(word, "--")
					flagName, _, _ = strings.Cut(flagName, "=")
					if isLong && flagName != "help" && flagName != "version" && flagName != "" &&
						cmd.Flags().Lookup(flagName) == nil && cmd.InheritedFlags().Lookup(flagName) == nil {
						t.Errorf("%s: bindery %s: %s has no flag --%s", name, line, cmd.CommandPath(), flagName)
					}
				}
			}
		}
	}
	err := filepath.WalkDir(docsDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".mdx" {
			return err
		}
		text, err := os.ReadFile(name)
		check(name, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	check("README.md", string(readme))
	if calls < 60 {
		t.Errorf("only %d calls were found", calls)
	}
}

// Variables of the environment that the documentation names exist in the
// program, and those of callers and operators are documented.
func TestVariablesInTheDocumentation(t *testing.T) {
	variable := regexp.MustCompile(`\bBINDERY_[A-Z0-9_]+\b`)
	read := func(dir, end string) map[string]string {
		found := map[string]string{}
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, end) || strings.HasSuffix(name, "_test.go") != (end == "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			for _, v := range variable.FindAllString(string(text), -1) {
				found[v] = name
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	code := read("../../../shared/base/config", ".go")
	// What the loop's jobs set for their own steps.
	set := map[string]string{}
	for _, ext := range []string{".yaml", ".yml"} {
		maps.Copy(set, read("../../chart", ext))
	}
	// What tests are told by, which contributors set.
	maps.Copy(set, read("../../../tests", "_test.go"))
	maps.Copy(set, read("../../../tests", ".go"))
	maps.Copy(set, read("../../../shared/service/export", "_test.go"))
	documented := read(docsDir, ".mdx")
	for v, name := range documented {
		if code[v] == "" && set[v] == "" {
			t.Errorf("%s names %s, which the program doesn't read", name, v)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(code)) {
		if documented[v] == "" {
			t.Errorf("%s of %s is not documented", v, code[v])
		}
	}
}
