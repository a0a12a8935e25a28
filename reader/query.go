package reader

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Bounds and defaults of a [Query].
const (
	DefaultK = 10  // results
	MinPool  = 50  // smallest default pool: candidates recalled for ranking
	MaxPool  = 200 // largest pool, and so the largest k
)

// ErrBadQuery reports a query that breaks a rule; the text names the field, its value and the rule. It is the vector
// store's error of that name, which finds what only it can know, like a wrong dimension.
var ErrBadQuery = vdb.ErrBadQuery

// GraphUse says whether one query uses the graph.
type GraphUse string

// The uses.
const (
	GraphDefault GraphUse = ""       // as the reader is configured
	GraphOn      GraphUse = "on"     // even where the configuration says off
	GraphOff     GraphUse = "off"    // the recall's order
	GraphStrict  GraphUse = "strict" // on, and a fault of the graph is an error: for tests
)

// Mode says which channels find the candidates.
type Mode string

// The modes. A text that a mode needs a vector of is embedded by [Config.Embedder], or searched by keyword if it cannot be.
const (
	ModeDense   Mode = "dense"   // by vector; the default, also written ""
	ModeHybrid  Mode = "hybrid"  // by vector and by keyword, in one call, fused; needs Text
	ModeKeyword Mode = "keyword" // by keyword alone; needs Text, and is not ranked by the graph
)

// Query is one search. Space and one of Vector and Text are required. The reader copies what it needs after Search has
// returned: the caller may use its slices again then.
type Query struct {
	Space   graphstore.Space
	AgentID string // only facts of this agent; empty: of all agents

	// Mode is ModeDense if empty.
	Mode Mode
	// Vector is the query's embedding, of the collection's dimension. Without one Text is embedded.
	Vector []float32
	// Text is the question in words, at most [vdb.MaxTextBytes].
	Text string

	K    int // results, 1 to MaxPool; 0 means DefaultK
	Pool int // candidates recalled, K to MaxPool; 0 means max(MinPool, 4*K), at most MaxPool

	// Filter holds further conditions. State and validity of a fact are not among them: they follow from ValidAt.
	Filter vdb.Filter
	// ValidAt asks for what was valid at that time, superseded facts included; zero asks for what is active now.
	ValidAt time.Time

	// Speakers are entities that tie nothing together in this search, besides the owners in the settings: the speakers of the
	// conversation that is searched, who occur in every fact of it. Each is a name or an entity id.
	Speakers []string

	// MinSeq asks for a graph that has the event with this stream sequence, and waits for it within the budget. The answer
	// says whether it came ([Answer.MinSeqApplied]); it is given in any case. 0 waits for nothing.
	MinSeq uint64

	Graph   GraphUse
	Explain bool // say for each result where its boost comes from
	// ExplainAll says also why each fact that the graph put forward was refused. With conditions of the query's own (Filter, AgentID) only
	// those are named that the vector store returned under them. It makes the walk look at everything it reaches, which takes
	// several times as long.
	ExplainAll bool
}

// withDefaults returns a copy of the query that shares no slices with it, with k and pool filled in.
func (q Query) withDefaults() Query {
	q.Vector, q.Speakers = slices.Clone(q.Vector), slices.Clone(q.Speakers)
	q.Filter.Match, q.Filter.Range = slices.Clone(q.Filter.Match), slices.Clone(q.Filter.Range)
	for i := range q.Filter.Match {
		q.Filter.Match[i].Any = slices.Clone(q.Filter.Match[i].Any)
	}
	if q.K == 0 {
		q.K = DefaultK
	}
	q.Explain = q.Explain || q.ExplainAll
	if q.Pool == 0 {
		q.Pool = min(max(MinPool, 4*q.K), MaxPool)
	}
	return q
}

func (q Query) validate() error {
	var errs []error
	if q.Space.IsZero() {
		errs = append(errs, fmt.Errorf("user_id: %w", graphstore.ErrNoSpace))
	}
	if q.AgentID != "" {
		if err := graphstore.CheckID(q.AgentID); err != nil {
			errs = append(errs, fmt.Errorf("agent_id %w", err))
		}
	}
	if len(q.Vector) == 0 && q.Text == "" {
		errs = append(errs, errors.New("vector, text: both empty: want one of them"))
	} else if q.Text == "" && (q.Mode == ModeHybrid || q.Mode == ModeKeyword) {
		errs = append(errs, fmt.Errorf("text: empty: mode %s needs it", q.Mode))
	}
	if len(q.Text) > vdb.MaxTextBytes {
		errs = append(errs, fmt.Errorf("text: %d bytes: want at most %d", len(q.Text), vdb.MaxTextBytes))
	}
	if !slices.Contains([]Mode{"", ModeDense, ModeHybrid, ModeKeyword}, q.Mode) {
		errs = append(errs, fmt.Errorf("mode: %s: want dense, hybrid or keyword", graphstore.Shorten(string(q.Mode))))
	}
	if q.K < 1 || q.K > MaxPool {
		errs = append(errs, fmt.Errorf("k: %d: want 1 to %d", q.K, MaxPool))
	} else if q.Pool < q.K || q.Pool > MaxPool {
		errs = append(errs, fmt.Errorf("pool: %d: want k (%d) to %d", q.Pool, q.K, MaxPool))
	}
	if !slices.Contains([]GraphUse{GraphDefault, GraphOn, GraphOff, GraphStrict}, q.Graph) {
		errs = append(errs, fmt.Errorf("graph: %s: want on, off or strict", graphstore.Shorten(string(q.Graph))))
	}
	if !q.Filter.ValidAt.IsZero() {
		errs = append(errs, errors.New("filter.valid_at: use the query's own valid_at"))
	}
	for i, m := range q.Filter.Match {
		if m.Field == vdb.FieldState {
			errs = append(errs, fmt.Errorf("filter.match[%d]: field %q is reserved: use valid_at to see what is not active now", i, m.Field))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrBadQuery, errors.Join(errs...))
}

// restricted reports whether the query has conditions of its own, besides what may be shown now.
func (q Query) restricted() bool {
	return q.AgentID != "" || len(q.Filter.Match) > 0 || len(q.Filter.Range) > 0
}

// filter returns the caller's filter with the agent, and the states and the validity that the time asks for. The store
// applies all of it, so that no fact that cannot be shown takes a place in the pool.
func (q Query) filter(now time.Time) vdb.Filter {
	f := vdb.Filter{Match: slices.Clone(q.Filter.Match), Range: q.Filter.Range, ValidAt: now}
	states := []string{vdb.StateActive}
	if !q.ValidAt.IsZero() {
		f.ValidAt = q.ValidAt
		states = append(states, graphstore.StateSuperseded.String())
	}
	f.Match = append(f.Match, vdb.FieldMatch{Field: vdb.FieldState, Any: states})
	if q.AgentID != "" {
		f.Match = append(f.Match, vdb.FieldMatch{Field: vdb.FieldAgentID, Any: []string{q.AgentID}})
	}
	return f
}
