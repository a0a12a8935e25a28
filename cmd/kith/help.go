package main

import "fmt"

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command; without it: all of them."`
}

// Run prints what --help prints.
func (c helpCmd) Run(e *env) error {
	if run(e.ctx, append(c.Command, "--help"), e.stdout, e.stderr) != exitOK {
		return &usageError{fmt.Errorf("help: no such command: %q", c.Command)}
	}
	return nil
}
