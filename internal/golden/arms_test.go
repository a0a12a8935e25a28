package golden

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
)

// The arms, in the order of every file and table.
const (
	armPlain      = "plain"       // the vector store's order
	armReference  = "reference"   // the published design's settings
	armDefault    = "default"     // the settings of a service that says nothing
	armEqual      = "equal-items" // the plain order, with as many items as the default arm shows
	armRelabel    = "relabelled"  // the default settings on graphs that say of every fact what is true of another
	armExpand     = "expanding"   // settings under which the graph does attach facts
	armEqualWider = "equal-wider" // the plain order, with as many items as the expanding arm shows
)

var arms = []string{armPlain, armReference, armDefault, armEqual, armRelabel, armExpand, armEqualWider}

// relabellings is how many relabelled graphs the control is the mean of: one could be lucky.
const relabellings = 20

// item is one fact shown.
type item struct {
	place    string // "3", or "3.1" for the first fact attached to the third result
	id       string
	content  string
	score    float64 // its cosine
	graph    float64 // what it is ordered by
	attached *rerank.Nominee
}

// shown is what one arm answers to one question: the results with what is attached to them, in reading order.
type shown struct {
	items []item
	paths []rerank.Path
}

func (s shown) ids() []string {
	ids := make([]string, len(s.items))
	for i := range s.items {
		ids[i] = s.items[i].id
	}
	return ids
}

// ask returns what a reader shows for a question, with the graph or without. A pool of 0 is the default's.
func (w *world) ask(r *reader.Reader, q *sample.Question, use reader.GraphUse, k, pool int) (shown, error) {
	space, err := graphstore.NewSpace(q.UserID)
	if err != nil {
		return shown{}, err
	}
	answer, err := r.Search(context.Background(), reader.Query{Space: space, Vector: q.Vector, K: k, Pool: pool, Graph: use})
	if err != nil {
		return shown{}, fmt.Errorf("question %s: %w", q.ID, err)
	}
	return readingOrder(answer), nil
}

// readingOrder puts every attached fact behind the result it is attached to.
func readingOrder(a reader.Answer) shown {
	s := shown{paths: a.Paths}
	for i := range a.Results {
		res := &a.Results[i]
		s.add(fmt.Sprint(i+1), res)
		for j := range res.Attached {
			s.add(fmt.Sprintf("%d.%d", i+1, j+1), &res.Attached[j])
		}
	}
	return s
}

func (s *shown) add(place string, res *reader.Result) {
	it := item{place: place, id: res.ID, content: res.Payload.Content, score: res.Score, graph: res.GraphScore}
	if res.Expansion != nil {
		it.attached = &res.Expansion.Nominee
	}
	s.items = append(s.items, it)
}

// answers is what every arm shows for one question; of the relabelled graphs one for each.
type answers struct {
	question *sample.Question
	by       map[string][]shown
}

func (w *world) answerAll() ([]answers, error) {
	all := make([]answers, len(w.data.questions))
	for i := range all {
		var err error
		if all[i], err = w.answer(&w.data.questions[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (w *world) answer(q *sample.Question) (answers, error) {
	a := answers{question: q, by: map[string][]shown{}}
	var errs []error
	ask := func(arm string, r *reader.Reader, use reader.GraphUse, k, pool int) {
		s, err := w.ask(r, q, use, k, pool)
		errs = append(errs, err)
		a.by[arm] = append(a.by[arm], s)
	}
	ask(armPlain, w.standard, reader.GraphOff, reader.DefaultK, 0)
	ask(armReference, w.reference, reader.GraphStrict, reader.DefaultK, 0)
	ask(armDefault, w.standard, reader.GraphStrict, reader.DefaultK, 0)
	ask(armEqual, w.standard, reader.GraphOff, max(1, len(a.by[armDefault][0].items)), 0)
	for _, r := range w.relabel {
		ask(armRelabel, r, reader.GraphStrict, reader.DefaultK, 0)
	}
	ask(armExpand, w.expanding, reader.GraphStrict, reader.DefaultK, reader.DefaultK)
	ask(armEqualWider, w.standard, reader.GraphOff, max(1, len(a.by[armExpand][0].items)), 0)
	return a, errors.Join(errs...)
}
