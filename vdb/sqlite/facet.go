package sqlite

import (
	"hash/maphash"
	"strconv"

	"github.com/kithgraph/kith/vdb"
)

// A facet stands for "this field has this text". A point has one for each text it can be matched by, as hashes, so that
// a matrix holds no strings for filters and a condition is a comparison of numbers. With the seed unknown outside and 64
// bits, one point in 10^18 would pass a condition it should not.
type facet uint64

var facetSeed = maphash.MakeSeed()

// facets collects the facets of one point.
type facets []facet

// addText adds a text; absent fields are not to be added.
func (fs *facets) addText(field, text string) {
	var h maphash.Hash
	h.SetSeed(facetSeed)
	_, _ = h.WriteString(field) // never fails, as WriteByte and the next
	_ = h.WriteByte(0)
	_, _ = h.WriteString(text)
	*fs = append(*fs, facet(h.Sum64()))
}

// addPayload adds everything a filter can match of a payload, except its content.
func (fs *facets) addPayload(p vdb.Payload) {
	for _, f := range []struct{ field, text string }{
		{vdb.FieldAgentID, p.AgentID}, {vdb.FieldEpisodeID, p.EpisodeID}, {vdb.FieldBatchID, p.BatchID}, {vdb.FieldSourceID, p.SourceID},
	} {
		if f.text != "" {
			fs.addText(f.field, f.text)
		}
	}
	if p.State == "" {
		fs.addText(vdb.FieldState, vdb.StateActive)
	} else {
		fs.addText(vdb.FieldState, p.State)
	}
	if p.Version != 0 {
		fs.addText(vdb.FieldVersion, strconv.FormatInt(p.Version, 10))
	}
	for _, tag := range p.Tags {
		fs.addText(vdb.FieldTags, tag)
	}
	for key, value := range p.Extra {
		if list, ok := value.([]any); ok {
			for _, element := range list {
				fs.addScalar(key, element)
			}
			continue
		}
		fs.addScalar(key, value)
	}
}

// addScalar adds a value that has a text to be matched by; floats and nested values have none.
func (fs *facets) addScalar(field string, v any) {
	switch v := v.(type) {
	case string:
		fs.addText(field, v)
	case int64:
		fs.addText(field, strconv.FormatInt(v, 10))
	case bool:
		fs.addText(field, strconv.FormatBool(v))
	}
}
