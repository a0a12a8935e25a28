package main

import (
	"errors"
	"fmt"

	"github.com/kithgraph/kith/vdb"
)

// pointsChunk is how many points are stored in one call.
const pointsChunk = 500

// pointLoader stores the points of a file in chunks and notes the lines that are refused.
type pointLoader struct {
	e        *env
	store    vdb.Store
	embedder *embedder // of points without a vector; nil refuses them
	file     string
	problems *problems

	chunk   []vdb.Point
	numbers []int // lines of the chunk
	stored  int
}

func (l *pointLoader) add(n int, line []byte) error {
	p, err := parsePoint(line, l.embedder != nil)
	if err == nil && p.Vector == nil {
		if err = l.embedder.client.CheckText(p.Payload.Content); err != nil {
			err = fmt.Errorf("payload.content, for want of a vector: %w", err)
		}
	}
	if err != nil {
		l.problems.add(l.file, n, err)
		return nil
	}
	l.chunk, l.numbers = append(l.chunk, p), append(l.numbers, n)
	if len(l.chunk) < pointsChunk {
		return nil
	}
	return l.flush()
}

// flush stores the chunk. A chunk that is refused for one of its points is stored one by one, so that only that one is.
func (l *pointLoader) flush() error {
	if len(l.chunk) == 0 {
		return nil
	}
	defer func() { l.chunk, l.numbers = nil, nil }()
	if err := l.embed(); err != nil {
		return err
	}
	err := l.store.Upsert(l.e.ctx, l.chunk)
	if err == nil {
		l.stored += len(l.chunk)
		return nil
	}
	if !errors.Is(err, vdb.ErrBadPoint) {
		return fmt.Errorf("store points: %w", err)
	}
	for i, p := range l.chunk {
		err := l.store.Upsert(l.e.ctx, []vdb.Point{p})
		switch {
		case err == nil:
			l.stored++
		case errors.Is(err, vdb.ErrBadPoint):
			l.problems.add(l.file, l.numbers[i], err)
		default:
			return fmt.Errorf("store points: line %d: %w", l.numbers[i], err)
		}
	}
	return nil
}
