package projector

import (
	"math"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// FactsWritten is one write batch: facts that were persisted together. A fact's place in Facts is its place in the
// batch.
type FactsWritten struct {
	// BatchID is the producer's id of the batch; events that share it are one batch. Left out, the event's id stands
	// for it where a fact is added, and an updated fact stays in the batch it is in.
	BatchID string      `json:"batch_id,omitempty"`
	Facts   []FactWrite `json:"facts"`
	// Places are the places of Facts in the batch where that is not simply their order, because facts between them were
	// rejected: ascending, one for each fact, so that a rejected fact that comes mended takes the place it had. Nil otherwise.
	Places []int `json:"-"`
}

// place returns the place of the i-th fact in the batch.
func (w FactsWritten) place(i int) int32 {
	if w.Places != nil {
		i = w.Places[i]
	}
	return int32(i)
}

// Type returns [TypeFactsWritten].
func (FactsWritten) Type() Type { return TypeFactsWritten }

func decodeFactsWritten(d *decoding) (Data, error) {
	f := fields{node: d.node}
	written := FactsWritten{BatchID: f.optionalID("batch_id").Value}
	list := f.take("facts")
	if f.err == nil && (list == nil || list.kind != nodeArray) {
		f.fail("facts", list, wantArray)
	}
	if f.err != nil {
		return nil, f.err
	}
	if err := checkOptionalID("batch_id", written.BatchID); err != nil {
		return nil, err
	}
	if len(list.items) > d.limits.MaxFacts {
		return nil, badField("facts", "has %d facts: want at most %d", len(list.items), d.limits.MaxFacts)
	}
	seen := make(map[string]int, len(list.items))
	for i := range list.items {
		w, err := d.fact(&list.items[i], i, seen)
		if err != nil {
			d.reject(i, &list.items[i], err)
			continue
		}
		written.Facts = append(written.Facts, w)
		written.Places = append(written.Places, i)
	}
	if len(written.Facts) == len(list.items) {
		written.Places = nil
	}
	return written, nil
}

// fact reads and validates one fact; seen maps the canonical ids before it to their places.
func (d *decoding) fact(n *node, i int, seen map[string]int) (FactWrite, error) {
	w, err := readFactWrite(n)
	if err != nil {
		return FactWrite{}, err
	}
	if err := w.validate(d.event); err != nil {
		return FactWrite{}, err
	}
	return w, claim(seen, w.ID, i)
}

// claim notes the fact's id as taken or says which fact has it.
func claim(seen map[string]int, id string, i int) error {
	canonical := graphstore.CanonicalFactID(id)
	if first, dup := seen[canonical]; dup {
		return badField("id", "%s is the id of facts[%d] too: want each fact once in an event", graphstore.Shorten(id), first)
	}
	seen[canonical] = i
	return nil
}

func (d *decoding) reject(i int, n *node, err error) {
	var id string
	if n.kind == nodeObject {
		if text, ok := idText(n.member("id")); ok && graphstore.CheckID(text) == nil {
			id = text
		}
	}
	d.rejected = append(d.rejected, Rejected{Index: i, FactID: id, Err: under("data", underItem("facts", i, err))})
}

func (w FactsWritten) validate(ev Event) error {
	if err := checkOptionalID("batch_id", w.BatchID); err != nil {
		return err
	}
	if w.Places != nil && (len(w.Places) != len(w.Facts) || !slices.IsSorted(w.Places) || len(w.Places) > 0 && w.Places[0] < 0) {
		return badField("facts", "has places %v: want one for each of %d facts, ascending", w.Places, len(w.Facts))
	}
	seen := make(map[string]int, len(w.Facts))
	for i := range w.Facts {
		if err := w.Facts[i].validate(ev); err != nil {
			return underItem("facts", i, err)
		}
		if err := claim(seen, w.Facts[i].ID, i); err != nil {
			return underItem("facts", i, err)
		}
	}
	return nil
}

func (w FactsWritten) wire(userID string) any {
	if w.Facts == nil {
		w.Facts = []FactWrite{}
	}
	return struct {
		UserID string `json:"user_id"`
		FactsWritten
	}{userID, w}
}

// checkFinite returns the first number that JSON cannot write.
func (w FactsWritten) checkFinite() error {
	for i := range w.Facts {
		if err := w.Facts[i].checkFinite(); err != nil {
			return underItem("facts", i, err)
		}
	}
	return nil
}

func (w *FactWrite) checkFinite() error {
	for i, r := range w.Relations.Value {
		if !finite(r.Weight.Value) {
			return underItem("relations", i, badField("weight", "%v: want a finite number", r.Weight.Value))
		}
	}
	for i, n := range w.Neighbors.Value {
		if !finite(n.Score) {
			return underItem("neighbors", i, badField("score", "%v: want a finite number", n.Score))
		}
	}
	for i, t := range w.Triples.Value {
		if !finite(t.Confidence.Value) {
			return underItem("triples", i, badField("confidence", "%v: want a finite number", t.Confidence.Value))
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
