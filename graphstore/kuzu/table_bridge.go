package kuzu

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// entityTable keeps entities. Aliases are a JSON array, hard ids a JSON array of [kind, value].
var entityTable = withEntities(newNodeTable("Entity", graphstore.KindEntity,
	column{"type", ref}, column{"name", ref}, column{"norm", ref}, column{"aliases", ref}, column{"hard_ids", ref},
	column{"mentions", integer}))

func withEntities(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, number func(string) int64) []any { return encodeEntity(*c.Entity, number) }
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		e, err := decodeEntity(key, r)
		return graphstore.Change{Entity: &e}, err
	}
	return &t
}

func encodeEntity(e graphstore.Entity, number func(string) int64) []any {
	ids := make([][2]string, len(e.HardIDs))
	for i, h := range e.HardIDs {
		ids[i] = [2]string{h.Kind, h.Value}
	}
	return []any{number(e.Type), number(e.Name), number(e.Norm), number(jsonList(e.Aliases)), number(jsonList(ids)),
		int64(e.Mentions)}
}

// jsonList returns the empty text for an empty list.
func jsonList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("list of text as JSON: %v", err)) // cannot happen: only strings are in it
	}
	return string(b)
}

func decodeEntity(key string, r *rowReader) (graphstore.Entity, error) {
	e := graphstore.Entity{ID: key, Type: r.text(), Name: r.text(), Norm: r.text()}
	aliases, hardIDs := r.text(), r.text()
	e.Mentions = int(next[int64](r))
	if r.err != nil {
		return e, r.err
	}
	var ids [][2]string
	if err := errors.Join(parseList(aliases, &e.Aliases), parseList(hardIDs, &ids)); err != nil {
		return e, err
	}
	for _, id := range ids {
		e.HardIDs = append(e.HardIDs, graphstore.HardID{Kind: id[0], Value: id[1]})
	}
	return e, nil
}

func parseList[T any](list string, into *[]T) error {
	if list == "" {
		return nil
	}
	return json.Unmarshal([]byte(list), into)
}

// topicTable keeps topics.
var topicTable = withTopics(newNodeTable("Topic", graphstore.KindTopic, column{"name", ref}, column{"facts", integer}))

func withTopics(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, number func(string) int64) []any {
		return []any{number(c.Topic.Name), int64(c.Topic.Facts)}
	}
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		topic := graphstore.Topic{ID: key, Name: r.text(), Facts: int(next[int64](r))}
		return graphstore.Change{Topic: &topic}, r.err
	}
	return &t
}
