// Command gen writes the documents of the wire contract into a directory.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kithgraph/kith/internal/eventdoc"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want the directory to write into", len(args))
	}
	files, err := eventdoc.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	return nil
}
