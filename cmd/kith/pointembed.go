package main

import (
	"errors"
	"fmt"

	"github.com/kithgraph/kith/embed"
	"github.com/kithgraph/kith/vdb"
)

// embed makes the vectors that points of the chunk lack. A point whose text the endpoint does not take leaves the chunk, and only
// that one.
func (l *pointLoader) embed() error {
	var lacking []int
	var texts []string
	for i, p := range l.chunk {
		if p.Vector == nil {
			lacking, texts = append(lacking, i), append(texts, p.Payload.Content)
		}
	}
	vectors, err := l.embedder.embedAll(l.e.ctx, texts)
	if isOfOneText(err) {
		return l.embedOneByOne()
	}
	if err != nil {
		return fmt.Errorf("embed points: %w", err)
	}
	for n, i := range lacking {
		l.chunk[i].Vector = vectors[n]
	}
	return nil
}

// isOfOneText reports whether an error may be due to one of the texts, so that others can be embedded all the same.
func isOfOneText(err error) bool {
	var e *embed.EndpointError
	return errors.As(err, &e) && e.OfText
}

// embedOneByOne does it text by text; those that were embedded before the error come from the cache. Where none can be, it is
// not the texts, and an error.
func (l *pointLoader) embedOneByOne() error {
	var chunk []vdb.Point
	var numbers []int
	var refused error
	embedded, failed := 0, 0
	for i, p := range l.chunk {
		var err error
		if p.Vector == nil {
			p.Vector, err = l.embedder.Embed(l.e.ctx, p.Payload.Content)
			if err == nil {
				embedded++
			}
		}
		switch {
		case err == nil:
			chunk, numbers = append(chunk, p), append(numbers, l.numbers[i])
		case isOfOneText(err):
			l.problems.add(l.file, l.numbers[i], err)
			refused = err
			failed++
		default:
			return fmt.Errorf("embed points: line %d: %w", l.numbers[i], err)
		}
	}
	if failed > 1 && embedded == 0 {
		return fmt.Errorf("embed points: none of %d could be: %w", failed, refused)
	}
	l.chunk, l.numbers = chunk, numbers
	return nil
}
