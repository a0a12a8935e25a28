package kuzu

import (
	"encoding/json"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// entityTable keeps entities. Aliases are a JSON array, hard ids a JSON array of [kind, value]: Kuzu's own lists cannot be
// passed empty.
var entityTable = withEntities(newNodeTable("Entity", graphstore.KindEntity,
	column{"type", text}, column{"name", text}, column{"norm", text}, column{"aliases", text}, column{"hard_ids", text},
	column{"mentions", integer}))

func withEntities(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change) []any { return encodeEntity(*c.Entity) }
	t.decode = func(key string, v []any) (graphstore.Change, error) {
		e, err := decodeEntity(key, v)
		return graphstore.Change{Entity: &e}, err
	}
	return &t
}

func encodeEntity(e graphstore.Entity) []any {
	ids := make([][2]string, len(e.HardIDs))
	for i, h := range e.HardIDs {
		ids[i] = [2]string{h.Kind, h.Value}
	}
	return []any{e.Type, e.Name, e.Norm, jsonList(e.Aliases), jsonList(ids), int64(e.Mentions)}
}

// jsonList returns [] also for nil, so that equal records are equal rows.
func jsonList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("list of text as JSON: %v", err)) // cannot happen: only strings are in it
	}
	return string(b)
}

func decodeEntity(key string, v []any) (graphstore.Entity, error) {
	r := &rowReader{row: v}
	e := graphstore.Entity{ID: key, Type: next[string](r), Name: next[string](r), Norm: next[string](r)}
	aliases, hardIDs := next[string](r), next[string](r)
	e.Mentions = int(next[int64](r))
	if r.err != nil {
		return e, r.err
	}
	if err := json.Unmarshal([]byte(aliases), &e.Aliases); err != nil {
		return e, fmt.Errorf("aliases: %w", err)
	}
	var ids [][2]string
	if err := json.Unmarshal([]byte(hardIDs), &ids); err != nil {
		return e, fmt.Errorf("hard_ids: %w", err)
	}
	for _, id := range ids {
		e.HardIDs = append(e.HardIDs, graphstore.HardID{Kind: id[0], Value: id[1]})
	}
	return e, nil
}

// topicTable keeps topics.
var topicTable = withTopics(newNodeTable("Topic", graphstore.KindTopic, column{"name", text}, column{"facts", integer}))

func withTopics(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change) []any { return []any{c.Topic.Name, int64(c.Topic.Facts)} }
	t.decode = func(key string, v []any) (graphstore.Change, error) {
		r := &rowReader{row: v}
		topic := graphstore.Topic{ID: key, Name: next[string](r), Facts: int(next[int64](r))}
		return graphstore.Change{Topic: &topic}, r.err
	}
	return &t
}
