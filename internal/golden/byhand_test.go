package golden

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// The way of a question a second time, without store and reader: every fact is looked at, and the four calls of the ranking
// are put together as its documentation says.

// scored is a fact with its cosine, computed in float64 from the numbers of the file.
type scored struct {
	point  *vdb.Point
	cosine float64
}

// byCosine returns the facts of the question's user that are active and valid now, nearest first.
func byCosine(d *dataset, q *sample.Question) []scored {
	var found []scored
	for i := range d.points {
		p := &d.points[i]
		active := cmp.Or(p.Payload.State, vdb.StateActive) == vdb.StateActive
		begun := p.Payload.ValidFrom.IsZero() || !p.Payload.ValidFrom.After(d.now)
		ended := !p.Payload.ValidTo.IsZero() && !p.Payload.ValidTo.After(d.now)
		if p.Space.UserID() == q.UserID && active && begun && !ended {
			found = append(found, scored{p, cosine(p.Vector, q.Vector)})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), strings.Compare(a.point.ID, b.point.ID))
	})
	return found
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}

// byHand answers a question under some settings from a pool of some size.
func byHand(t *testing.T, w *world, settings rerank.Settings, pool int, q *sample.Question) shown {
	t.Helper()
	ranker, err := rerank.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	facts := byCosine(&w.data, q)
	if len(facts) == 0 {
		t.Fatalf("question %s: no facts", q.ID)
	}
	candidates := make([]rerank.Candidate, len(facts))
	at := map[string]int{}
	for i, f := range facts {
		candidates[i], at[f.point.ID] = candidate(f), i
	}
	space := facts[0].point.Space
	request := rerank.Request{Space: space, Pool: candidates[:min(pool, len(facts))], Graph: w.graph[space], Now: graphstore.InstantOf(w.data.now)}
	ranked, err := ranker.Rerank(request)
	if err != nil {
		t.Fatal(err)
	}
	nominated, err := ranker.Nominate(request, ranked)
	if err != nil {
		t.Fatal(err)
	}
	var known []rerank.Candidate
	for _, id := range nominated.IDs() {
		if i, ok := at[id]; ok {
			known = append(known, candidates[i])
		}
	}
	expansion, err := ranker.Admit(request, ranked, nominated, known, reader.DefaultK)
	if err != nil {
		t.Fatal(err)
	}
	var s shown
	for i := range expansion.Places[:min(reader.DefaultK, len(expansion.Places))] {
		place := &expansion.Places[i]
		s.items = append(s.items, item{id: place.Item.ID, score: place.Item.Score, graph: place.Item.GraphScore})
		for j := range place.Attached {
			n := &place.Attached[j]
			s.items = append(s.items, item{id: n.ID, score: n.Score, graph: n.GraphScore, attached: &n.Nominee})
		}
	}
	return s
}

func candidate(f scored) rerank.Candidate {
	p := &f.point.Payload
	return rerank.Candidate{
		Space: f.point.Space, ID: f.point.ID, Cosine: f.cosine, State: p.State, AgentID: p.AgentID, EpisodeID: p.EpisodeID,
		MemoryAt: graphstore.InstantOf(p.MemoryAt), ValidFrom: graphstore.InstantOf(p.ValidFrom), ValidTo: graphstore.InstantOf(p.ValidTo),
	}
}

// roundingOfStore is how far the store's cosine, summed in float32, is from the exact one.
const roundingOfStore = 1e-6
