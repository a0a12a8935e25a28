package graphstore

import "hash/maphash"

// shardLoad is the most keys per shard in the mean: what one write to an index copies, at 8 bytes each.
const shardLoad = 64

var shardSeed = maphash.MakeSeed()

// tagOf hashes a key for an index.
func tagOf(key string) uint32 { return uint32(maphash.String(shardSeed, key)) }

// index finds numbers by the hash of their keys and keeps no keys: the owner of the numbers compares. It is a hash table
// in shards that versions share. A value is read-only; edits go through indexDraft.
type index struct {
	shards []*shard // length a power of two, or none
	n      int
}

// shard is a table with linear probing. Its length is what its keys need, not a power of two.
type shard struct {
	slots []slot
	n     int
}

// slot is one key: its hash, and its number plus one; 0 is free.
type slot struct{ tag, at uint32 }

// probe looks at the numbers whose keys have one hash.
type probe struct {
	slots []slot
	tag   uint32
	pos   int
}

func (x *index) shardOf(tag uint32) int {
	return int(uint64(tag) * uint64(len(x.shards)) >> 32) // the top bits
}

// find begins a search; the numbers are those that next returns.
func (x *index) find(tag uint32) probe {
	if len(x.shards) == 0 {
		return probe{}
	}
	slots := x.shards[x.shardOf(tag)].slots
	return probe{slots, tag, homeOf(tag, len(slots))}
}

// homeOf returns where a hash belongs in a table of n slots. The top bits have chosen the shard, so the others decide.
func homeOf(tag uint32, n int) int { return int(uint64(tag*0x9e3779b1) * uint64(n) >> 32) }

// next returns the next number, or false when there is none. A table always has a free slot.
func (p *probe) next() (int32, bool) {
	for len(p.slots) > 0 {
		s := p.slots[p.pos]
		if s.at == 0 {
			break
		}
		if p.pos++; p.pos == len(p.slots) {
			p.pos = 0
		}
		if s.tag == p.tag {
			return int32(s.at - 1), true
		}
	}
	return 0, false
}

// indexDraft edits an index: it copies a shard the first time it writes to it.
type indexDraft struct {
	idx     index
	owned   map[int]struct{}
	ownList bool
}

func indexDraftOf(x index) indexDraft { return indexDraft{idx: x} }

// add takes in a key that is not there.
func (d *indexDraft) add(tag uint32, number int32) {
	if d.idx.n >= len(d.idx.shards)*shardLoad {
		d.grow()
	}
	s := d.own(tag)
	if 8*(s.n+1) > 7*len(s.slots) {
		s.resize(s.n + s.n/3 + 4)
	}
	s.put(slot{tag, uint32(number) + 1})
	d.idx.n++
}

// remove takes out a key that is there.
func (d *indexDraft) remove(tag uint32, number int32) {
	s := d.own(tag)
	n := len(s.slots)
	i := homeOf(tag, n)
	for s.slots[i].at != uint32(number)+1 {
		i = (i + 1) % n
	}
	// Close the gap: what lies behind it moves up, unless that would put it before its home.
	for j := (i + 1) % n; s.slots[j].at != 0; j = (j + 1) % n {
		home := homeOf(s.slots[j].tag, n)
		if (j-home+n)%n >= (j-i+n)%n {
			s.slots[i] = s.slots[j]
			i = j
		}
	}
	s.slots[i] = slot{}
	s.n--
	d.idx.n--
}

func (d *indexDraft) own(tag uint32) *shard {
	i := d.idx.shardOf(tag)
	if _, own := d.owned[i]; own {
		return d.idx.shards[i]
	}
	if !d.ownList {
		d.idx.shards = append([]*shard(nil), d.idx.shards...)
		d.owned, d.ownList = map[int]struct{}{}, true
	}
	old := d.idx.shards[i]
	s := &shard{append([]slot(nil), old.slots...), old.n}
	d.idx.shards[i] = s
	d.owned[i] = struct{}{}
	return s
}

// grow doubles the number of shards, at least to one.
func (d *indexDraft) grow() {
	old := d.idx.shards
	d.idx.shards = make([]*shard, max(1, 2*len(old)))
	d.owned, d.ownList = make(map[int]struct{}, len(d.idx.shards)), true
	for i := range d.idx.shards {
		d.idx.shards[i] = new(shard)
		d.owned[i] = struct{}{}
	}
	for _, from := range old {
		for _, s := range from.slots {
			if s.at != 0 {
				d.idx.shards[d.idx.shardOf(s.tag)].n++
			}
		}
	}
	for _, s := range d.idx.shards {
		room := s.n + s.n/3 + 4
		s.n = 0
		s.slots = make([]slot, room)
	}
	for _, from := range old {
		for _, s := range from.slots {
			if s.at != 0 {
				d.idx.shards[d.idx.shardOf(s.tag)].put(s)
			}
		}
	}
}

func (s *shard) put(x slot) {
	i := homeOf(x.tag, len(s.slots))
	for s.slots[i].at != 0 {
		if i++; i == len(s.slots) {
			i = 0
		}
	}
	s.slots[i] = x
	s.n++
}

func (s *shard) resize(n int) {
	old := s.slots
	s.slots, s.n = make([]slot, n), 0
	for _, x := range old {
		if x.at != 0 {
			s.put(x)
		}
	}
}

// numberTag hashes a number that serves as a key.
func numberTag(n uint32) uint32 { return n * 0x85ebca6b }
