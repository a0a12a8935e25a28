package qdrant

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

const sharedUUID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

func fact(sp graphstore.Space, id, content string) vdb.Point {
	return vdb.Point{Space: sp, ID: id, Vector: []float32{1, 0}, Payload: vdb.Payload{Content: content}}
}

func upsert(t *testing.T, st *Store, points ...vdb.Point) {
	t.Helper()
	if err := st.Upsert(t.Context(), points); err != nil {
		t.Fatal(err)
	}
}

// content returns what a user's fact says, "-" if there is none.
func content(t *testing.T, st *Store, sp graphstore.Space, id string) string {
	t.Helper()
	got, err := st.Get(t.Context(), sp, []string{id}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		return "-"
	}
	return got[0].Payload.Content
}

// owner returns the user of a stored point, read past the driver.
func owner(t *testing.T, raw *pb.Client, id *pb.PointId) string {
	t.Helper()
	got, err := raw.Get(t.Context(), &pb.GetPoints{CollectionName: "facts", Ids: []*pb.PointId{id}, WithPayload: pb.NewWithPayload(true)})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		return "-"
	}
	return got[0].GetPayload()["user_id"].GetStringValue()
}

func TestSharedPointIDs(t *testing.T) {
	for _, id := range []string{"0", "17", sharedUUID} {
		t.Run(id, func(t *testing.T) {
			st, raw := foreign(t, Config{})
			a, b := space(t, "a"), space(t, "b")
			direct, _ := directID(id)
			upsert(t, st, fact(a, id, "a1"))
			upsert(t, st, fact(b, id, "b1")) // the direct id is a's: stored under the mapped one
			upsert(t, st, fact(a, id, "a2"))
			upsert(t, st, fact(b, id, "b2"))
			check := func(step, wantA, wantB string, points int64) {
				t.Helper()
				if gotA, gotB := content(t, st, a, id), content(t, st, b, id); gotA != wantA || gotB != wantB {
					t.Errorf("%s: a has %q and b %q, want %q and %q", step, gotA, gotB, wantA, wantB)
				}
				if info, err := st.Info(t.Context()); err != nil || info.Points != points {
					t.Errorf("%s: %d points, %v; want %d", step, info.Points, err, points)
				}
			}
			check("both", "a2", "b2", 2)
			if got := owner(t, raw, direct.proto()); got != "a" {
				t.Errorf("the direct id is %q's", got)
			}
			if err := st.Delete(t.Context(), a, []string{id}); err != nil {
				t.Fatal(err)
			}
			check("a deleted", "-", "b2", 1)
			upsert(t, st, fact(b, id, "b3")) // the direct id is free now, but b's fact stays where it is: one point
			check("b again", "-", "b3", 1)
			if got := owner(t, raw, direct.proto()); got != "-" {
				t.Errorf("b's fact moved to the direct id")
			}
			upsert(t, st, fact(a, id, "a4"))
			check("a again", "a4", "b3", 2)
			if err := st.Delete(t.Context(), b, []string{id}); err != nil {
				t.Fatal(err)
			}
			check("b deleted", "a4", "-", 1)
		})
	}
}

func TestSharedPointIDsInOneCall(t *testing.T) {
	srv, st, _ := started(t, wire.Options{}, Config{})
	a, b := space(t, "a"), space(t, "b")
	before := srv.Calls("Upsert")
	upsert(t, st, fact(a, "18", "a"), fact(b, "18", "b"), fact(b, sharedUUID, "b"), fact(a, sharedUUID, "a"))
	for _, id := range []string{"18", sharedUUID} {
		if gotA, gotB := content(t, st, a, id), content(t, st, b, id); gotA != "a" || gotB != "b" {
			t.Errorf("%s: a has %q and b %q", id, gotA, gotB)
		}
	}
	if n := srv.Calls("Upsert") - before; n != 1 {
		t.Errorf("%d requests, want 1: the batch claimed one point id for two users", n)
	}
}

// A point id can also be taken by a point that is nobody's.
func TestPointsWithoutUserAreNotOverwritten(t *testing.T) {
	st, raw := foreign(t, Config{}, rawPoint(17, map[string]any{"kind": "config"}))
	a := space(t, "a")
	upsert(t, st, fact(a, "17", "a"))
	if got := content(t, st, a, "17"); got != "a" {
		t.Errorf("a has %q", got)
	}
	got, err := raw.Get(t.Context(), &pb.GetPoints{CollectionName: "facts", Ids: []*pb.PointId{pb.NewIDNum(17)}, WithPayload: pb.NewWithPayload(true)})
	if err != nil || len(got) != 1 || got[0].GetPayload()["kind"].GetStringValue() != "config" {
		t.Errorf("the point of nobody is now %v, %v", got, err)
	}
}

