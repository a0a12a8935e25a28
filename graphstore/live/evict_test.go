package live_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

// filled returns a store with users of so many facts each, and the bytes that each user's snapshot takes.
func filled(t testing.TB, users, facts int) (store *graphstoretest.Memory, bytes []int64) {
	t.Helper()
	store = graphstoretest.NewMemory()
	if err := store.Apply(context.Background(), graphstoretest.Graph(1, users, facts)); err != nil {
		t.Fatal(err)
	}
	for i := range users {
		bytes = append(bytes, snapshotOf(t, store, graphstoretest.SpaceName(i)).Bytes())
	}
	return store, bytes
}

// snapshotOf builds the graph of one user from the store.
func snapshotOf(t testing.TB, store graphstore.Store, space graphstore.Space) *graphstore.Snapshot {
	t.Helper()
	b := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	if err := store.Load(context.Background(), space, b.Add); err != nil {
		t.Fatal(err)
	}
	return b.Snapshot()
}

func acquire(t testing.TB, g *live.Graph, space graphstore.Space) *graphstore.Snapshot {
	t.Helper()
	s, err := g.Acquire(context.Background(), space)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatDoesNotFitIsReadWhenAskedFor(t *testing.T) {
	const users = 6
	memory, bytes := filled(t, users, 200)
	store := graphstoretest.NewFaulty(memory, func(graphstoretest.Call) graphstoretest.Fault { return graphstoretest.Fault{} })
	limit := bytes[0] + bytes[1] + bytes[2] + bytes[2]/2 // three users and a half: they are of about one size
	g := loadedWithin(t, store, limit)
	whole := loaded(t, memory)
	if g.Counts() != whole.Counts() || g.Digest() != storeDigest(t, memory) {
		t.Errorf("counts %+v, digest %s: want %+v, %s", g.Counts(), g.Digest(), whole.Counts(), storeDigest(t, memory))
	}
	if u := g.Usage(); u.Resident != 0 || u.Spaces != users || u.Bytes != 0 || u.MaxBytes != limit {
		t.Errorf("after the load: %+v: want nothing resident of %d spaces", u, users)
	}
	total := int64(0)
	for _, b := range bytes {
		total += b
	}
	if ratio := float64(g.Usage().TotalBytes) / float64(total); ratio < .75 || ratio > 1.25 || whole.Usage().TotalBytes != total {
		t.Errorf("all users would take %d bytes, and do take %d: want %d", g.Usage().TotalBytes, whole.Usage().TotalBytes, total)
	}
	if _, err := g.View(graphstoretest.SpaceName(0)); !errors.Is(err, live.ErrLoading) {
		t.Errorf("view of a user that is not resident: %v", err)
	}
	for i := range users {
		s := acquire(t, g, graphstoretest.SpaceName(i))
		if s.Digest() != snapshotOf(t, memory, graphstoretest.SpaceName(i)).Digest() {
			t.Errorf("user %d: another graph", i)
		}
		if u := g.Usage(); u.Bytes > limit || u.Resident != min(i+1, 3) {
			t.Errorf("after user %d: %+v", i, u)
		}
	}
	// 3, 4 and 5 are resident. 3 is used, so 4 goes for 0.
	if _, err := g.View(graphstoretest.SpaceName(3)); err != nil {
		t.Errorf("view of a resident user: %v", err)
	}
	acquire(t, g, graphstoretest.SpaceName(0))
	for _, i := range []int{0, 3, 5} {
		if _, err := g.View(graphstoretest.SpaceName(i)); err != nil {
			t.Errorf("user %d was used later than others: %v", i, err)
		}
	}
	if u := g.Usage(); u.TotalBytes != total {
		t.Errorf("all users were built: %d bytes, want %d", u.TotalBytes, total)
	}
	if u := g.Usage(); u.Reloads != users+1 || u.Evictions != users+1-3 {
		t.Errorf("%+v: want %d reloads and all but 3 evicted", u, users+1)
	}
	if _, err := g.View(graphstoretest.SpaceName(4)); !errors.Is(err, live.ErrLoading) {
		t.Errorf("user 4 was used longest ago: %v", err)
	}
	if n := store.Calls(graphstoretest.MethodLoadAll); n != 1 {
		t.Errorf("%d passes over all records: want 1", n)
	}
}

// One reload answers everybody who waits for it; a snapshot outlives its eviction; who cannot wait gets ErrLoading.
func TestOneReloadPerUserAtATime(t *testing.T) {
	memory, bytes := filled(t, 3, 100)
	hold := make(chan struct{})
	store := graphstoretest.NewFaulty(memory, func(c graphstoretest.Call) graphstoretest.Fault {
		if c.Method == graphstoretest.MethodLoad {
			return graphstoretest.Fault{Wait: hold}
		}
		return graphstoretest.Fault{}
	})
	g := loadedWithin(t, store, bytes[0]+bytes[0]/2)
	one := graphstoretest.SpaceName(1)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Acquire(gone, one); !errors.Is(err, live.ErrLoading) {
		t.Errorf("no time to wait: %v", err)
	}
	var wg sync.WaitGroup
	got := make([]*graphstore.Snapshot, 8)
	for i := range got {
		wg.Go(func() { got[i] = acquire(t, g, one) })
	}
	close(hold)
	wg.Wait()
	if n := store.Calls(graphstoretest.MethodLoad); n != 1 {
		t.Errorf("%d loads for %d callers: want 1", n, len(got)+1)
	}
	before := got[0].Digest()
	acquire(t, g, graphstoretest.SpaceName(2)) // evicts user 1
	if g.Usage().Evictions != 1 || got[0].Digest() != before || got[0].Facts() != 100 {
		t.Errorf("%+v, %d facts: want the held snapshot as it was", g.Usage(), got[0].Facts())
	}
}

func TestReloadThatFails(t *testing.T) {
	boom := errors.New("disk on fire")
	memory, bytes := filled(t, 2, 100)
	store := graphstoretest.NewFaulty(memory, graphstoretest.OnNth(graphstoretest.MethodLoad, 1, graphstoretest.Fault{Partway: boom, Records: 50}))
	g := loadedWithin(t, store, bytes[0])
	s := graphstoretest.SpaceName(0)
	if _, err := g.Acquire(context.Background(), s); !errors.Is(err, boom) {
		t.Errorf("first: %v", err)
	}
	if acquire(t, g, s).Facts() != 100 {
		t.Error("second: half a graph")
	}
}

func TestUserThatIsTooLarge(t *testing.T) {
	memory, bytes := filled(t, 2, 300)
	ctx := context.Background()
	small, large := graphstoretest.SpaceName(7), graphstoretest.SpaceName(0)
	store := graphstoretest.NewFaulty(memory, func(graphstoretest.Call) graphstoretest.Fault { return graphstoretest.Fault{} })
	g := loadedWithin(t, store, bytes[0]/2)
	if _, err := g.Acquire(ctx, large); !errors.Is(err, live.ErrTooLarge) {
		t.Fatalf("acquire: %v", err)
	}
	loads := store.Calls(graphstoretest.MethodLoad)
	if _, err := g.View(large); !errors.Is(err, live.ErrTooLarge) || store.Calls(graphstoretest.MethodLoad) != loads {
		t.Errorf("view: %v, after %d loads: want it to be known", err, store.Calls(graphstoretest.MethodLoad))
	}
	if u := g.Usage(); u.TooLarge != 1 || u.Resident != 0 {
		t.Errorf("%+v: want one user too large", u)
	}
	// It is written to nevertheless, and read from the store once for a run of batches.
	loads = store.Calls(graphstoretest.MethodLoad)
	for i := range 5 {
		snap, err := g.Snapshot(ctx, large)
		if err != nil || snap.Facts() != 300+i {
			t.Fatalf("plan %d: %d facts, %v", i, snap.Facts(), err)
		}
		if err := g.Apply(ctx, []graphstore.Change{fact(large, fmt.Sprint("new", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if n := store.Calls(graphstoretest.MethodLoad) - loads; n != 1 {
		t.Errorf("%d loads for five batches of one user: want 1", n)
	}
	if g.Counts().Facts != 605 || g.Digest() != storeDigest(t, memory) {
		t.Errorf("counts %+v, digest %s: want 605 facts, %s", g.Counts(), g.Digest(), storeDigest(t, memory))
	}
	// Others are served meanwhile.
	if err := g.Apply(ctx, []graphstore.Change{fact(small, "a")}); err != nil {
		t.Fatal(err)
	}
	if snap, err := g.View(small); err != nil || snap.Facts() != 1 {
		t.Errorf("small user: %v", err)
	}
	// What shrinks below the bound is served again.
	var goes []graphstore.Change
	for c := range snapshotOf(t, memory, large).Records() {
		goes = append(goes, graphstore.DeleteKey(large, c.Key()))
	}
	kept := slices.IndexFunc(goes, func(c graphstore.Change) bool { return c.Fact != nil && c.Fact.ID == "new0" })
	if err := g.Apply(ctx, slices.Delete(goes, kept, kept+1)); err != nil {
		t.Fatal(err)
	}
	if snap, err := g.View(large); err != nil || snap.Facts() != 1 || g.Usage().TooLarge != 0 {
		t.Errorf("after it has shrunk: %v, %+v", err, g.Usage())
	}
	if c := g.Counts(); c.Spaces != 3 || c.Edges >= 3000 {
		t.Errorf("counts %+v: want 3 spaces", c)
	}
	if err := g.Apply(ctx, []graphstore.Change{graphstore.DeleteKey(large, graphstore.Key{Kind: graphstore.KindFact, Node: "new0"})}); err != nil {
		t.Fatal(err)
	}
	if c := g.Counts(); c.Spaces != 2 || g.Digest() != storeDigest(t, memory) {
		t.Errorf("counts %+v: a user without records is none", c)
	}
}

// A reload that began before a commit ends after it: what it read must not take the place of what was committed.
func TestReloadNeverOverwritesNewer(t *testing.T) {
	memory, bytes := filled(t, 2, 100)
	read, finish := make(chan struct{}), make(chan struct{})
	store := &slowLoads{Memory: memory, read: read, finish: finish}
	g := loadedWithin(t, store, bytes[0]+bytes[0]/2)
	ctx := context.Background()
	zero, one := graphstoretest.SpaceName(0), graphstoretest.SpaceName(1)
	store.slow.Store(true)
	if _, err := g.View(zero); !errors.Is(err, live.ErrLoading) {
		t.Fatal(err)
	}
	<-read // the reload has the old state
	store.slow.Store(false)
	if err := g.Apply(ctx, []graphstore.Change{fact(zero, "new")}); err != nil {
		t.Fatal(err)
	}
	acquire(t, g, one) // evicts what Apply published
	close(finish)
	if s := acquire(t, g, zero); s.Facts() != 101 {
		t.Errorf("%d facts: want the committed 101", s.Facts())
	}
}

// TestFifteenUsersInRotation keeps 5 of 15 users in memory while several goroutines search and one writes.
func TestFifteenUsersInRotation(t *testing.T) {
	const users, facts = 15, 60
	memory, bytes := filled(t, users, facts)
	limit := slices.Max(bytes) * 5
	g := loadedWithin(t, memory, limit)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			last := map[int]int{} // pairs seen of each user: never fewer later
			for i := w; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				u := i % users
				if rng.IntN(3) == 0 {
					u = rng.IntN(users)
				}
				s := acquire(t, g, graphstoretest.SpaceName(u))
				// Each transaction adds two facts and an edge between them.
				pairs := (s.Facts() - facts) / 2
				edges := 0
				for n := range pairs {
					if a, ok := s.Node(fmt.Sprint("a", n)); ok {
						edges += len(s.Links(a))
					}
				}
				if (s.Facts()-facts)%2 != 0 || edges != pairs || pairs < last[u] || s.Space() != graphstoretest.SpaceName(u) {
					t.Errorf("user %d: %d facts, %d pairs with %d edges, %d before", u, s.Facts(), pairs, edges, last[u])
				}
				last[u] = pairs
				if used := g.Usage(); used.Bytes > limit {
					t.Errorf("%d bytes: want at most %d", used.Bytes, limit)
				}
			}
		})
	}
	for i := range users * 8 {
		s := graphstoretest.SpaceName(i * 7 % users)
		n := i / users
		a, b := fmt.Sprint("a", n), fmt.Sprint("b", n)
		if _, err := g.Snapshot(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if err := g.Apply(context.Background(), []graphstore.Change{fact(s, a), fact(s, b), graphstore.PutEdge(s, graphstore.Edge{
			Source: a, Target: b, Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: a}})}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	head, err := memory.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if g.Digest() != head.Digest || g.Counts().Facts != users*(facts+16) {
		t.Errorf("digest %s, %+v: want %s and %d facts", g.Digest(), g.Counts(), head.Digest, users*(facts+16))
	}
	for i := range users {
		s := graphstoretest.SpaceName(i)
		if acquire(t, g, s).Digest() != snapshotOf(t, memory, s).Digest() {
			t.Errorf("user %d differs from the store", i)
		}
	}
	if u := g.Usage(); u.Evictions == 0 || u.Reloads == 0 || u.Resident < 3 {
		t.Errorf("%+v: want users to come and go", u)
	}
}
