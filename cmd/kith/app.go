package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kithgraph/kith/internal/config"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command ran and did not succeed
	exitUsage  = 2 // the command line, the environment or the configuration file is wrong

	exitDrifted    = 1 // of verify: the graph has drifted
	exitUnverified = 3 // of verify: it did not succeed
)

// app is the command line.
type app struct {
	config.Config

	Serve     serveCmd     `cmd:"" help:"Project events and answer searches until stopped."`
	Demo      demoCmd      `cmd:"" help:"Project the sample and print plain and graph ranking side by side."`
	Publish   publishCmd   `cmd:"" help:"Publish events from a JSON lines file, and store points."`
	Events    eventsCmd    `cmd:"" help:"Check events before they are published."`
	Search    searchCmd    `cmd:"" help:"Search a user's memory."`
	Explain   explainCmd   `cmd:"" help:"Say why one fact is where it is in the answer to a question, or why it is not there."`
	Calibrate calibrateCmd `cmd:"" help:"Measure the cosines that count as score 0 and 1 for the collection, and print the settings."`
	Stats     statsCmd     `cmd:"" help:"Count what the graph and the vector store hold."`
	Digest    digestCmd    `cmd:"" help:"Print the digest of the graph."`
	Backup    backupCmd    `cmd:"" help:"Write a backup of the graph into a directory."`
	Restore   restoreCmd   `cmd:"" help:"Put the graph of a backup into the data directory."`
	Compact   compactCmd   `cmd:"" help:"Write the graph's file anew, without what was deleted or replaced."`
	Dead      deadCmd      `cmd:"" help:"List, show, replay and drop dead letters."`
	Rebuild   rebuildCmd   `cmd:"" help:"Make the graph again from event stream and vector store, whole or that of one user."`
	Backfill  backfillCmd  `cmd:"" help:"Make a graph of the points that are in the vector store."`
	Verify    verifyCmd    `cmd:"" help:"Compare the graph with the points of the vector store and repair it; exit code 1 if it has drifted, 3 if that is not known."`
	Forget    forgetCmd    `cmd:"" help:"Erase a user from the graph, the stream, the dead letters and the embedded vector store."`
	Show      configCmd    `cmd:"" name:"config" help:"Print the configuration in force and which rule gave each value."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Help      helpCmd      `cmd:"" help:"Print what a command does and its flags, as --help does."`

	SearchFiles searchFilesCmd `cmd:"" name:"search-files" hidden:"" help:"The process that searches files for texts; started by forget."`

	GraphChild graphChildCmd `cmd:"" name:"graph-child" hidden:"" help:"The process of the graph's store; started by the others."`
}

// env is what a command runs in.
type env struct {
	ctx    context.Context
	cfg    config.Config
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger
	kong   *kong.Context
}

func (e *env) printf(format string, args ...any) { fmt.Fprintf(e.stdout, format, args...) }

// run parses and runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var a app
	exited := -1
	parser, err := kong.New(&a,
		kong.Name("kith"),
		kong.Description("A graph of memory facts beside a vector store: it projects write events and ranks what similarity found."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.ExplicitGroups(groups()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		fmt.Fprintln(stderr, "kith:", err)
		return exitUsage
	}
	if path := configFile(args); path != "" {
		resolver, err := config.FileResolver(path)
		if err != nil {
			fmt.Fprintln(stderr, "kith:", err)
			return exitUsage
		}
		parser.Exit = func(code int) { exited = code }
		if err := kong.Resolvers(resolver).Apply(parser); err != nil {
			fmt.Fprintln(stderr, "kith:", err)
			return exitUsage
		}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help has printed
		return exited
	}
	if err != nil {
		fmt.Fprintf(stderr, "kith: %v (see kith --help)\n", err)
		return exitUsage
	}
	e := &env{ctx: ctx, cfg: a.Config, stdout: stdout, stderr: stderr, log: logger(a.Config, stderr), kong: parsed}
	err = parsed.Run(e)
	var usage *usageError
	var coded *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		fmt.Fprintln(stderr, "kith:", err)
		return coded.code
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "kith:", err)
		return exitUsage
	default:
		fmt.Fprintln(stderr, "kith:", err)
		return exitFailed
	}
}

// usageError is a mistake of whoever gave the command or the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitError has an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// configFile finds the configuration file before the command line is parsed, since the file takes part in parsing.
func configFile(args []string) string {
	for i, arg := range args {
		if path, ok := strings.CutPrefix(arg, "--config="); ok {
			return path
		}
		if arg == "--config" && i+1 < len(args) {
			return args[i+1]
		}
		if arg == "--" {
			break
		}
	}
	return os.Getenv("KITH_CONFIG")
}

func groups() []kong.Group {
	return []kong.Group{
		{Key: "memory", Title: "Whether the graph is used:"},
		{Key: "events", Title: "Events:"},
		{Key: "vectors", Title: "Vectors:"},
		{Key: "graph", Title: "Graph:"},
		{Key: "ranking", Title: "Ranking:"},
		{Key: "service", Title: "Service:"},
	}
}

func logger(cfg config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo // the enum of the flag leaves nothing else
	}
	opts := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
