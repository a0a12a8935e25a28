package graphstore

import "testing"

// A link keeps 23 bits of a number beside its direction: each bit in its place, for both directions.
func TestLinkNumber(t *testing.T) {
	numbers := []uint32{0, 1, 2, 3, 127, 128, 32_767, 32_768, 1<<23 - 1}
	for bit := range 23 {
		numbers = append(numbers, 1<<bit)
	}
	for _, n := range numbers {
		var in, out Link
		out.setOut()
		in.setNumber(n)
		out.setNumber(n)
		if in.number() != n || out.number() != n || in.Out() || !out.Out() {
			t.Errorf("%d came back as %d (out %t) and %d (out %t)", n, in.number(), in.Out(), out.number(), out.Out())
		}
	}
	if last := uint32(maxNotes-1) + uint32(noted); last >= 1<<23 {
		t.Errorf("the last note has number %d: want it in 23 bits", last)
	}
}
