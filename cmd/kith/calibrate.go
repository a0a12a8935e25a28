package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/calibrate"
	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// ownQuestions is how many facts stand in for questions where none are given.
const ownQuestions = 500

type calibrateCmd struct {
	User    scope  `help:"Only this user's questions and facts; without it those of all users."`
	Queries string `placeholder:"FILE" help:"JSON lines of real questions {user_id, vector} or {user_id, question}, at least 100; - reads standard input. Without it facts of the collection stand in for questions."`
	Pairs   int    `default:"1000" help:"Random pairs of a question and a fact, 1000 to 20000."`
	Seed    uint64 `default:"1" help:"Number that the random choice follows from."`
}

// Run measures and prints what to set. It changes nothing.
func (c calibrateCmd) Run(e *env) (err error) {
	var space graphstore.Space
	if c.User != "" {
		if space, err = graphstore.NewSpace(string(c.User)); err != nil {
			return &usageError{fmt.Errorf("--user: %w", err)}
		}
	}
	if c.Pairs < calibrate.MinPairs || c.Pairs > calibrate.MaxPairs {
		return &usageError{fmt.Errorf("--pairs %d: want %d to %d", c.Pairs, calibrate.MinPairs, calibrate.MaxPairs)}
	}
	if _, err := os.Stat(vectorPath(e.cfg)); e.cfg.Qdrant.URL == "" && errors.Is(err, fs.ErrNotExist) {
		return &usageError{fmt.Errorf("calibrate: there is no embedded vector store %s (KITH_DATA_DIR), and QDRANT_URL is not set", vectorPath(e.cfg))}
	}
	store, err := e.openVectors()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return c.measure(e, store, space)
}

func (c calibrateCmd) measure(e *env, store vdb.Store, space graphstore.Space) error {
	facts, err := calibrate.ReadFacts(e.ctx, store, space, time.Now())
	if err != nil {
		return err
	}
	var queries []calibrate.Query
	if c.Queries != "" {
		queries, err = c.readQuestions(e, store, space)
	} else {
		queries, err = calibrate.OwnQueries(e.ctx, store, facts, ownQuestions, c.Seed)
	}
	if err != nil {
		return err
	}
	r, err := calibrate.Measure(e.ctx, store, facts, queries, c.Pairs, c.Seed)
	if err != nil {
		return fmt.Errorf("calibrate %s: %w", e.vectorsName(), err)
	}
	c.printHow(e, facts, r)
	return printCalibration(e, r)
}

// printHow says what was measured, and what that is worth.
func (c calibrateCmd) printHow(e *env, f *calibrate.Facts, r calibrate.Result) {
	e.printf("collection: %s\n", e.vectorsName())
	e.printf("facts: %d of %d users that a search finds now (%d retired, %d points unreadable)\n", f.Count, len(f.Spaces), f.Retired, f.Unread)
	if f.Truncated {
		e.printf("  the collection has more: the first %d points were looked at\n", calibrate.MaxFacts)
	}
	if c.Queries != "" {
		e.printf("questions: %d of %s", r.Queries, c.Queries)
	} else {
		e.printf("questions: none were given, so the vectors of %d random facts stood in for them, each without itself as an answer.\n", r.Queries)
		e.printf("  Facts resemble each other in another way than questions resemble facts: with --queries and real questions the numbers are better")
	}
	if r.LeftOut > 0 {
		e.printf("; %d more of users without facts were left out", r.LeftOut)
	}
	e.printf("\npairs: %d random ones of a question and a fact of its user, seed %d\n\n", r.Pairs, c.Seed)
}

func printCalibration(e *env, r calibrate.Result) error {
	e.printf("LO %.4f  mean cosine of the pairs             (%v %% interval %.4f to %.4f)\n", r.Lo.Value, 100*eval.Level, r.Lo.Low, r.Lo.High)
	e.printf("HI %.4f  90th percentile of the best cosines  (%v %% interval %.4f to %.4f)\n\n", r.Hi.Value, 100*eval.Level, r.Hi.Low, r.Hi.High)
	lo, hi := calibrate.Round(r.Lo.Value), calibrate.Round(r.Hi.Value)
	if r.Identity() {
		e.printf("HI - LO is %.4f, less than %v: with these the ranking would take cosines as they are, and so it does without them.\nSet nothing: the identity holds (LO 0, HI 1).\n", hi-lo, rerank.MinCalibration)
		return nil
	}
	e.printf("to set, in the environment:\n  MEMORY_GRAPH_CAL_LO=%.4f\n  MEMORY_GRAPH_CAL_HI=%.4f\nor in the configuration file:\n  {\"graph-cal-lo\": %.4f, \"graph-cal-hi\": %.4f}\n", lo, hi, lo, hi)
	s, err := rerankSettings(e.cfg.Rerank)
	if err != nil {
		return &usageError{err}
	}
	e.printf("in force here: LO %v, HI %v\n", s.CalLo, s.CalHi)
	return nil
}
