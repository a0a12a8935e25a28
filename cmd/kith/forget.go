package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
)

type forgetCmd struct {
	User       scope    `arg:"" help:"Who is to be forgotten: the user id of the events."`
	DryRun     bool     `help:"Count what would be erased, and erase nothing."`
	Points     bool     `help:"Also delete the user's points from Qdrant. Those of the embedded vector store are always erased."`
	OldCopies  bool     `help:"Also remove old copies of whole graphs, of all users, from the data directory."`
	Verify     bool     `help:"Look afterwards whether anything of the user can be found, and fail if so."`
	VerifyOnly bool     `help:"Look only; erase nothing."`
	Canary     []string `sep:"none" placeholder:"TEXT" help:"Search the files for this text too, with --verify or --verify-only; may be repeated."`
	JSON       bool     `help:"Print the receipt as JSON."`
}

// Run erases the user, by the running service or on the files.
func (c forgetCmd) Run(e *env) (err error) {
	if len(c.Canary) > 0 && !c.Verify && !c.VerifyOnly {
		return &usageError{errors.New("forget: --canary is for --verify or --verify-only")}
	}
	if c.VerifyOnly && (c.DryRun || c.Points || c.OldCopies) {
		return &usageError{errors.New("forget: --verify-only erases nothing: not together with --dry-run, --points or --old-copies")}
	}
	if c.DryRun && c.Verify {
		return &usageError{errors.New("forget: --dry-run erases nothing that --verify could look for: want one of them")}
	}
	cl, err := e.newWritingClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	req := server.ForgetRequest{
		UserID: string(c.User), DryRun: c.DryRun, Points: c.Points, OldCopies: c.OldCopies,
		Verify: c.Verify, VerifyOnly: c.VerifyOnly, Canaries: c.Canary,
	}
	var f server.Forgotten
	err = cl.call(e.ctx, http.MethodPost, "/v1/admin/forget", req, &f)
	switch {
	case err != nil && len(f.Steps) == 0:
		return err
	case c.JSON: // also of an erasure that ended early
		err = firstError(err, e.printJSON(f))
	default:
		e.printf("asked %s\n", cl.via)
		e.printForgotten(f)
	}
	if v := f.Verification; v != nil && !v.Clean {
		err = firstError(err, fmt.Errorf("user %s can still be found", graphstore.Shorten(string(c.User))))
	}
	return err
}

// newWritingClient finds the running service, or opens the stores and the stream and projects what is in it, as a service
// would, whatever the configuration says of searches: the one command is about writing.
func (e *env) newWritingClient() (*client, error) {
	if _, ok, err := e.running(); err != nil || ok {
		if err != nil {
			return nil, err
		}
		return e.newClient()
	}
	if _, err := os.Stat(e.cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		return e.newClient() // which says so
	}
	own := *e
	own.cfg.Memory, own.cfg.NATS.Listen = config.Memory{}, ""
	s, err := open(&own, false)
	if err != nil {
		return nil, err
	}
	if err := s.connect(e.ctx); err != nil {
		return nil, errors.Join(err, s.disconnect(), s.closeStores())
	}
	return e.clientOf(s), nil
}

// printForgotten prints a receipt.
func (e *env) printForgotten(f server.Forgotten) {
	switch {
	case f.DryRun:
		e.printf("user %s: would be erased\n", f.UserID)
	case f.Sequence > 0:
		e.printf("user %s: forgotten as of %s, event %d\n", f.UserID, f.At.Format(time.RFC3339Nano), f.Sequence)
	default:
		e.printf("user %s\n", f.UserID)
	}
	g, edges := f.Graph, 0
	var types []string
	for _, name := range slices.Sorted(maps.Keys(g.Edges)) {
		edges += g.Edges[name]
		types = append(types, fmt.Sprintf("%d %s", g.Edges[name], name))
	}
	if len(f.Steps) > 0 && g.Edges != nil {
		e.printf("  graph:        %d facts, %d entities, %d topics, %d schemas, %d rows of the merge log, %d tombstones, %d edges", g.Facts, g.Entities, g.Topics,
			g.Schemas, g.Merges, g.Tombstones, edges)
		if edges > 0 {
			e.printf(" (%s)", strings.Join(types, ", "))
		}
		e.printf("\n  log:          %d events, %d dead letters, of %d messages looked at\n", f.Log.Events, f.Log.Dead, f.Log.Read)
		e.printf("  points:       %d erased, %d remain in %s\n", f.Points.Erased, f.Points.Remaining, f.Points.Store)
	}
	if nothingKnown(f) && len(f.Steps) > 0 {
		e.printf("  nothing of this user was known: is the id spelled as in the events?\n")
	}
	if c := f.Compaction; c != nil {
		e.printf("  graph's file: written anew, %s -> %s\n", bytesText(c.BytesBefore), bytesText(c.BytesAfter))
	}
	for _, c := range f.OldCopies {
		e.printf("  old copy:     %s, %s, %s\n", c.Path, bytesText(c.Bytes), map[bool]string{true: "removed", false: "stays"}[c.Erased])
	}
	for _, s := range f.Steps {
		e.printf("  %6d ms  %s\n", s.TookMS, s.Step)
	}
	e.printList("looked at", f.Looked)
	e.printList("what remains", f.Remains)
	if f.Verification != nil {
		e.printVerification(*f.Verification)
	}
}

func (e *env) printList(title string, lines []string) {
	if len(lines) > 0 {
		e.printf("%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// printVerification prints what was looked at, and every hit.
func (e *env) printVerification(v server.Verification) {
	e.printf("verification: asked\n")
	for _, c := range v.Asked {
		e.printf("  %-22s %d found\n", c.Place, c.Found)
	}
	e.printf("searched the %d files below %s, %s, for %d texts", v.Files.Files, v.Files.Dir, bytesText(v.Files.Bytes), v.Files.Canaries)
	if v.Shared > 0 {
		e.printf("; %d were found that others have too, which proves nothing", v.Shared)
	}
	if v.Left > 0 {
		e.printf(" (%d more were not searched for)", v.Left)
	}
	e.printf("\n")
	for _, c := range v.Files.Classes {
		e.printf("  %-22s %d files, %s\n", c.Class, c.Files, bytesText(c.Bytes))
	}
	for _, h := range v.Kept {
		e.printf("stays: %s %q, %d times, in %s\n", h.Kind, h.Text, h.Count, h.Places[0].File)
	}
	for _, h := range v.Files.Hits {
		e.printf("found: %s %q, %d times in: %s\n", h.Kind, h.Text, h.Count, h.Class)
		for _, p := range h.Places {
			e.printf("  %s at %d\n", p.File, p.Offset)
		}
	}
	switch {
	case v.Clean && len(v.Kept) > 0:
		e.printf("nothing found but what stays, as listed\n")
	case v.Clean:
		e.printf("nothing found\n")
	}
}

// nothingKnown reports whether nothing of the user was anywhere, as of one whose name is misspelt.
func nothingKnown(f server.Forgotten) bool {
	g := f.Graph
	return f.Log.Events+f.Log.Dead+f.Log.Later+int(f.Points.Erased)+int(f.Points.Remaining)+g.Facts+g.Entities+g.Topics+g.Schemas+g.Refs+g.Merges+g.Tombstones+len(g.Edges) == 0
}
