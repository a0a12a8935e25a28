package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/reader"
)

// rule is what a reader of a table must know to read it.
var rule = fmt.Sprintf(`Every arm shows %[1]d results, and the graph may attach further facts to a result. What is measured is the list in reading order:
each result, then what is attached to it. An attached fact is an item like any other and pushes what follows one place down;
recall@k and nDCG@10 see the first k and 10 items. The column recall is of everything shown, which more items make better by
themselves: equal-items is the plain order with as many items as the default arm shows to the same question.
relabelled is the default arm on graphs whose facts have exchanged their ids within one user and one state, the mean of %[2]d:
what is left of the default arm's gain there does not come from the connections. expanding is the default arm with the gate of
expansion open and a pool of %[1]d, so that the graph does attach facts; equal-wider is the plain order with as many items.
Intervals: 95 %%, paired bootstrap over the questions, %[3]d samples. The verdict is about %[4]s and counts what
lies wholly on one side of 0.
`, reader.DefaultK, relabellings, eval.Resamples, strings.Join(verdictMeasures, " and "))

// table renders all groups.
func table(all []answers) (string, error) {
	var b strings.Builder
	b.WriteString(rule)
	for _, g := range groups(all) {
		text, err := g.table()
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text)
	}
	return b.String(), nil
}

func (g *group) table() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d questions\n\n%-13s", g.name, g.n, "")
	for _, m := range measures {
		fmt.Fprintf(&b, "%10s", m.name)
	}
	fmt.Fprintf(&b, "%10s\n", "items")
	for _, arm := range arms {
		fmt.Fprintf(&b, "%-13s", arm)
		for _, m := range measures {
			fmt.Fprintf(&b, "%10.4f", g.mean(arm, m.name))
		}
		fmt.Fprintf(&b, "%10.2f\n", g.items[arm]/float64(g.n))
	}
	fmt.Fprintf(&b, "\n%-10s", "minus")
	for _, p := range pairs {
		fmt.Fprintf(&b, "%29s", p.with+"-"+p.without)
	}
	b.WriteString("\n")
	for _, m := range measures {
		fmt.Fprintf(&b, "%-10s", m.name)
		for _, p := range pairs {
			d, err := g.difference(m.name, p)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "     %+.4f %+.4f..%+.4f", d.Mean, d.Low, d.High)
		}
		b.WriteString("\n")
	}
	verdict, err := g.verdict()
	return b.String() + "\nverdict: " + verdict + "\n", err
}

// verdict says in one line what the graph is worth here.
func (g *group) verdict() (string, error) {
	words := map[eval.Verdict]string{eval.Helps: "helps", eval.Harms: "harms", eval.Alike: "changes nothing", eval.Unsure: "shows no sure difference"}
	var parts []string
	for _, m := range verdictMeasures {
		plain, err := g.difference(m, pair{armDefault, armPlain})
		if err != nil {
			return "", err
		}
		relabelled, err := g.difference(m, pair{armDefault, armRelabel})
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%s: the graph %s (better on %d, worse on %d), the true one against relabelled ones %s",
			m, words[plain.Verdict()], plain.Better, plain.Worse, words[relabelled.Verdict()]))
	}
	return strings.Join(parts, "; "), nil
}

// excerpt is how much of a fact's content a file shows.
const excerpt = 60

// file renders what every arm shows for one question; of the relabelled graphs the first.
func (a *answers) file() string {
	var b strings.Builder
	q := a.question
	fmt.Fprintf(&b, "%s  %s  %s\n%s\n", q.ID, q.UserID, q.Kind, q.Text)
	for _, id := range q.Answers {
		fmt.Fprintf(&b, "answer %s\n", id)
	}
	for _, arm := range arms {
		s := a.by[arm][0]
		fmt.Fprintf(&b, "\n%s\n", arm)
		for i := range s.items {
			b.WriteString(s.items[i].line(q.Answers))
		}
		for i := range s.paths {
			p := &s.paths[i]
			fmt.Fprintf(&b, "path  %.6f  %s\n", p.Score, p.String())
		}
	}
	return b.String()
}

func (it *item) line(answers []string) string {
	mark := " "
	if slices.Contains(answers, it.id) {
		mark = "*"
	}
	line := fmt.Sprintf("%s %-4s %s  %.6f  %.6f  ", mark, it.place, it.id, it.score, it.graph)
	if n := it.attached; n != nil {
		line += fmt.Sprintf("via %s, %d hops from %s  ", n.Via, n.Hops, n.Seed)
	}
	content := []rune(it.content)
	return line + string(content[:min(excerpt, len(content))]) + "\n"
}
