package reader

import (
	"context"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

type (
	rankFunc     func(rerank.Request) (rerank.Result, error)
	nominateFunc func(rerank.Request, rerank.Result) (rerank.Nominations, error)
	scoreFunc    func(context.Context, vdb.Query, []string) ([]vdb.Match, error)
	admitFunc    func(rerank.Request, rerank.Result, rerank.Nominations, []rerank.Candidate, int) (rerank.Expansion, error)
	pathsFunc    func(rerank.PathQuery) (rerank.PathResult, error)
)

// viewShare is the part of the budget that the snapshot may take.
const viewShare = .60

// maxMiddles is how many facts in the middle of paths the vector store is asked about, together with the nominees.
const maxMiddles = 50

// run is one search in the graph stage. A field is set by the step that is named, and not changed after it.
type run struct {
	r       *Reader
	q       Query
	found   recalled
	start   time.Time
	noGraph bool // episodes alone
	times   []StageTime

	applied uint64 // view: the stream sequence that the graph had at least
	reached bool   // view: Query.MinSeq was applied
	request rerank.Request
	ranked  rerank.Result // support

	nominated rerank.Nominations // walk
	middles   []string           // walk: facts in the middle of paths, to be confirmed
	matches   []vdb.Match        // vectors
	foreign   int                // vectors
	channels  []Channels         // vectors, of a hybrid recall, by index of matches
	scored    []rerank.Candidate // vectors, by index of matches
	expansion rerank.Expansion   // admit

	paths rerank.PathResult // paths
}

func (r *Reader) newRun(q Query, found recalled) *run {
	return &run{r: r, q: q, found: found, start: time.Now()}
}

// deadline returns when a step must be done.
func (w *run) deadline(s step) time.Time {
	return w.start.Add(time.Duration(s.until * float64(w.r.cfg.Budget)))
}

// groups returns what the settings ask for. The shares of the budget are 30 of 50 ms for the graph, which is all that ranking and
// walk read, 15 for the vectors, 5 for all computing.
func (r *Reader) groups() []group {
	groups := []group{{"the ranking", r.breakers.support, []step{{StageView, viewShare, viewStep}, {StageSupport, .63, supportStep}}, applySupport}}
	s := r.cfg.Rerank
	if s.Expand.Gamma > 0 || s.Paths.Enabled {
		groups = append(groups, group{"the expansion", r.breakers.expand,
			[]step{{StageWalk, .66, walkStep}, {StageVectors, .96, vectorsStep}, {StageAdmit, .98, admitStep}}, applyExpansion})
	}
	if s.Paths.Enabled {
		groups = append(groups, group{"the relation paths", r.breakers.paths, []step{{StagePaths, 1, pathsStep}}, applyPaths})
	}
	return groups
}

func viewStep(ctx context.Context, w *run) error {
	var view *graphstore.Snapshot
	if !w.noGraph {
		// The graph is to say itself that it does not come, before the stage is given up.
		ctx, cancel := context.WithDeadlineCause(ctx, w.start.Add(time.Duration(viewShare*.8*float64(w.r.cfg.Budget))), errBudget)
		defer cancel()
		w.awaitSeq(ctx)
		var err error
		if view, err = w.r.stages.view(ctx, w.q.Space); err != nil {
			return err
		}
	}
	w.request = rerank.Request{
		Space:   w.q.Space,
		Pool:    candidates(w.found, view),
		Graph:   view,
		AgentID: w.q.AgentID,
		Now:     graphstore.InstantOf(w.found.now),
		ValidAt: graphstore.InstantOf(w.q.ValidAt),
		Explain: w.q.Explain, Speakers: w.q.Speakers,
	}
	return nil
}

func supportStep(_ context.Context, w *run) (err error) {
	w.ranked, err = w.r.stages.rank(w.request)
	return err
}

// walkStep finds what the vector store is to be asked about: nominees, and the facts in the middle of paths between the results as
// they stand. Paths to facts that are added later lead over what is known by then.
func walkStep(_ context.Context, w *run) (err error) {
	request := w.request
	request.Explain = w.q.ExplainAll // for the weak ones too, which takes much longer
	if w.nominated, err = w.r.stages.nominate(request, w.ranked); err != nil || !w.r.cfg.Rerank.Paths.Enabled {
		return err
	}
	asTheyStand, err := w.r.stages.admit(w.request, w.ranked, rerank.Nominations{}, nil, w.q.K)
	if err != nil {
		return err
	}
	paths, err := w.r.stages.paths(rerank.PathQuery{Request: w.request, Expansion: asTheyStand, K: w.q.K})
	w.middles = paths.Unconfirmed[:min(len(paths.Unconfirmed), maxMiddles)]
	return err
}

// vectorsStep makes the one call to the vector store, with the caller's filter and the user's space. What does not come back
// does not appear.
func vectorsStep(ctx context.Context, w *run) (err error) {
	ids := append(w.nominated.IDs(), w.middles...)
	if len(ids) == 0 {
		return nil
	}
	w.matches, err = w.r.stages.score(ctx, vdb.Query{Space: w.q.Space, Vector: w.q.Vector, Filter: w.q.filter(w.found.now), Limit: len(ids)}, ids)
	if err != nil {
		return err
	}
	w.matches, w.foreign = w.r.ownOnly(w.q.Space, w.matches)
	scored := recalled{matches: w.matches, by: w.found.by}
	if w.found.by == RecallHybrid { // in the same units as the pool: no word was found
		scored.channels = make([]Channels, len(w.matches))
		scored.relevance = make([]float64, len(w.matches))
		for i := range w.matches {
			m := &w.matches[i]
			fused := w.r.fuse(w.r.ranker.BaseScore(m.Score), 0)
			scored.channels[i] = Channels{Dense: finite(m.Score), DenseFound: true, Fused: fused}
			scored.relevance[i], m.Score = fused, fused
		}
	}
	w.channels = scored.channels
	w.scored = candidates(scored, w.request.Graph)
	return nil
}

func admitStep(_ context.Context, w *run) (err error) {
	w.expansion, err = w.r.stages.admit(w.request, w.ranked, w.nominated, w.scored, w.q.K)
	return err
}

func pathsStep(_ context.Context, w *run) (err error) {
	w.paths, err = w.r.stages.paths(rerank.PathQuery{
		Request: w.request, Expansion: w.expansion, Nominated: w.nominated, Scored: w.scored, K: w.q.K, OnlyKnown: true,
	})
	return err
}
