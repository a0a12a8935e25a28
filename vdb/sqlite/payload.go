package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// payloadRow takes the columns of payloadColumns, in their order.
type payloadRow struct {
	content, agent, state            sql.NullString
	version                          sql.NullInt64
	episode, batch, source           sql.NullString
	tags                             sql.RawBytes
	memoryAt, created, validFrom, to sql.NullInt64
	extra                            sql.RawBytes
}

func (r *payloadRow) targets() []any {
	return []any{&r.content, &r.agent, &r.state, &r.version, &r.episode, &r.batch, &r.source, &r.tags,
		&r.memoryAt, &r.created, &r.validFrom, &r.to, &r.extra}
}

func (r *payloadRow) payload() (vdb.Payload, error) {
	p := vdb.Payload{
		Content: r.content.String, AgentID: r.agent.String, State: r.state.String, Version: r.version.Int64,
		EpisodeID: r.episode.String, BatchID: r.batch.String, SourceID: r.source.String,
		MemoryAt: instantOf(r.memoryAt).Time(), CreatedAt: instantOf(r.created).Time(),
		ValidFrom: instantOf(r.validFrom).Time(), ValidTo: instantOf(r.to).Time(),
	}
	var err error
	if len(r.tags) > 0 {
		if p.Tags, err = parseTags(r.tags); err != nil {
			return vdb.Payload{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	if len(r.extra) > 0 {
		if p.Extra, err = parseExtra(r.extra); err != nil {
			return vdb.Payload{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return p, nil
}

func instantOf(micros sql.NullInt64) graphstore.Instant {
	if !micros.Valid {
		return 0
	}
	return graphstore.InstantOfMicros(micros.Int64)
}

// payloadValues returns the values of payloadColumns, absent fields as NULL. Its errors say what of the payload cannot be
// kept.
func payloadValues(p vdb.Payload) ([]any, error) {
	texts := []struct{ field, text string }{
		{vdb.FieldContent, p.Content}, {vdb.FieldAgentID, p.AgentID}, {vdb.FieldState, p.State},
		{vdb.FieldEpisodeID, p.EpisodeID}, {vdb.FieldBatchID, p.BatchID}, {vdb.FieldSourceID, p.SourceID},
	}
	for _, t := range texts {
		if err := graphstore.CheckText(t.text); err != nil {
			return nil, fmt.Errorf("%s %w", t.field, err)
		}
	}
	tags, err := tagsJSON(p.Tags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", vdb.FieldTags, err)
	}
	extra, err := extraJSON(p.Extra)
	if err != nil {
		return nil, fmt.Errorf("extra %w", err)
	}
	at := instantsOf(p)
	return []any{text(p.Content), text(p.AgentID), text(p.State), sql.NullInt64{Int64: p.Version, Valid: p.Version != 0},
		text(p.EpisodeID), text(p.BatchID), text(p.SourceID), tags, micros(at[0]), micros(at[1]), micros(at[2]), micros(at[3]), extra}, nil
}

func text(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

func micros(at graphstore.Instant) sql.NullInt64 {
	return sql.NullInt64{Int64: at.Micros(), Valid: at.Present()}
}

func tagsJSON(tags []string) (sql.NullString, error) {
	if len(tags) == 0 {
		return sql.NullString{}, nil
	}
	list := make([]any, len(tags))
	for i, tag := range tags {
		list[i] = tag
	}
	doc, err := appendList(nil, list, 1)
	return text(string(doc)), err
}

func extraJSON(extra map[string]any) (sql.NullString, error) {
	if len(extra) == 0 {
		return sql.NullString{}, nil
	}
	doc, err := appendObject(nil, extra, 1)
	return text(string(doc)), err
}
