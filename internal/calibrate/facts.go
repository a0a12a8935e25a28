package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Store is what is asked of a vector store.
type Store interface {
	Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error)
	Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error)
	Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error)
	Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error)
}

// MaxFacts is how many points of a collection are looked at; of a larger one the first in the store's order.
const MaxFacts = 1_000_000

// scrollPage is how many points are read at once.
const scrollPage = 1000

// Facts are the ids of the facts that searches find now, by user.
type Facts struct {
	Spaces    []graphstore.Space // in the store's order
	IDs       map[graphstore.Space][]string
	Count     int
	Retired   int  // points left out because a search would not find them
	Unread    int  // points that are no facts
	Truncated bool // the collection has more than MaxFacts points
	now       time.Time
}

// ReadFacts lists the facts of one user, or of all with the zero space, that are active and valid at a time.
func ReadFacts(ctx context.Context, store Store, space graphstore.Space, now time.Time) (*Facts, error) {
	f := &Facts{IDs: map[graphstore.Space][]string{}, now: now}
	q := vdb.ScrollQuery{Space: space, AllSpaces: space.IsZero(), Limit: scrollPage}
	for seen := 0; ; {
		page, err := store.Scroll(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		f.Unread += len(page.Skipped)
		for i := range page.Points {
			f.add(&page.Points[i])
		}
		seen += len(page.Points) + len(page.Skipped)
		if page.Next == "" {
			return f, nil
		}
		if q.After = page.Next; seen >= MaxFacts {
			f.Truncated = true
			return f, nil
		}
	}
}

func (f *Facts) add(p *vdb.Point) {
	if !visible(&p.Payload, f.now) {
		f.Retired++
		return
	}
	if _, known := f.IDs[p.Space]; !known {
		f.Spaces = append(f.Spaces, p.Space)
	}
	f.IDs[p.Space] = append(f.IDs[p.Space], p.ID)
	f.Count++
}

// visible says whether a search at that time finds the fact.
func visible(p *vdb.Payload, now time.Time) bool {
	return (p.State == "" || p.State == vdb.StateActive) &&
		!p.ValidFrom.After(now) && (p.ValidTo.IsZero() || now.Before(p.ValidTo))
}

// filter is the same as a condition of the store.
func (f *Facts) filter() vdb.Filter {
	return vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}}, ValidAt: f.now}
}
