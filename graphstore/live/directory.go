package live

import (
	"container/heap"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kithgraph/kith/graphstore"
)

// directory knows every space that has records, resident or not. Its lock is held for moments only, never during I/O.
type directory struct {
	sync.RWMutex
	max   int64        // bound of bytes; 0: none
	clock atomic.Int64 // counts uses

	entries   map[graphstore.Space]*entry
	residents residents
	bytes     int64 // of the resident snapshots
	total     int64 // of all entries
	counts    Counts
	tooLarge  int // entries
	digest    graphstore.Digest

	evictions, reloads int
}

// entry is one space.
type entry struct {
	space  graphstore.Space
	used   atomic.Int64         // the clock at the last use
	snap   *graphstore.Snapshot // nil: not resident
	counts Counts
	digest graphstore.Digest // of the records as published
	bytes  int64             // of the snapshot; an estimate from the records until there was one
	// version changes with every publication by the writer. A reload that began at another one has read something older.
	version  uint64
	tooLarge bool // bytes exceed the bound, and are known to
	// open says that a commit is under way or its outcome unknown: the store may have the records of after instead.
	open   bool
	after  graphstore.Digest
	flight *flight // the reload that is asked for, if any
	queued int64   // used as it was when put into residents
}

func (d *directory) init(limit int64) {
	d.max = limit
	d.entries = map[graphstore.Space]*entry{}
}

// reset empties the directory for a load.
func (d *directory) resetLocked() {
	d.entries, d.residents = map[graphstore.Space]*entry{}, nil
	d.bytes, d.total, d.counts, d.tooLarge, d.digest = 0, 0, Counts{}, 0, graphstore.Digest{}
}

func (d *directory) touch(e *entry) { e.used.Store(d.clock.Add(1)) }

// entryLocked returns the entry of a space, a new one if it has none.
func (d *directory) entryLocked(space graphstore.Space) *entry {
	e, ok := d.entries[space]
	if !ok {
		e = &entry{space: space}
		d.entries[space] = e
		d.counts.Spaces++
	}
	return e
}

// publishLocked makes a snapshot by the writer, whose records have this digest, the newest of its space.
func (d *directory) publishLocked(s *graphstore.Snapshot, digest graphstore.Digest) {
	e := d.entryLocked(s.Space())
	e.digest = digest
	e.version++
	e.open = false
	if digest.Records() == 0 { // a tombstone alone is something
		d.forgetLocked(e)
		return
	}
	d.countLocked(e, countsOf(s))
	d.keepLocked(e, s)
}

// keepLocked makes a snapshot resident if it fits, in the place of those least recently used.
func (d *directory) keepLocked(e *entry, s *graphstore.Snapshot) {
	d.sizeLocked(e, s.Bytes())
	if e.tooLarge {
		d.unloadLocked(e)
		return
	}
	if e.snap == nil {
		heap.Push(&d.residents, e)
	} else {
		d.bytes -= e.snap.Bytes()
	}
	d.bytes += e.bytes
	e.snap = s
	d.touch(e)
	d.evictLocked()
}

// estimateLocked records the size of a space that has not been built.
func (d *directory) estimateLocked(e *entry, bytes int64) {
	d.total += bytes - e.bytes
	e.bytes = bytes
}

// sizeLocked records the size of a space that has been built.
func (d *directory) sizeLocked(e *entry, bytes int64) {
	d.estimateLocked(e, bytes)
	if over := d.max > 0 && bytes > d.max; over != e.tooLarge {
		e.tooLarge = over
		if over {
			d.tooLarge++
		} else {
			d.tooLarge--
		}
	}
}

func (d *directory) countLocked(e *entry, c Counts) {
	d.counts.add(e.counts, -1)
	e.counts = c
	d.counts.add(c, 1)
}

// setOpen says for the spaces of a commit whether the store may be ahead of what is published.
func (d *directory) setOpen(next []step, open bool) {
	d.Lock()
	defer d.Unlock()
	for _, s := range next {
		if e, known := d.entries[s.snap.Space()]; known {
			e.open, e.after = open, s.digest
		}
	}
}

// settle says that the store has what is published of every space.
func (d *directory) settle() {
	d.Lock()
	defer d.Unlock()
	for _, e := range d.entries {
		e.open = false
	}
}

// checkLocked compares the digest of what the store gave of a space with that of what was committed. It finds a store that
// has lost records, like one that has put an empty graph in the place of a damaged one, and one that gives other records,
// before a search or a plan takes that for the truth.
func (e *entry) checkLocked(digest graphstore.Digest) error {
	if digest == e.digest || (e.open && digest == e.after) {
		return nil
	}
	return damagedSpace(e.space, digest, e.digest)
}

func damagedSpace(space graphstore.Space, got, want graphstore.Digest) error {
	return fmt.Errorf("load graph of %s: %w: its records have digest %s, committed were %s", graphstore.Shorten(space.UserID()), graphstore.ErrDamaged, got, want)
}

// forgetLocked removes a space that has no records.
func (d *directory) forgetLocked(e *entry) {
	d.unloadLocked(e)
	d.countLocked(e, Counts{})
	d.sizeLocked(e, 0)
	d.counts.Spaces--
	delete(d.entries, e.space)
}

// unloadLocked takes a space out of the resident ones.
func (d *directory) unloadLocked(e *entry) {
	if e.snap == nil {
		return
	}
	d.bytes -= e.snap.Bytes()
	e.snap = nil
	for i, r := range d.residents {
		if r == e {
			heap.Remove(&d.residents, i)
			return
		}
	}
}

// evictLocked unloads the least recently used until the rest fits.
func (d *directory) evictLocked() {
	for d.max > 0 && d.bytes > d.max {
		e := d.residents[0]
		if used := e.used.Load(); used != e.queued { // used since it was put there
			e.queued = used
			heap.Fix(&d.residents, 0)
			continue
		}
		heap.Pop(&d.residents)
		d.bytes -= e.snap.Bytes()
		e.snap = nil
		d.evictions++
	}
}

// residents is a heap by last use. An entry's place follows its use only when it comes up for eviction: a use only ever
// moves it down, so the first one whose place is right is the least recently used.
type residents []*entry

func (r residents) Len() int           { return len(r) }
func (r residents) Less(i, j int) bool { return r[i].queued < r[j].queued }
func (r residents) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

func (r *residents) Push(x any) {
	e := x.(*entry)
	e.queued = e.used.Load()
	*r = append(*r, e)
}

func (r *residents) Pop() any {
	last := len(*r) - 1
	e := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	return e
}