// A user may have a fact whose id is, by chance or malice, the point id of another fact.
func TestFactIDThatIsAnotherFactsPointID(t *testing.T) {
	st, _ := foreign(t, Config{})
	a, b := space(t, "a"), space(t, "b")
	inTheWay := mappedID(a, "doc1").String()
	upsert(t, st, fact(a, "doc1", "doc1"))
	upsert(t, st, fact(a, inTheWay, "uuid of a"), fact(b, inTheWay, "uuid of b"))
	for _, tc := range []struct {
		sp       graphstore.Space
		id, want string
	}{{a, "doc1", "doc1"}, {a, inTheWay, "uuid of a"}, {b, inTheWay, "uuid of b"}} {
		if got := content(t, st, tc.sp, tc.id); got != tc.want {
			t.Errorf("%s of %s: %q, want %q", tc.id, tc.sp, got, tc.want)
		}
	}
	if err := st.Delete(t.Context(), a, []string{inTheWay}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, st, a, "doc1"); got != "doc1" {
		t.Errorf("doc1 went with the other fact: %q", got)
	}
	// Where both of a fact's ids are taken there is no place left, which is an error and not an overwrite.
	taken := mappedID(b, "doc1").String()
	upsert(t, st, fact(a, taken, "first"))
	err := st.Upsert(t.Context(), []vdb.Point{fact(b, "doc1", "second")})
	if !errors.Is(err, vdb.ErrBadPoint) || !errors.Is(err, errClaimed) {
		t.Errorf("got %v, want a refusal", err)
	}
	if got := content(t, st, a, taken); got != "first" {
		t.Errorf("overwritten by %q", got)
	}
}

// A memory system may store a fact under its own id that kith has stored under the mapped one before.
func TestFactStoredTwiceCountsOnce(t *testing.T) {
	st, raw := foreign(t, Config{}, rawPoint(17, map[string]any{"user_id": "b"}))
	a := space(t, "a")
	upsert(t, st, fact(a, "17", "mapped"))
	writeRaw(t, raw, rawPoint(17, map[string]any{"user_id": "a", "content": "direct"}))
	if got := content(t, st, a, "17"); got != "direct" {
		t.Errorf("a has %q, want the one under the direct id", got)
	}
	found, err := st.Search(t.Context(), vdb.Query{Space: a, Vector: []float32{1, 0}, Limit: 9})
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want one match", found, err)
	}
	upsert(t, st, fact(a, "17", "new")) // also cleans up
	if info, err := st.Info(t.Context()); err != nil || info.Points != 1 {
		t.Errorf("%d points after the upsert, %v", info.Points, err)
	}
	writeRaw(t, raw, rawPoint(17, map[string]any{"user_id": "a", "content": "direct"}))
	if err := st.Delete(t.Context(), a, []string{"17"}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, st, a, "17"); got != "-" {
		t.Errorf("after the delete a has %q", got)
	}
}

