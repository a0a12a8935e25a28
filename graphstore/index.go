package graphstore

import "hash/maphash"

// shardLoad is the mean number of keys per shard: what one write to an index copies.
const shardLoad = 32

var shardSeed = maphash.MakeSeed()

// index is a string map that shares its shards between versions. A value is read-only; edits go through indexDraft.
type index[V any] struct {
	shards []map[string]V // length a power of two, or none
	n      int
}

func (x index[V]) shardOf(key string) uint64 {
	return maphash.String(shardSeed, key) & uint64(len(x.shards)-1)
}

func (x index[V]) get(key string) (V, bool) {
	if len(x.shards) == 0 {
		var none V
		return none, false
	}
	v, ok := x.shards[x.shardOf(key)][key]
	return v, ok
}

// indexDraft edits an index: it copies a shard the first time it writes to it.
type indexDraft[V any] struct {
	idx   index[V]
	owned map[uint64]struct{}
}

func indexDraftOf[V any](x index[V]) indexDraft[V] {
	shards := make([]map[string]V, len(x.shards))
	copy(shards, x.shards)
	return indexDraft[V]{idx: index[V]{shards: shards, n: x.n}, owned: map[uint64]struct{}{}}
}

func (d *indexDraft[V]) set(key string, v V) {
	if d.idx.n >= len(d.idx.shards)*shardLoad {
		d.grow()
	}
	shard := d.own(key)
	if _, had := shard[key]; !had {
		d.idx.n++
	}
	shard[key] = v
}

func (d *indexDraft[V]) remove(key string) {
	if _, had := d.idx.get(key); !had {
		return
	}
	delete(d.own(key), key)
	d.idx.n--
}

func (d *indexDraft[V]) own(key string) map[string]V {
	s := d.idx.shardOf(key)
	if _, own := d.owned[s]; !own {
		clone := make(map[string]V, len(d.idx.shards[s])+1)
		for k, v := range d.idx.shards[s] {
			clone[k] = v
		}
		d.idx.shards[s] = clone
		d.owned[s] = struct{}{}
	}
	return d.idx.shards[s]
}

// grow doubles the number of shards, at least to one.
func (d *indexDraft[V]) grow() {
	old := d.idx.shards
	d.idx.shards = make([]map[string]V, max(1, 2*len(old)))
	d.owned = make(map[uint64]struct{}, len(d.idx.shards))
	for s := range d.idx.shards {
		d.idx.shards[s] = make(map[string]V, shardLoad)
		d.owned[uint64(s)] = struct{}{}
	}
	for _, shard := range old {
		for k, v := range shard {
			d.idx.shards[d.idx.shardOf(k)][k] = v
		}
	}
}
