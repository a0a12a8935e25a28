package graphstore

import "fmt"

// State is where a fact is in its life.
type State uint8

// The states. Only active facts are found by a search that asks for now.
const (
	StateUnseen     State = iota // named by another fact's relation, not projected itself yet
	StateActive                  // in force
	StateSuperseded              // retired by a newer fact; valid up to its valid_to
	StateShadowed                // hidden from retrieval, may come back
	StateDeleted                 // gone; the node stays as a tombstone that remembers the version
)

var stateNames = [...]string{"unseen", "active", "superseded", "shadowed", "deleted"}

// String returns the state's name.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return stateNames[s]
}

// ParseState returns the state with this name.
func ParseState(name string) (State, error) {
	for i, n := range stateNames {
		if n == name {
			return State(i), nil
		}
	}
	return 0, fmt.Errorf("state %s: want one of %v", Shorten(name), stateNames)
}

// MarshalText returns the state's name.
func (s State) MarshalText() ([]byte, error) {
	if int(s) >= len(stateNames) {
		return nil, fmt.Errorf("state %d: unknown", uint8(s))
	}
	return []byte(stateNames[s]), nil
}

// UnmarshalText is the inverse of [State.MarshalText].
func (s *State) UnmarshalText(text []byte) error {
	parsed, err := ParseState(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// LayerFact is the layer of every projected fact.
const LayerFact = "l2_fact"

// Fact is a Memory node: what the graph knows of one stored memory. It holds no content and no vector: the vector store
// is the truth for those. What the fact asserts (relations, neighbours, mentions, tags) are edges whose asserter is the
// fact.
type Fact struct {
	ID        string // canonical ([CanonicalFactID]); unique in the space
	State     State
	Registers Registers

	AgentID   string // empty: no agent
	SourceID  string // the document, message or turn that asserted it; empty: unknown
	EpisodeID string // the conversation it belongs to; empty: none
	BatchID   string // the write batch it was persisted with
	BatchSeq  int32  // its place in that batch, from 0

	MemoryAt   Instant // when it happened
	ValidFrom  Instant // start of validity, inclusive; absent: since ever
	ValidTo    Instant // end of validity as the producer stated it, exclusive; absent: for ever
	RecordedAt Instant // when the memory system learned it

	// The fact that retired it, and the time of the event that did; may be empty. They are there while the latest lifecycle
	// change, Registers.State, is a supersession. State may be another one then: a delete or a withdrawal hides it
	// (StateDeleted), and it does not outlive the fact that it was for, if that is withdrawn (StateActive).
	SupersededBy string
	SupersededAt Instant
}

// Version returns the greatest version of any write to the fact, 0 for an unseen one.
func (f Fact) Version() int64 { return f.Registers.Latest().Version }

// Key returns the fact's identity in its space.
func (f Fact) Key() Key { return Key{Kind: KindFact, Node: f.ID} }

// Equal reports whether two facts are the same in every stored part.
func (f Fact) Equal(o Fact) bool {
	a, b := f, o
	a.Registers, b.Registers = Registers{}, Registers{}
	return a.comparable() == b.comparable() && f.Registers.Equal(o.Registers)
}

type comparableFact struct {
	id, agent, source, episode, batch, by        string
	state                                        State
	seq                                          int32
	memory, from, to, recorded, supersededAtTime Instant
}

func (f Fact) comparable() comparableFact {
	return comparableFact{f.ID, f.AgentID, f.SourceID, f.EpisodeID, f.BatchID, f.SupersededBy, f.State, f.BatchSeq,
		f.MemoryAt, f.ValidFrom, f.ValidTo, f.RecordedAt, f.SupersededAt}
}

// Present reports whether the fact counts as part of the memory: written, and neither deleted nor merely named.
func (f Fact) Present() bool { return f.State != StateUnseen && f.State != StateDeleted }
