package backfill

import (
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// distanceCosine is the only distance that searches take.
const distanceCosine = "Cosine"

// vectors chooses the vector to search: the one that was asked for, else the preset's, else the first that can be searched.
func (p *probe) vectors(out *ProbeReport, given *string) {
	preset, _ := presetNamed(out.Preset)
	choose := func(is func(vdb.VectorShape) bool) {
		for _, v := range out.Vectors {
			if out.Vector == nil && searchable(v) && is(v) {
				out.Vector = &v.Name
			}
		}
	}
	switch {
	case given != nil:
		choose(func(v vdb.VectorShape) bool { return v.Name == *given })
	default:
		choose(func(v vdb.VectorShape) bool { return v.Name == preset.Vector })
		choose(func(vdb.VectorShape) bool { return true })
	}
	if out.Vector == nil {
		return
	}
	for _, point := range p.sample.Points {
		if !slices.Contains(point.Vectors, *out.Vector) {
			out.NoVector++
		}
	}
}

func searchable(v vdb.VectorShape) bool {
	return v.Kind == vdb.VectorDense && v.Distance == distanceCosine
}

// vectorNote says what a vector is good for.
func vectorNote(v vdb.VectorShape) string {
	switch {
	case v.Kind == vdb.VectorSparse && v.Distance != "Idf":
		return "cannot be searched by words: its modifier is not Idf"
	case v.Kind == vdb.VectorSparse:
		return "words, where they were made as the keyword settings say"
	case v.Kind == vdb.VectorMulti:
		return "cannot be searched: a multi-vector"
	case v.Distance != distanceCosine:
		return "cannot be searched: scores of " + v.Distance + " mean something else than cosines"
	default:
		return "can be searched"
	}
}
