package graphstore

import "encoding/hex"

// atom is the number of a text that many records of a snapshot share: ids of agents, sources, episodes, batches and
// events, asserters, what an asserter said. The zero atom is the empty text.
type atom uint32

// atomText is one text with the number of its uses. Most are UUIDs: those are kept as their 16 bytes.
type atomText struct {
	text string
	uses int32
	uuid bool
}

// atoms is the table of shared texts.
type atoms struct {
	list  vec[atomText]
	index index
}

// text returns the text of an atom; one that is kept as a UUID is spelled out anew.
func (t *atoms) text(a atom) string {
	if a == 0 {
		return ""
	}
	e := t.list.ref(int32(a - 1))
	if e.uuid {
		return spellUUID(e.text)
	}
	return e.text
}

// find returns the atom of a text, if it has one.
func (t *atoms) find(text string) (atom, bool) {
	if text == "" {
		return 0, true
	}
	raw, uuid := rawUUID(text)
	for p := t.index.find(tagOf(text)); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if e := t.list.ref(i); e.uuid == uuid && (uuid && e.text == string(raw[:]) || !uuid && e.text == text) {
			return atom(i + 1), true
		}
	}
}

// atomsDraft edits a table.
type atomsDraft struct {
	list  vecDraft[atomText]
	index indexDraft
	bytes int64 // of all texts and their places
}

func (d *atomsDraft) table() atoms { return atoms{d.list.vec, d.index.idx} }

func (d *atomsDraft) find(text string) (atom, bool) {
	t := d.table()
	return t.find(text)
}

// use returns the atom of a text and counts one use of it.
func (d *atomsDraft) use(text string) atom {
	if text == "" {
		return 0
	}
	if a, ok := d.find(text); ok {
		d.list.edit(int32(a-1)).uses++
		return a
	}
	e := atomText{uses: 1}
	if raw, uuid := rawUUID(text); uuid {
		e.text, e.uuid = string(raw[:]), true
	} else {
		e.text = ownText(text)
	}
	i := d.list.place(e)
	d.index.add(tagOf(text), i)
	d.bytes += atomBytes + textBytes(e.text)
	return atom(i + 1)
}

// release takes one use back; a text without uses goes.
func (d *atomsDraft) release(a atom) {
	if a == 0 {
		return
	}
	i := int32(a - 1)
	e := d.list.edit(i)
	if e.uses--; e.uses > 0 {
		return
	}
	t := d.table()
	d.bytes -= atomBytes + textBytes(e.text)
	d.index.remove(tagOf(t.text(a)), i)
	d.list.drop(i)
}

// The written form of a UUID: 36 bytes, lower case, hyphens in four places.
const uuidLen = 36

var uuidGroups = [...]struct{ text, raw, len int }{{0, 0, 8}, {9, 4, 4}, {14, 6, 4}, {19, 8, 4}, {24, 10, 12}}

// rawUUID returns the bytes of a UUID that is spelled just as spellUUID spells it.
func rawUUID(text string) (raw [16]byte, ok bool) {
	if len(text) != uuidLen || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return raw, false
	}
	for _, g := range uuidGroups {
		for i := 0; i < g.len; i += 2 {
			hi, lo := hexDigit(text[g.text+i]), hexDigit(text[g.text+i+1])
			if hi|lo > 15 {
				return raw, false
			}
			raw[g.raw+i/2] = hi<<4 | lo
		}
	}
	return raw, true
}

// hexDigit returns the value of a lower-case digit, or more than 15.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	default:
		return 255
	}
}

func spellUUID(raw string) string {
	var text [uuidLen]byte
	src := []byte(raw)
	for _, g := range uuidGroups {
		hex.Encode(text[g.text:], src[g.raw:g.raw+g.len/2])
	}
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
