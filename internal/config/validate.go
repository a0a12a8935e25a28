package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"
)

// Validate reports every setting outside its range under the name an operator set it by. Settings of the ranking are
// checked by the ranking itself. The parser of the command line calls it.
func (c Config) Validate() error {
	return errors.Join(
		between("KITH_BATCH_EVENTS", c.NATS.BatchEvents, 1, 10_000),
		between("KITH_BATCH_TICK", c.NATS.BatchTick, time.Millisecond, 10*time.Second),
		unset("KITH_STREAM_MAX_AGE", c.NATS.MaxAge, time.Minute),
		unset("KITH_STREAM_MAX_BYTES", c.NATS.MaxBytes, 16<<20),
		hostPort("KITH_LISTEN", c.Serve.Listen),
		unset("KITH_GRAPH_MEMORY", c.Graph.MemoryBytes, 1<<20),
		between("KITH_GRAPH_STORE_CRASHES", c.Graph.StoreCrashes, 1, 1_000_000),
		between("KITH_GRAPH_STORE_PAUSE", c.Graph.StorePause, time.Second, time.Hour),
		unset("KITH_GRAPH_STORE_MEMORY", c.Graph.StoreMemoryBytes, 256<<20),
		between("QDRANT_TIMEOUT", c.Qdrant.Timeout, time.Millisecond, 10*time.Minute),
		between("QDRANT_CREATE_DIMENSION", c.Qdrant.CreateDim, 0, 65_536),
		optional("MEMORY_GRAPH_CO_OCCURS_MAX_BATCH", c.Project.CoOccursMaxBatch, 1, 64),
		optional("MEMORY_GRAPH_EDGE_MIN_SCORE", c.Project.EdgeMinScore, 1e-9, 1),
		optional("MEMORY_GRAPH_BUDGET_MS", c.Rerank.BudgetMS, 1, 60_000),
		optional("MEMORY_GRAPH_HYBRID_DENSE_WEIGHT", c.Rerank.Hybrid.DenseWeight, 1e-9, 1),
		optional("MEMORY_GRAPH_HYBRID_KEYWORD_HALF", c.Rerank.Hybrid.KeywordHalf, 1e-9, 1e9),
		between("KITH_DRAIN_TIMEOUT", c.Serve.DrainTimeout, 100*time.Millisecond, 10*time.Minute),
		between("KITH_SEARCH_TIMEOUT", c.Serve.SearchLimit, time.Millisecond, 10*time.Minute),
		between("KITH_READY_LAG", c.Ready.Lag, 0, 1_000_000_000),
		between("KITH_READY_SILENCE", c.Ready.Silence, time.Second, 24*time.Hour),
		between("KITH_READY_ERROR_SHARE", c.Ready.ErrorShare, 0, 1),
		between("KITH_READY_ERROR_WINDOW", c.Ready.ErrorWindow, 10*time.Second, time.Hour),
		c.Standby.validate(c.NATS.URL),
		c.Embed.validate(c.Serve.SearchLimit),
		together("NATS_CERT", c.NATS.Cert, "NATS_KEY", c.NATS.Key),
	)
}

func between[T cmp.Ordered](name string, v, low, high T) error {
	if low <= v && v <= high { // also false for NaN
		return nil
	}
	return fmt.Errorf("%s %v: want %v to %v", name, v, low, high)
}

// unset accepts the zero value, for no limit, and limits that do not lose what has just been stored.
func unset[T cmp.Ordered](name string, v, low T) error {
	var none T
	if v == none || v >= low {
		return nil
	}
	return fmt.Errorf("%s %v: want %v for no limit, or %v or more", name, v, none, low)
}

// hostPort wants the host named: an empty one would mean every interface, also where a variable is merely empty.
func hostPort(name, v string) error {
	host, _, err := net.SplitHostPort(v)
	if err != nil || host == "" {
		return fmt.Errorf("%s %q: want host:port, like 127.0.0.1:7411 (0.0.0.0 for every interface)", name, v)
	}
	return nil
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
