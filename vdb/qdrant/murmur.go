package qdrant

import (
	"encoding/binary"
	"math/bits"
)

// murmur3 is MurmurHash3_x86_32 with seed 0 (Austin Appleby, public domain): the hash by which Qdrant and its clients
// number the words of a sparse vector.
func murmur3(data string) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	var h uint32
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*c1, 15) * c2 }
	rest := []byte(data)
	for ; len(rest) >= 4; rest = rest[4:] {
		h ^= mix(binary.LittleEndian.Uint32(rest))
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	if len(rest) > 0 {
		var tail [4]byte
		copy(tail[:], rest)
		h ^= mix(binary.LittleEndian.Uint32(tail[:]))
	}
	h ^= uint32(len(data))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
