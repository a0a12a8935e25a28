package config

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Validate reports every setting outside its range under the name an operator set it by. Settings of the ranking are
// checked by the ranking itself. The parser of the command line calls it.
func (c Config) Validate() error {
	return errors.Join(
		between("KITH_BATCH_EVENTS", c.NATS.BatchEvents, 1, 10_000),
		between("KITH_BATCH_TICK", c.NATS.BatchTick, time.Millisecond, 10*time.Second),
		atLeast("KITH_STREAM_MAX_AGE", c.NATS.MaxAge, 0),
		atLeast("KITH_STREAM_MAX_BYTES", c.NATS.MaxBytes, 0),
		between("QDRANT_TIMEOUT", c.Qdrant.Timeout, time.Millisecond, 10*time.Minute),
		between("QDRANT_CREATE_DIMENSION", c.Qdrant.CreateDim, 0, 65_536),
		optional("MEMORY_GRAPH_CO_OCCURS_MAX_BATCH", c.Project.CoOccursMaxBatch, 1, 64),
		optional("MEMORY_GRAPH_EDGE_MIN_SCORE", c.Project.EdgeMinScore, 1e-9, 1),
		optional("MEMORY_GRAPH_BUDGET_MS", c.Rerank.BudgetMS, 1, 60_000),
		between("KITH_DRAIN_TIMEOUT", c.Serve.DrainTimeout, 100*time.Millisecond, 10*time.Minute),
		between("KITH_SEARCH_TIMEOUT", c.Serve.SearchLimit, time.Millisecond, 10*time.Minute),
		together("NATS_CERT", c.NATS.Cert, "NATS_KEY", c.NATS.Key),
	)
}

func between[T cmp.Ordered](name string, v, low, high T) error {
	if low <= v && v <= high { // also false for NaN
		return nil
	}
	return fmt.Errorf("%s %v: want %v to %v", name, v, low, high)
}

func atLeast[T cmp.Ordered](name string, v, low T) error {
	if v >= low {
		return nil
	}
	return fmt.Errorf("%s %v: want %v or more", name, v, low)
}

func optional[T cmp.Ordered](name string, v *T, low, high T) error {
	if v == nil {
		return nil
	}
	return between(name, *v, low, high)
}

func together(name, v, otherName, other string) error {
	if (v == "") == (other == "") {
		return nil
	}
	return fmt.Errorf("%s %q, %s %q: want both or neither", name, v, otherName, other)
}
