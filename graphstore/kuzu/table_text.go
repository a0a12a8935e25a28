package kuzu

import (
	"github.com/kithgraph/kith/graphstore"
)

// textRow is a text that a transaction adds.
type textRow struct {
	ids   []int64 // of its parts; the first is the text's
	space graphstore.Space
	text  string
}

// textRef is a text in the index, with the number of columns that refer to it.
type textRef struct {
	textRow
	refs int
}

// spaceText names a text in its space.
type spaceText struct {
	space graphstore.Space
	text  string
}

// number returns the number of a text that a record of the space is to refer to, a new one if the file does not have the
// text yet.
func (p *planner) number(s graphstore.Space, text string) int64 {
	if text == "" {
		return 0
	}
	if id, ok := p.index.text(s, text); ok {
		return id
	}
	k := spaceText{s, text}
	if id, ok := p.texts[k]; ok {
		return id
	}
	var ids []int64
	for range splitText(text) {
		ids = append(ids, p.nextNumber())
	}
	p.texts[k] = ids[0]
	p.plan.newTexts = append(p.plan.newTexts, textRow{ids, s, text})
	return ids[0]
}

// refer counts what a row refers to: +1 for a row that comes, -1 for one that goes.
func (p *planner) refer(t *table, row []any, by int) {
	t.eachRef(row, func(id int64) { p.plan.refs[id] += by })
}

// planTexts finds the texts that lose their last reference.
func (p *planner) planTexts() error {
	fresh := make(map[int64]bool, len(p.plan.newTexts))
	for _, t := range p.plan.newTexts {
		fresh[t.ids[0]] = true
	}
	for _, id := range sortedKeys(p.plan.refs) {
		refs, stored := p.index.refs(id)
		switch {
		case !stored && !fresh[id]:
			return damaged("text %d is not in the file", id)
		case stored && refs+p.plan.refs[id] == 0:
			p.plan.goneTexts = append(p.plan.goneTexts, id)
		}
	}
	return nil
}
