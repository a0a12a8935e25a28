package feed

import (
	"slices"
	"testing"

	"github.com/kithgraph/kith/projector"
)

// TestReplayTellsWhatHasNoDeadLetter projects an event that a later version, which takes one fact per event, refuses. It is settled,
// and neither in the graph of a replay nor among the dead letters; that has to be said.
func TestReplayTellsWhatHasNoDeadLetter(t *testing.T) {
	js := newJS(t)
	good := projector.Subject(userA, projector.TypeFactsWritten)
	badFacts := func(id string) []byte {
		return event(id, "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{7}})
	}
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	publish(t, js, factsEvent("accepted", userA, 1, "a", "b")) // 1: two facts
	publishRaw(t, js, good, []byte("no json"), nil)            // 2: dead letter 1
	publishRaw(t, js, good, badFacts("three"), nil)            // 3: dead letter 2
	publishRaw(t, js, good, badFacts("four"), nil)             // 4: dead letter 3, which is dropped
	f.applied(t)
	f.stop(t)
	publishRaw(t, js, good, []byte("no json either"), nil) // 5: the feed will bury it
	dead, err := NewDeadLetters(js, DeadLettersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(deadLetters(t, js), func(l DeadLetter) bool { return l.Sequence == 4 })
	if i != 2 {
		t.Fatalf("the dead letter of event 4 is at %d, want it to be the third", i)
	}
	if err := dead.Drop(testContext(t), 3); err != nil {
		t.Fatal(err)
	}
	check := func(out *Replayed) {
		t.Helper()
		var none []uint64
		for _, p := range out.Problems {
			if p.Unburied {
				none = append(none, p.Seq)
			}
		}
		if !slices.Equal(none, []uint64{1, 4}) || out.Unburied != 2 || len(out.Problems) != 5 {
			t.Errorf("without dead letters %v, %d; %+v: want 1 and 4", none, out.Unburied, out.Problems)
		}
	}
	for _, limit := range []int64{0, 1} {
		r := newReplay(t, js, ReplayConfig{MaxBytes: limit, Limits: projector.Limits{MaxFacts: 1}})
		ext := extent(t, r)
		_, _, out := replayAll(t, r, ext)
		check(out)
		u := r.User(space(t, userA))
		early := ext
		early.Last = 2
		for _, ext := range []Extent{early, ext} {
			if err := u.Read(testContext(t), ext); err != nil {
				t.Fatal(err)
			}
		}
		_, out = u.Result()
		check(out)
	}
	if err := js.DeleteStream(testContext(t), DeadStream); err != nil {
		t.Fatal(err)
	}
	r := newReplay(t, js, ReplayConfig{})
	if _, _, out := replayAll(t, r, extent(t, r)); out.Unburied != 3 { // 2, 3, 4: with room for more facts, 1 is good
		t.Errorf("without dead letters at all: %d, want 3", out.Unburied)
	}
}