// Between placing and storing, another writer takes the id for another user. The server refuses to replace it, the count
// afterwards notices.
func TestClaimInBetweenIsNoticed(t *testing.T) {
	st, raw := foreign(t, Config{})
	a := space(t, "a")
	sh, err := st.shapeOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batch, err := st.encodeWrites(sh, []vdb.Point{fact(a, "17", "a"), fact(a, "18", "a")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.place(t.Context(), sh, batch); err != nil {
		t.Fatal(err)
	}
	writeRaw(t, raw, rawPoint(17, map[string]any{"user_id": "b"}))
	if err := st.store(t.Context(), batch, ownedFilter(sh, batch)); err != nil {
		t.Fatal(err)
	}
	if got := owner(t, raw, pb.NewIDNum(17)); got != "b" {
		t.Errorf("the claimed point is %q's now", got)
	}
	if n, err := st.count(t.Context(), lostFilter(sh, batch)); err != nil || n != 1 {
		t.Errorf("%d lost points counted, %v; want 1", n, err)
	}
	if err := st.upsertBatch(t.Context(), sh, batch); err != nil { // places anew
		t.Fatal(err)
	}
	for _, id := range []string{"17", "18"} {
		if got := content(t, st, a, id); got != "a" {
			t.Errorf("%s says %q", id, got)
		}
	}
}

// Two processes store the same ids for two users at the same time.
func TestConcurrentClaims(t *testing.T) {
	first, _ := foreign(t, Config{})
	second := open(t, Config{URL: first.cfg.URL, Collection: "facts"})
	a, b := space(t, "a"), space(t, "b")
	const rounds = 40
	ids := make([]string, rounds)
	for i := range ids {
		ids[i] = uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprint(i))).String()
	}
	for _, id := range ids {
		var wg sync.WaitGroup
		for st, sp := range map[*Store]graphstore.Space{first: a, second: b} {
			wg.Go(func() {
				if err := st.Upsert(t.Context(), []vdb.Point{fact(sp, id, sp.UserID())}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	for _, id := range ids {
		if gotA, gotB := content(t, first, a, id), content(t, second, b, id); gotA != "a" || gotB != "b" {
			t.Errorf("%s: a has %q and b %q", id, gotA, gotB)
		}
	}
}

// Every request that reads or writes points names the user in its filter.
func TestEveryRequestIsConfined(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	srv := wire.Start(t, wire.Options{Observe: func(method string, req any) {
		mu.Lock()
		defer mu.Unlock()
		var filters []*pb.Filter
		switch req := req.(type) {
		case *pb.QueryPoints:
			filters = []*pb.Filter{req.GetFilter()}
		case *pb.QueryBatchPoints:
			for _, q := range req.GetQueryPoints() {
				filters = append(filters, q.GetFilter())
			}
		case *pb.ScrollPoints:
			filters = []*pb.Filter{req.GetFilter()}
		case *pb.CountPoints:
			filters = []*pb.Filter{req.GetFilter()}
		case *pb.DeletePoints:
			filters = []*pb.Filter{req.GetPoints().GetFilter()}
		case *pb.UpsertPoints:
			filters = []*pb.Filter{req.GetUpdateFilter()}
			if !req.GetWait() {
				t.Error("an upsert that does not wait")
			}
		case *pb.GetPoints:
			t.Error("a read by point id, which takes no filter")
		default:
			return
		}
		seen[method]++
		for _, f := range filters {
			text, err := proto.Marshal(f)
			if err != nil || !strings.Contains(string(text), "the-user") || !strings.Contains(string(text), "user_id") {
				t.Errorf("%s without the user: %v", method, req)
			}
		}
	}})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2})
	u := space(t, "the-user")
	q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 3}
	steps := []error{st.Upsert(t.Context(), []vdb.Point{fact(u, "17", "x"), fact(u, "doc", "y")})}
	_, err := st.Search(t.Context(), q)
	steps = append(steps, err)
	bare := q
	bare.NoPayload = true
	_, err = st.SearchMany(t.Context(), []vdb.Query{q, bare})
	steps = append(steps, err)
	_, err = st.Hybrid(t.Context(), vdb.HybridQuery{Query: q, Text: "x"})
	steps = append(steps, err)
	_, err = st.Keyword(t.Context(), vdb.KeywordQuery{Space: u, Text: "x", Limit: 3})
	steps = append(steps, err)
	_, err = st.Score(t.Context(), q, []string{"17", "doc"})
	steps = append(steps, err)
	_, err = st.Get(t.Context(), u, []string{"17", "doc"}, true)
	steps = append(steps, err)
	_, err = st.Scroll(t.Context(), vdb.ScrollQuery{Space: u, Limit: 3})
	steps = append(steps, err, st.Delete(t.Context(), u, []string{"17", "doc"}))
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"Upsert", "Query", "QueryBatch", "Scroll", "Delete"} {
		if seen[method] == 0 {
			t.Errorf("no %s was seen", method)
		}
	}
}

// A server that answers with another user's point in spite of the filter is not believed.
func TestAnswerOfAnotherUserIsDiscarded(t *testing.T) {
	st, _ := foreign(t, Config{})
	sh, err := st.shapeOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	points := []*pb.ScoredPoint{{Id: pb.NewIDNum(1), Payload: pb.NewValueMap(map[string]any{"user_id": "other", "content": "secret"})}}
	for _, bare := range []bool{false, true} {
		got, err := st.decodeMatches(points, sh, vdb.Query{Space: space(t, "u"), NoPayload: bare}, nil, score)
		if !errors.Is(err, errOtherUser) || len(got) != 0 || strings.Contains(err.Error(), "secret") {
			t.Errorf("no payload %v: got %v, %v", bare, got, err)
		}
	}
	page := []*pb.RetrievedPoint{{Id: points[0].Id, Payload: points[0].Payload}}
	if got, err := st.decodePage(page, sh, vdb.ScrollQuery{Space: space(t, "u")}); !errors.Is(err, errOtherUser) || len(got.Points) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}
