package canary

import (
	"bytes"
	"encoding/binary"
)

// Finder looks for many texts at once. It goes over the bytes once, whatever the number of texts: the first eight bytes of
// each form are a number in a filter and then in a map, and only what is in both is compared. It is immutable.
type Finder struct {
	canaries []Canary
	filter   []uint64 // bits, by hash of the first eight bytes
	shift    uint
	long     map[uint64][]form // by the first eight bytes
	short    []form            // of less than eight bytes
	longest  int
}

type form struct {
	canary int
	bytes  []byte
}

const keyBytes = 8

// NewFinder returns a finder of these texts.
func NewFinder(canaries []Canary) *Finder {
	f := &Finder{canaries: canaries, long: map[uint64][]form{}}
	for i, c := range canaries {
		for _, b := range forms(c.Text) {
			f.longest = max(f.longest, len(b))
			if len(b) < keyBytes {
				f.short = append(f.short, form{i, b})
				continue
			}
			key := binary.LittleEndian.Uint64(b)
			f.long[key] = append(f.long[key], form{i, b})
		}
	}
	f.shift = 64 - 16
	for bits := 1 << 16; bits < 32*len(f.long); bits *= 2 { // so that 1 of 32 places passes by chance at most
		f.shift--
	}
	f.filter = make([]uint64, 1<<(64-f.shift)/64)
	for key := range f.long {
		h := f.hash(key)
		f.filter[h/64] |= 1 << (h % 64)
	}
	return f
}

func (f *Finder) hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> f.shift }

// Canaries returns the texts that it looks for.
func (f *Finder) Canaries() []Canary { return f.canaries }

// Find calls found for every place of a form of a text, until it returns false. Places of forms of less than eight bytes come
// last.
func (f *Finder) Find(data []byte, found func(canary, offset, length int) bool) {
	for i := 0; i+keyBytes <= len(data); i++ {
		key := binary.LittleEndian.Uint64(data[i:])
		if h := f.hash(key); f.filter[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		for _, form := range f.long[key] {
			if bytes.HasPrefix(data[i:], form.bytes) && !found(form.canary, i, len(form.bytes)) {
				return
			}
		}
	}
	for _, form := range f.short {
		for from := 0; ; {
			at := bytes.Index(data[from:], form.bytes)
			if at < 0 {
				break
			}
			if !found(form.canary, from+at, len(form.bytes)) {
				return
			}
			from += at + 1
		}
	}
}
