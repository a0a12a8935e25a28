package vdb

// Sample is some of a collection as it is, for whoever has to find out what its fields are.
type Sample struct {
	Collection string
	Total      int64         // points of the collection
	Vectors    []VectorShape // ordered by name, dense before sparse
	Points     []RawPoint
}

// VectorShape describes one vector of a collection.
type VectorShape struct {
	Name      string // empty for the unnamed one
	Kind      string // VectorDense, VectorMulti or VectorSparse
	Dimension int    // 0 for a sparse one
	Distance  string // the server's word, like Cosine; for a sparse one its modifier, like Idf, or nothing
}

// Values of [VectorShape.Kind].
const (
	VectorDense  = "dense"
	VectorMulti  = "multi"
	VectorSparse = "sparse"
)

// RawPoint is a point as its collection keeps it, before any field is looked for.
type RawPoint struct {
	ID      string         // as a fact id: decimal for an integer, hyphenated lower case for a UUID
	Payload map[string]any // JSON types as Payload.Extra has them
	Vectors []string       // names of the vectors it has, ordered
}

// Reading is what a point says under a mapping of fields.
type Reading struct {
	Values  map[string]any // by field: a string, an int64, a time.Time or a []string; absent fields are left out
	Skipped string         // why the point is no fact; empty if it is one
	Ignored []string       // values that are not what their field wants and count as absent: point, field, value, rule
}
