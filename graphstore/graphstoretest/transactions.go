package graphstoretest

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/kithgraph/kith/graphstore"
)

// gobChange is a change with the user's id in the place of the space, which has no exported part.
type gobChange struct {
	User      string
	Op        graphstore.Op
	Fact      *graphstore.Fact
	Entity    *graphstore.Entity
	Topic     *graphstore.Topic
	Edge      *graphstore.Edge
	Schema    *graphstore.Schema
	Ref       *graphstore.Ref
	Merge     *graphstore.Merge
	Tombstone *graphstore.Tombstone
}

func (c gobChange) change() (graphstore.Change, error) {
	space, err := graphstore.NewSpace(c.User)
	return graphstore.Change{Space: space, Op: c.Op, Fact: c.Fact, Entity: c.Entity, Topic: c.Topic, Edge: c.Edge, Schema: c.Schema, Ref: c.Ref,
		Merge: c.Merge, Tombstone: c.Tombstone}, err
}

// TransactionWriter keeps transactions for another process to write again.
type TransactionWriter struct{ out *gob.Encoder }

// NewTransactionWriter returns a writer to w.
func NewTransactionWriter(w io.Writer) *TransactionWriter {
	return &TransactionWriter{gob.NewEncoder(w)}
}

// Write adds one transaction.
func (w *TransactionWriter) Write(changes []graphstore.Change) error {
	list := make([]gobChange, len(changes))
	for i, c := range changes {
		list[i] = gobChange{c.Space.UserID(), c.Op, c.Fact, c.Entity, c.Topic, c.Edge, c.Schema, c.Ref, c.Merge, c.Tombstone}
	}
	if err := w.out.Encode(list); err != nil {
		return fmt.Errorf("keep transaction of %d changes: %w", len(changes), err)
	}
	return nil
}

// Transactions yields what a [TransactionWriter] has written, up to the first error.
func Transactions(r io.Reader) iter.Seq2[[]graphstore.Change, error] {
	return func(yield func([]graphstore.Change, error) bool) {
		in := gob.NewDecoder(r)
		for {
			var list []gobChange
			if err := in.Decode(&list); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				yield(nil, fmt.Errorf("read kept transaction: %w", err))
				return
			}
			changes := make([]graphstore.Change, len(list))
			for i, c := range list {
				var err error
				if changes[i], err = c.change(); err != nil {
					yield(nil, fmt.Errorf("read kept transaction: %w", err))
					return
				}
			}
			if !yield(changes, nil) {
				return
			}
		}
	}
}
