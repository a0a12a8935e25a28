package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"
)

// owners returns the payload field "owner" by point number.
func owners(t *testing.T, c *pb.Client) map[uint64]string {
	t.Helper()
	points, err := c.Scroll(t.Context(), &pb.ScrollPoints{CollectionName: "x", Limit: pb.PtrOf(uint32(100)), WithPayload: pb.NewWithPayload(true)})
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64]string{}
	for _, p := range points {
		out[p.GetId().GetNum()] = p.GetPayload()["owner"].GetStringValue()
	}
	return out
}

func TestConditionalUpsert(t *testing.T) {
	mine := &pb.Filter{Must: []*pb.Condition{pb.NewMatch("owner", "me")}}
	for name, tc := range map[string]struct {
		version string
		filter  *pb.Filter
		mode    *pb.UpdateMode
		want    map[uint64]string // 1 was mine, 2 another's, 3 did not exist; all three are written as "new"
	}{
		"plain":                     {"1.17.1", nil, nil, map[uint64]string{1: "new", 2: "new", 3: "new"}},
		"filter":                    {"1.17.1", mine, nil, map[uint64]string{1: "new", 2: "other", 3: "new"}},
		"filter, 1.16":              {"1.16.0", mine, nil, map[uint64]string{1: "new", 2: "other", 3: "new"}},
		"filter, not known to 1.15": {"1.15.5", mine, nil, map[uint64]string{1: "new", 2: "new", 3: "new"}},
		"insert only":               {"1.17.1", nil, pb.UpdateMode_InsertOnly.Enum(), map[uint64]string{1: "me", 2: "other", 3: "new"}},
		"update only":               {"1.17.1", nil, pb.UpdateMode_UpdateOnly.Enum(), map[uint64]string{1: "new", 2: "new"}},
		"mode, not known to 1.16":   {"1.16.0", nil, pb.UpdateMode_UpdateOnly.Enum(), map[uint64]string{1: "new", 2: "new", 3: "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, Start(t, Options{Version: tc.version}), nil)
			newCollection(t, c, "x", 1, pb.Distance_Dot)
			owned := func(owner string) map[string]any { return map[string]any{"owner": owner} }
			put(t, c, "x", pt(pb.NewIDNum(1), owned("me"), 1), pt(pb.NewIDNum(2), owned("other"), 1))
			_, err := c.Upsert(t.Context(), &pb.UpsertPoints{
				CollectionName: "x", Wait: pb.PtrOf(true), UpdateFilter: tc.filter, UpdateMode: tc.mode,
				Points: []*pb.PointStruct{pt(pb.NewIDNum(1), owned("new"), 1), pt(pb.NewIDNum(2), owned("new"), 1), pt(pb.NewIDNum(3), owned("new"), 1)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, owners(t, c)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpsertWithoutWaitHidesBadVectors(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 2, pb.Distance_Dot)
	bad := []*pb.PointStruct{pt(pb.NewIDNum(1), nil, 1, 2), pt(pb.NewIDNum(2), nil, 1)}
	result, err := c.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: "x", Points: bad})
	if err != nil || result.GetStatus() != pb.UpdateStatus_Acknowledged {
		t.Errorf("got %v, %v; want Acknowledged", result, err)
	}
	if got := owners(t, c); len(got) != 0 {
		t.Errorf("points of the dropped update: %v", got)
	}
}

func TestDeleteByIDsAndFilter(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 1, pb.Distance_Dot)
	for i, owner := range []string{"a", "b", "a", "b", "a"} {
		put(t, c, "x", pt(pb.NewIDNum(uint64(i)), map[string]any{"owner": owner}, 1))
	}
	for _, tc := range []struct {
		sel  *pb.PointsSelector
		want map[uint64]string
	}{
		{pb.NewPointsSelector(pb.NewIDNum(0), pb.NewIDNum(77)), map[uint64]string{1: "b", 2: "a", 3: "b", 4: "a"}},
		{pb.NewPointsSelectorFilter(&pb.Filter{Must: []*pb.Condition{pb.NewMatch("owner", "b"), pb.NewHasID(pb.NewIDNum(1), pb.NewIDNum(2))}}),
			map[uint64]string{2: "a", 3: "b", 4: "a"}},
		{pb.NewPointsSelectorFilter(&pb.Filter{Must: []*pb.Condition{pb.NewMatch("owner", "a")}}), map[uint64]string{3: "b"}},
	} {
		if _, err := c.Delete(t.Context(), &pb.DeletePoints{CollectionName: "x", Points: tc.sel, Wait: pb.PtrOf(true)}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, owners(t, c)); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
	}
}

func TestSetPayloadMergesAndUpsertReplaces(t *testing.T) {
	c := dial(t, Start(t, Options{}), nil)
	newCollection(t, c, "x", 1, pb.Distance_Dot)
	put(t, c, "x", pt(pb.NewIDNum(1), map[string]any{"owner": "a", "k": 1}, 1))
	_, err := c.SetPayload(t.Context(), &pb.SetPayloadPoints{
		CollectionName: "x", Payload: pb.NewValueMap(map[string]any{"k": 2, "l": 3}), PointsSelector: pb.NewPointsSelector(pb.NewIDNum(1)), Wait: pb.PtrOf(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	payload := func() map[string]string {
		got, err := c.Get(t.Context(), &pb.GetPoints{CollectionName: "x", Ids: []*pb.PointId{pb.NewIDNum(1)}, WithPayload: pb.NewWithPayload(true)})
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		return plain(got[0].GetPayload())
	}
	if diff := cmp.Diff(plain(pb.NewValueMap(map[string]any{"owner": "a", "k": 2, "l": 3})), payload()); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	put(t, c, "x", pt(pb.NewIDNum(1), map[string]any{"owner": "a"}, 1))
	if diff := cmp.Diff(plain(pb.NewValueMap(map[string]any{"owner": "a"})), payload()); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
}
