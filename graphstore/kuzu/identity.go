package kuzu

import (
	"fmt"

	"github.com/google/uuid"
)

// The identity stands in a table of its own and not in a column of Meta: a table can be made by a statement that may run
// twice.
const createIdentityTable = "CREATE NODE TABLE IF NOT EXISTS Identity(id INT64 PRIMARY KEY, graph STRING)"

// ID returns the identity of the graph: a random UUID made together with the file, or by the first Open that knows of
// identities. It stays the same for the life of the file. A copy of the file has the same one.
func (s *Store) ID() string { return s.id }

// readIdentity reads the identity of the file.
func readIdentity(s *session) (string, error) {
	id, err := findIdentity(s)
	if err == nil && id == "" {
		err = damaged("the file has no identity")
	}
	return id, err
}

func findIdentity(s *session) (id string, err error) {
	err = s.query("MATCH (i:Identity {id: 0}) RETURN i.graph", nil, func(row []any) (err error) {
		id, err = cell[string](row, 0)
		return err
	})
	return id, err
}

// ensureIdentity reads the identity of the file, which has the table, and makes it where there is none.
func ensureIdentity(s *session) (id string, err error) {
	if id, err = findIdentity(s); err != nil || id != "" {
		return id, err
	}
	fresh, err := uuid.NewRandom()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	id = fresh.String()
	_, err = s.count("MERGE (i:Identity {id: 0}) SET i.graph = $graph RETURN count(*)", params{"graph": id})
	return id, err
}
