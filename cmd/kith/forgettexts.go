package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/canary"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/kithgraph/kith/vdb"
)

// The kinds of texts that are taken from a user's data.
const (
	textFactID  = "fact id"
	textName    = "name"
	textSource  = "source"
	textContent = "content"
	textEvent   = "event"
)

// eachText calls add with the texts of a record that a producer gave.
func eachText(c graphstore.Change, add func(kind, text string)) {
	switch {
	case c.Fact != nil:
		f := c.Fact
		add(textFactID, f.ID)
		for _, text := range []string{f.SourceID, f.EpisodeID, f.BatchID} {
			add(textSource, text)
		}
		add(textEvent, f.Registers.State.EventID)
		add(textEvent, f.Registers.Base.EventID)
	case c.Entity != nil:
		for _, text := range append([]string{c.Entity.Name, c.Entity.Norm}, c.Entity.Aliases...) {
			add(textName, text)
		}
		for _, id := range c.Entity.HardIDs {
			add(textName, id.Value)
		}
	case c.Topic != nil:
		add(textName, c.Topic.ID)
		add(textName, c.Topic.Name)
	case c.Schema != nil:
		add(textFactID, c.Schema.ID)
		add(textContent, c.Schema.Title)
	case c.Ref != nil:
		add(textFactID, c.Ref.ID)
	case c.Merge != nil:
		add(textName, c.Merge.MergedName)
		add(textName, c.Merge.KeptName)
		add(textContent, c.Merge.Evidence)
	case c.Tombstone != nil:
		add(textSource, c.Tombstone.Source)
	case c.Edge != nil:
		add(textFactID, c.Edge.Asserter.ID)
		add(textContent, c.Edge.Detail)
	}
}

// Members of an event whose values are words of the contract, or the user's id, which stays.
var commonMembers = []string{"type", "op", "level", "predicate", "user_id", "specversion"}

var memberKinds = map[string]string{
	"id": textFactID, "fact_id": textFactID, "to": textFactID, "by": textFactID, "schema_id": textFactID,
	"source_id": textSource, "episode_id": textSource, "batch_id": textSource, "content": textContent, "sentence": textContent,
}

// messageTexts calls add with the texts of a message: those of its payload, and the event's id.
func messageTexts(m feed.KeptMessage, add func(kind, text string)) {
	var event struct {
		ID   any
		Data any
	}
	if json.Unmarshal(m.Payload, &event) != nil {
		add(textContent, string(m.Payload))
		return
	}
	if id, ok := event.ID.(string); ok {
		add(textEvent, id)
	}
	valueTexts(textName, event.Data, add)
}

func valueTexts(kind string, value any, add func(kind, text string)) {
	switch v := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err != nil { // a time is nobody's own
			add(kind, v)
		}
	case []any:
		for _, item := range v {
			valueTexts(kind, item, add)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // which texts are searched for, of too many, is the same each time
			if slices.Contains(commonMembers, name) {
				continue
			}
			valueTexts(cmp.Or(memberKinds[name], textName), v[name], add)
		}
	}
}

// pointTexts calls add with the texts of a point.
func pointTexts(p vdb.Point, add func(kind, text string)) {
	add(textFactID, p.ID)
	add(textContent, p.Payload.Content)
	for _, text := range []string{p.Payload.SourceID, p.Payload.EpisodeID, p.Payload.BatchID} {
		add(textSource, text)
	}
	for _, text := range p.Payload.Tags {
		add(textName, text)
	}
	valueTexts(textName, p.Payload.Extra, add)
}

// collect takes the texts of the user from everywhere.
func (f *forgetting) collect(ctx context.Context) error {
	f.texts = canary.NewSet(0)
	add := func(kind, text string) {
		if !strings.Contains(f.space.UserID(), strings.TrimSpace(text)) { // the id stays
			f.texts.Add(kind, text)
		}
	}
	message := func(m feed.KeptMessage) error {
		if m.UserID == f.space.UserID() && m.Type != projector.TypeUserForgotten { // of these there is nothing to find but the id
			messageTexts(m, add)
		}
		return nil
	}
	record := func(c graphstore.Change) error { eachText(c, add); return nil }
	point := func(p vdb.Point) error { pointTexts(p, add); return nil }
	err := errors.Join(f.eachMessage(ctx, message), f.s.host.file.Load(ctx, f.space, record),
		f.eachPoint(ctx, vdb.ScrollQuery{Space: f.space}, point))
	if err != nil {
		return fmt.Errorf("take texts to search for: %w", err)
	}
	return nil
}

// shared returns those of the texts that are in what is there and stays: other users' data, and the user's that is dated
// later. Finding them proves nothing.
func (f *forgetting) shared(ctx context.Context, texts []canary.Canary) (map[string]bool, error) {
	shared := map[string]bool{}
	finder := canary.NewFinder(texts)
	look := func(data []byte) {
		finder.Find(data, func(i, _, _ int) bool { shared[texts[i].Text] = true; return true })
	}
	lookText := func(_, text string) { look([]byte(text)) }
	message := func(m feed.KeptMessage) error {
		if !f.what.Covers(m) {
			look(m.Payload)
			look([]byte(m.Subject))
			for _, values := range m.Header {
				look([]byte(strings.Join(values, " ")))
			}
		}
		return nil
	}
	record := func(c graphstore.Change) error {
		if c.Space != f.space || f.out.Log.Later > 0 {
			eachText(c, lookText)
		}
		return nil
	}
	errs := []error{f.eachMessage(ctx, message), f.s.host.file.LoadAll(ctx, record)}
	if f.embedded() {
		errs = append(errs, f.eachPoint(ctx, vdb.ScrollQuery{AllSpaces: true}, func(p vdb.Point) error {
			if p.Space != f.space {
				pointTexts(p, lookText)
			}
			return nil
		}))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("look whether others have what was found: %w", err)
	}
	return shared, nil
}

func (f *forgetting) eachMessage(ctx context.Context, fn func(feed.KeptMessage) error) error {
	for _, stream := range feed.Streams() {
		if _, err := f.eraser.EachKept(ctx, stream, fn); err != nil {
			return err
		}
	}
	return nil
}

// pagePoints is how many points are read at a time.
const pagePoints = 500

func (f *forgetting) eachPoint(ctx context.Context, q vdb.ScrollQuery, fn func(vdb.Point) error) error {
	for q.Limit = pagePoints; ; {
		page, err := f.s.vectors.Scroll(ctx, q)
		if errors.Is(err, vdb.ErrNoCollection) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range page.Points {
			if err := fn(p); err != nil {
				return err
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}
