package projector

import "github.com/kithgraph/kith/graphstore"

// SchemaUpserted states a whole schema: a summary of facts at a higher level. What an earlier event said of it and this
// one does not is gone.
type SchemaUpserted struct {
	SchemaID string `json:"schema_id"`
	Level    string `json:"level"` // [graphstore.LevelSchema]
	Title    string `json:"title"` // has a visible character
	// Evidence is the ids of the facts it was derived from, at most [Limits.MaxFacts], possibly none; repeats fold.
	Evidence []string        `json:"evidence"`
	Version  Optional[int64] `json:"version,omitzero"`
}

// SchemaDeleted says that a schema is gone. A tombstone that remembers the version stays.
type SchemaDeleted struct {
	SchemaID string          `json:"schema_id"`
	Version  Optional[int64] `json:"version,omitzero"`
}

// Type returns [TypeSchemaUpserted].
func (SchemaUpserted) Type() Type { return TypeSchemaUpserted }

// Type returns [TypeSchemaDeleted].
func (SchemaDeleted) Type() Type { return TypeSchemaDeleted }

func decodeSchemaUpserted(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := SchemaUpserted{SchemaID: f.id("schema_id"), Level: f.text("level"), Title: f.text("title")}
	if n := f.take("evidence"); f.err == nil && (n == nil || n.kind != nodeArray) {
		f.fail("evidence", n, wantArray)
	}
	data.Evidence = optionalList(&f, "evidence", readID).Value
	data.Version = f.optionalInt("version")
	if f.err == nil {
		f.err = data.checkLimits(d.limits)
	}
	return checked(d, data, f.err)
}

func decodeSchemaDeleted(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := SchemaDeleted{SchemaID: f.id("schema_id"), Version: f.optionalInt("version")}
	return checked(d, data, f.err)
}

// readID reads an id that is an item of a list.
func readID(n *node) (string, error) {
	id, ok := idText(n)
	if !ok {
		return "", badField("", "%s: want %s", n.show(), wantID)
	}
	return id, nil
}

func (s SchemaUpserted) validate(ev Event) error {
	if err := graphstore.CheckID(s.SchemaID); err != nil {
		return badField("schema_id", "%s", err)
	}
	if s.Level != graphstore.LevelSchema {
		return badField("level", "%s: want %q", graphstore.Shorten(s.Level), graphstore.LevelSchema)
	}
	if err := checkName("title", s.Title); err != nil {
		return err
	}
	for i, id := range s.Evidence {
		if err := graphstore.CheckID(id); err != nil {
			return underItem("evidence", i, badField("", "%s", err))
		}
	}
	return ev.checkVersion(s.Version)
}

func (s SchemaUpserted) checkLimits(limits Limits) error {
	if len(s.Evidence) > limits.MaxFacts {
		return badField("evidence", "has %d facts: want at most %d", len(s.Evidence), limits.MaxFacts)
	}
	return nil
}

func (s SchemaDeleted) validate(ev Event) error {
	if err := graphstore.CheckID(s.SchemaID); err != nil {
		return badField("schema_id", "%s", err)
	}
	return ev.checkVersion(s.Version)
}

func (s SchemaUpserted) wire(userID string) any {
	if s.Evidence == nil {
		s.Evidence = []string{}
	}
	return struct {
		UserID string `json:"user_id"`
		SchemaUpserted
	}{userID, s}
}

func (s SchemaDeleted) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		SchemaDeleted
	}{userID, s}
}
