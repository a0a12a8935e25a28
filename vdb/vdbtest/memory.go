package vdbtest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var _ vdb.Store = (*Memory)(nil)

// Memory is a vdb.Store in a map: every search looks at every point. It is correct and slow, keeps nothing after Close,
// and returns vectors as they were given.
type Memory struct {
	mu     sync.RWMutex
	dim    int
	points map[pointKey]vdb.Point // with own copies of everything
	closed bool
}

type pointKey struct {
	space graphstore.Space
	id    string
}

// NewMemory returns an empty store for vectors of dim numbers; 0 leaves the dimension to the first Upsert.
func NewMemory(dim int) *Memory {
	return &Memory{dim: dim, points: make(map[pointKey]vdb.Point)}
}

// enter locks for reading and checks what every call checks. The caller unlocks when the error is nil.
func (m *Memory) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	m.mu.RLock()
	if m.closed {
		m.mu.RUnlock()
		return fmt.Errorf("%s: %w", op, vdb.ErrClosed)
	}
	return nil
}

// Info describes the store; its driver is "memory".
func (m *Memory) Info(ctx context.Context) (vdb.Info, error) {
	if err := m.enter(ctx, "info"); err != nil {
		return vdb.Info{}, err
	}
	defer m.mu.RUnlock()
	return vdb.Info{Driver: "memory", Collection: "memory", Dimension: m.dim, Points: int64(len(m.points)), Keyword: true}, nil
}

// Search implements [vdb.Store].
func (m *Memory) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	if err := m.enter(ctx, "search"); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	if err := errors.Join(q.Validate(m.dim), checkFilter(q.Filter)); err != nil {
		return nil, err
	}
	matches := m.scoreLocked(q, func(string) bool { return true })
	return matches[:min(len(matches), q.Limit)], nil
}

// SearchMany implements [vdb.Store]: one search after the other, under one lock.
func (m *Memory) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	if err := m.enter(ctx, "search many"); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	if err := vdb.ValidateMany(queries, m.dim); err != nil {
		return nil, err
	}
	for i, q := range queries {
		if err := checkFilter(q.Filter); err != nil {
			return nil, fmt.Errorf("queries[%d]: %w", i, err)
		}
	}
	out := make([][]vdb.Match, len(queries))
	for i, q := range queries {
		matches := m.scoreLocked(q, func(string) bool { return true })
		out[i] = matches[:min(len(matches), q.Limit)]
	}
	return out, nil
}

// Score implements [vdb.Store].
func (m *Memory) Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error) {
	if err := m.enter(ctx, "score"); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	q.Limit = 1 // the contract ignores it
	if err := errors.Join(q.Validate(m.dim), checkFilter(q.Filter)); err != nil {
		return nil, err
	}
	if len(ids) > vdb.MaxLimit {
		return nil, fmt.Errorf("%w: %d ids: want at most %d", vdb.ErrBadQuery, len(ids), vdb.MaxLimit)
	}
	return m.scoreLocked(q, func(id string) bool { return slices.Contains(ids, id) }), nil
}

// scoreLocked returns all points of the space that pass the filter and take, ordered.
func (m *Memory) scoreLocked(q vdb.Query, take func(id string) bool) []vdb.Match {
	var matches []vdb.Match
	for key, p := range m.points {
		if key.space != q.Space || !take(key.id) {
			continue
		}
		if passes(p.Payload, q.Filter) {
			point := clonePoint(p, q.WithVectors)
			if q.NoPayload {
				point.Payload = vdb.Payload{}
			}
			matches = append(matches, vdb.Match{Point: point, Score: Cosine(q.Vector, p.Vector)})
		}
	}
	slices.SortFunc(matches, compareMatches)
	return matches
}

// compareMatches is the order of every answer: score descending, then id ascending.
func compareMatches(a, b vdb.Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}

// Get implements [vdb.Store].
func (m *Memory) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	if space.IsZero() {
		return nil, fmt.Errorf("get: %w", graphstore.ErrNoSpace)
	}
	if err := m.enter(ctx, "get"); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	var points []vdb.Point
	for i, id := range ids {
		if p, ok := m.points[pointKey{space, id}]; ok && !slices.Contains(ids[:i], id) {
			points = append(points, clonePoint(p, withVectors))
		}
	}
	return points, nil
}

