package graphstore

// LevelSchema is the level of every schema: a summary above the facts.
const LevelSchema = "l6"

// Schema is a higher-level summary. Its evidence are derived_from edges, to facts that are present in the graph or to a
// [Ref] in their place.
type Schema struct {
	ID      string // unique in the space
	Level   string // [LevelSchema]
	Title   string
	Deleted bool  // gone; the node stays as a tombstone that remembers the stamp
	Stamp   Stamp // of the write that settled it
}

// Key returns the schema's identity in its space.
func (s Schema) Key() Key { return Key{Kind: KindSchema, Node: s.ID} }

// Ref stands for a point of the vector store that evidence names and that is no fact present in the graph. It is there
// exactly while an edge leads to it.
type Ref struct {
	ID string // canonical point id ([CanonicalFactID])
}

// Key returns the ref's identity in its space.
func (r Ref) Key() Key { return Key{Kind: KindRef, Node: r.ID} }
