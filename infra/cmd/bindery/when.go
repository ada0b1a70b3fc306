package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

// whenCommand is for images without a shell: the chart's loop upgrades a release
// only where its export wrote values. It is left out of help.
func (a *app) whenCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "when FILE -- PROGRAM [ARGUMENT]...",
		Short:  "Become a program if a file is there, else end well",
		Hidden: true,
		Args:   cobra.MinimumNArgs(2),
		RunE: a.does(func(_ *cobra.Command, args []string) error {
			_, err := os.Stat(args[0])
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(a.stdout, "nothing to do")
				return nil
			}
			if err != nil {
				return err
			}
			program, err := exec.LookPath(args[1])
			if err != nil {
				return err
			}
			// In this process's place: signals are then the program's.
			return syscall.Exec(program, args[1:], os.Environ())
		}),
	}
}