// Scroll implements [vdb.Store]; its order is by user id, then point id.
func (m *Memory) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	if err := q.Validate(); err != nil {
		return vdb.Page{}, err
	}
	after, err := parseCursor(q)
	if err != nil {
		return vdb.Page{}, err
	}
	if err := m.enter(ctx, "scroll"); err != nil {
		return vdb.Page{}, err
	}
	defer m.mu.RUnlock()
	var keys []pointKey
	for key := range m.points {
		if (q.AllSpaces || key.space == q.Space) && compareKeys(key, after) > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	var page vdb.Page
	for _, key := range keys[:min(len(keys), q.Limit)] {
		page.Points = append(page.Points, clonePoint(m.points[key], q.WithVectors))
	}
	if len(keys) > q.Limit {
		page.Next = formatCursor(keys[q.Limit-1])
	}
	return page, nil
}

func compareKeys(a, b pointKey) int {
	return cmp.Or(strings.Compare(a.space.UserID(), b.space.UserID()), strings.Compare(a.id, b.id))
}

func formatCursor(key pointKey) string {
	text, _ := json.Marshal([]string{key.space.UserID(), key.id}) // strings always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor returns the key after which the page begins: the zero key for the first page.
func parseCursor(q vdb.ScrollQuery) (pointKey, error) {
	if q.After == "" {
		return pointKey{}, nil
	}
	bad := fmt.Errorf("%w: cursor %s is not one of this scroll", vdb.ErrBadQuery, graphstore.Shorten(q.After))
	text, err := base64.RawURLEncoding.DecodeString(q.After)
	if err != nil {
		return pointKey{}, bad
	}
	var parts []string
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 2 {
		return pointKey{}, bad
	}
	space, err := graphstore.NewSpace(parts[0])
	if err != nil || (!q.AllSpaces && space != q.Space) {
		return pointKey{}, bad
	}
	return pointKey{space, parts[1]}, nil
}

// Upsert implements [vdb.Store]; the whole call is one batch.
func (m *Memory) Upsert(ctx context.Context, points []vdb.Point) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fmt.Errorf("upsert: %w", vdb.ErrClosed)
	}
	dim := m.dim
	for _, p := range points {
		if err := p.Validate(dim); err != nil {
			return err
		}
		if err := checkJSON(p.Payload.Extra); err != nil {
			return fmt.Errorf("%w: point %s: extra %w", vdb.ErrBadPoint, graphstore.Shorten(p.ID), err)
		}
		dim = len(p.Vector)
	}
	m.dim = dim
	for _, p := range points {
		m.points[pointKey{p.Space, p.ID}] = clonePoint(p, true)
	}
	return nil
}

// Delete implements [vdb.Store].
func (m *Memory) Delete(ctx context.Context, space graphstore.Space, ids []string) error {
	if space.IsZero() {
		return fmt.Errorf("delete: %w", graphstore.ErrNoSpace)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fmt.Errorf("delete: %w", vdb.ErrClosed)
	}
	for _, id := range ids {
		delete(m.points, pointKey{space, id})
	}
	return nil
}

// Count implements [vdb.Store].
func (m *Memory) Count(ctx context.Context, space graphstore.Space) (int64, error) {
	if space.IsZero() {
		return 0, fmt.Errorf("count: %w", graphstore.ErrNoSpace)
	}
	if err := m.enter(ctx, "count"); err != nil {
		return 0, err
	}
	defer m.mu.RUnlock()
	var n int64
	for key := range m.points {
		if key.space == space {
			n++
		}
	}
	return n, nil
}

// Erase implements [vdb.Store].
func (m *Memory) Erase(ctx context.Context, space graphstore.Space) (int64, error) {
	if space.IsZero() {
		return 0, fmt.Errorf("erase: %w", graphstore.ErrNoSpace)
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("erase: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, fmt.Errorf("erase: %w", vdb.ErrClosed)
	}
	before := len(m.points)
	maps.DeleteFunc(m.points, func(key pointKey, _ vdb.Point) bool { return key.space == space })
	return int64(before - len(m.points)), nil
}

// Close implements [vdb.Store]; the points are gone.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.points = true, nil
	return nil
}
