package eventcheck

import (
	"slices"
	"strings"
)

// nearest returns the known name that a name is most likely meant to be, or "": one that differs in case, hyphens and
// underscores only, else the one with the fewest typing mistakes, at most a third of its length and no more than most.
func nearest(name string, known []string, most int) string {
	for _, k := range known {
		if k != name && folded(k) == folded(name) {
			return k
		}
	}
	best, found := most+1, ""
	for _, k := range known {
		if d := distance(folded(name), folded(k)); d < best && 3*d <= len(k) {
			best, found = d, k
		}
	}
	return found
}

func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// distance returns how many letters must be put in, left out, replaced or swapped with their neighbour to make a of b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxCompared || len(y) > maxCompared {
		return maxCompared
	}
	var before, last []int // the two rows above
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, last, row = last, row, make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}

// maxCompared is the longest name that is compared, in runes.
const maxCompared = 64

// quoteAll returns the names for a sentence.
func quoteAll(names []string) string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = `"` + n + `"`
	}
	return strings.Join(names, ", ")
}
