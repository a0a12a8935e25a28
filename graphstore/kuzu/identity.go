package kuzu

import (
	"fmt"

	"github.com/google/uuid"
)

// The identity stands in a table of its own and not in a column of Meta: a table can be made by a statement that may run
// twice, and versions that do not know it open the file all the same.
const createIdentity = "CREATE NODE TABLE IF NOT EXISTS Identity(id INT64 PRIMARY KEY, graph STRING)"

// ID returns the identity of the graph: a random UUID made together with the file, or by the first Open that knows of
// identities. It stays the same for the life of the file. A copy of the file has the same one.
func (s *Store) ID() string { return s.id }

// ensureIdentity reads the identity of the file and makes it where there is none. It is durable when it returns.
func ensureIdentity(s *session) (id string, made bool, err error) {
	// Asked first: the statement writes to the log also when the table is there, and the next Open would checkpoint.
	tables, err := s.count("CALL show_tables() WHERE name = 'Identity' RETURN count(*)", params{})
	if err != nil {
		return "", false, err
	}
	if tables == 0 {
		if err := s.exec(createIdentity); err != nil {
			return "", false, err
		}
	}
	err = s.query("MATCH (i:Identity {id: 0}) RETURN i.graph", nil, func(row []any) (err error) {
		id, err = cell[string](row, 0)
		return err
	})
	if err != nil || id != "" {
		return id, false, err
	}
	fresh, err := uuid.NewRandom()
	if err != nil {
		return "", false, fmt.Errorf("make id: %w", err)
	}
	id = fresh.String()
	_, err = s.count("MERGE (i:Identity {id: 0}) SET i.graph = $graph RETURN count(*)", params{"graph": id})
	return id, true, err
}
