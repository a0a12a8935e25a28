package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/internal/sample"
)

// measure is one column of the table.
type measure struct {
	name string
	of   func(shown, answers []string) float64
}

const (
	recallTen = "recall@10"
	ndcgTen   = "nDCG@10"
)

// verdictMeasures are what the verdicts are about, chosen before anything was measured.
var verdictMeasures = []string{recallTen, ndcgTen}

var measures = []measure{
	{"recall@1", recallAt(1)},
	{"recall@2", recallAt(2)},
	{"recall@5", recallAt(5)},
	{recallTen, recallAt(10)},
	{ndcgTen, func(shown, answers []string) float64 { return eval.NDCGAt(shown, answers, 10) }},
	{"MRR", eval.ReciprocalRank},
	{"recall", func(shown, answers []string) float64 { return eval.RecallAt(shown, answers, len(shown)) }},
}

func recallAt(k int) func(shown, answers []string) float64 {
	return func(shown, answers []string) float64 { return eval.RecallAt(shown, answers, k) }
}

// group is a set of questions with the values of every measure in every arm.
type group struct {
	name   string
	n      int
	items  map[string]float64              // items shown, by arm
	values map[string]map[string][]float64 // by arm and measure, one for each question
}

// groups returns one group of all questions, and one of each kind.
func groups(all []answers) []*group {
	whole, kinds := newGroup("all"), map[string]*group{}
	for i := range all {
		name := kind(all[i].question)
		if kinds[name] == nil {
			kinds[name] = newGroup(name)
		}
		whole.add(&all[i])
		kinds[name].add(&all[i])
	}
	found := []*group{whole}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		found = append(found, kinds[name])
	}
	return found
}

// kind is the question's kind, with the number of hops where the note begins with it.
func kind(q *sample.Question) string {
	if hops, _, ok := strings.Cut(q.Note, " hops: "); ok {
		return fmt.Sprintf("%s, %s hops", q.Kind, hops)
	}
	return q.Kind
}

func newGroup(name string) *group {
	g := &group{name: name, items: map[string]float64{}, values: map[string]map[string][]float64{}}
	for _, arm := range arms {
		g.values[arm] = map[string][]float64{}
	}
	return g
}

// add measures one more question.
func (g *group) add(a *answers) {
	g.n++
	for _, arm := range arms {
		runs := a.by[arm]
		g.items[arm] += over(runs, func(s shown) float64 { return float64(len(s.items)) })
		for _, m := range measures {
			value := over(runs, func(s shown) float64 { return m.of(s.ids(), a.question.Answers) })
			g.values[arm][m.name] = append(g.values[arm][m.name], value)
		}
	}
}

// over is the mean over the runs of one arm: one, or one for each relabelled graph.
func over(runs []shown, value func(shown) float64) float64 {
	sum := 0.0
	for _, s := range runs {
		sum += value(s)
	}
	return sum / float64(len(runs))
}

// mean is the measure's mean over the questions.
func (g *group) mean(arm, measure string) float64 {
	sum := 0.0
	for _, v := range g.values[arm][measure] {
		sum += v
	}
	return sum / float64(g.n)
}

// pair is two arms that are compared.
type pair struct{ with, without string }

var pairs = []pair{
	{armDefault, armPlain}, {armDefault, armReference}, {armDefault, armEqual}, {armDefault, armRelabel}, {armExpand, armEqualWider},
}

// difference is the one arm minus the other.
func (g *group) difference(measure string, p pair) (eval.Difference, error) {
	return eval.Compare(g.values[p.with][measure], g.values[p.without][measure])
}
