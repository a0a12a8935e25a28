package kuzu

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// SchemaVersion is the version of the tables that this package writes. A file with a greater one is refused, a file with
// a smaller one is brought up to it at Open.
//
// Version 2 added the head: from then on the file says what belongs into it. Version 3 added schemas with their evidence, the
// merge log and tombstones, and where the write of a stamp came from.
const SchemaVersion = 3

// Versions of the schema from which on a file has a head, and its stamps say where writes came from.
const (
	headVersion   = 2
	originVersion = 3
)

// schemaSteps returns, for each version, the statements that lead to the next. Each may run twice: a step that was
// interrupted runs again. A file that is made anew gets its tables as they are now from the first step, and the later ones
// find nothing to do.
func schemaSteps() [][]string {
	first := []string{
		"CREATE NODE TABLE IF NOT EXISTS Space(no INT64 PRIMARY KEY, user_id STRING)",
	}
	for _, t := range append(nodeTables(), textTable) {
		first = append(first, t.create())
	}
	first = append(first, createRels(relTables()...)...)
	return [][]string{first, {createIdentityTable, createLogTable, createHeadTable()}, thirdStep()}
}

// thirdStep completes a file of version 2. What its stamps say of where writes came from is nothing.
func thirdStep() []string {
	var step []string
	for _, t := range []*nodeTable{schemaTable, refTable, mergeTable, tombstoneTable} {
		step = append(step, t.create())
	}
	step = append(step, createRels(derivedFromTable, derivedFromRefTable)...)
	for _, c := range originColumns() {
		step = append(step, fmt.Sprintf("ALTER TABLE %s ADD IF NOT EXISTS %s %s DEFAULT 0", memoryTable.name, c.name, columnTypes[c.kind]))
	}
	return step
}

func (t *nodeTable) create() string {
	return fmt.Sprintf("CREATE NODE TABLE IF NOT EXISTS %s(%s, PRIMARY KEY(id))", t.name, declare(t.columns))
}

// createRels creates tables of edges, those of one name as one.
func createRels(tables ...*relTable) []string {
	var names []string
	ends := make(map[string][]string)
	for _, t := range tables {
		if ends[t.name] == nil {
			names = append(names, t.name)
		}
		ends[t.name] = append(ends[t.name], fmt.Sprintf("FROM %s TO %s", nodeTableOf(t.from).name, nodeTableOf(t.to).name))
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("CREATE REL TABLE IF NOT EXISTS %s(%s, %s)", name, strings.Join(ends[name], ", "), declare(relColumns()))
	}
	return out
}

func declare(columns []column) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name + " " + columnTypes[c.kind]
	}
	return strings.Join(out, ", ")
}

// ensureSchema makes or completes the tables. It returns the graph's id and the version that it found, 0 in a new file.
func ensureSchema(s *session, sizes pageSizes) (id string, found int64, err error) {
	found, err = schemaVersion(s)
	if err != nil {
		return "", found, err
	}
	if found > SchemaVersion {
		return "", found, fmt.Errorf("%w: schema %d, this version knows %d", ErrNewerSchema, found, SchemaVersion)
	}
	if found == SchemaVersion {
		id, err = readIdentity(s)
		return id, found, err
	}
	for _, step := range schemaSteps()[found:] {
		for _, statement := range step {
			if err := s.exec(statement); err != nil {
				return "", found, err
			}
		}
	}
	if id, err = ensureIdentity(s); err != nil {
		return "", found, err
	}
	if found < headVersion {
		return id, found, firstHead(s, id, sizes)
	}
	return id, found, writeVersion(writeSession{session: s})
}

// writeVersion writes the version of the schema.
func writeVersion(w writeSession) error {
	version := params{"version": int64(SchemaVersion)}
	return w.one("MERGE (m:Meta {id: 0}) SET m.schema_version = $version RETURN count(*)", version)
}

// firstHead writes the head of a graph that has none, which takes one look at everything, and with it the version of the
// schema: a file with a version from headVersion on has a head, a file before has not.
func firstHead(s *session, id string, sizes pageSizes) error {
	rows, err := s.count("MATCH (h:"+headTable.name+") RETURN count(*)", nil)
	if err != nil {
		return err
	}
	if rows > 0 {
		return damaged("the file has a head, but the version of a schema without")
	}
	row := headRow{no: 1, head: graphstore.Head{ID: id}}
	err = loadAll(context.Background(), s, sizes, func(c graphstore.Change) error {
		row.head.Digest.Add(c)
		return nil
	})
	if err != nil {
		return fmt.Errorf("digest of the graph: %w", err)
	}
	if err := s.exec("BEGIN TRANSACTION"); err != nil {
		return err
	}
	w := writeSession{session: s}
	if err := w.one(createHead(), row.params()); err != nil {
		return err
	}
	if err := writeVersion(w); err != nil {
		return err
	}
	return s.exec("COMMIT")
}

// schemaVersion returns the version of the file's tables, 0 for a file without tables, which gets its Meta table.
func schemaVersion(s *session) (version int64, err error) {
	var tables []string
	err = s.query("CALL show_tables() RETURN name", nil, func(row []any) error {
		name, err := cell[string](row, 0)
		tables = append(tables, name)
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(tables) == 0 {
		return 0, s.exec("CREATE NODE TABLE Meta(id INT64 PRIMARY KEY, schema_version INT64)")
	}
	if !slices.Contains(tables, "Meta") {
		return 0, fmt.Errorf("%w: a Kuzu file with other tables: %s", ErrForeign, strings.Join(tables, ", "))
	}
	err = s.query("MATCH (m:Meta) RETURN m.schema_version", nil, func(row []any) (err error) {
		version, err = cell[int64](row, 0)
		return err
	})
	if version < 0 {
		return 0, fmt.Errorf("%w: schema %d", ErrForeign, version)
	}
	return version, err
}
