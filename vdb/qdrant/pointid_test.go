package qdrant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func space(t testing.TB, user string) graphstore.Space {
	t.Helper()
	sp, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// Mapped ids are part of stored data. The values are Python's uuid.uuid5(namespace, user + "\0" + id).
func TestMappedIDsDoNotChange(t *testing.T) {
	for _, tc := range []struct{ user, id, want string }{
		{"u", "doc1", "de0409c9-2c65-5e7d-813e-4444ec8ec214"},
		{"bob", "事実 3", "23b95ee9-2dd4-5eac-a63d-9952b4a44759"},
	} {
		if got := mappedID(space(t, tc.user), tc.id).String(); got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.user, tc.id, got, tc.want)
		}
	}
}

func TestDirectIDs(t *testing.T) {
	for id, want := range map[string]*pointID{
		"0": {}, "17": {num: 17}, "18446744073709551615": {num: 1<<64 - 1},
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8": {uuid: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		"18446744073709551616":                 nil, "017": nil, "+17": nil, "-1": nil, " 17": nil, "": nil, "doc1": nil,
		"6BA7B810-9DAD-11D1-80B4-00C04FD430C8": nil, "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}": nil, "6ba7b8109dad11d180b400c04fd430c8": nil,
	} {
		got, ok := directID(id)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("%q: got %+v %v", id, got, ok)
		}
		if ok && got.String() != id {
			t.Errorf("%q comes back as %q", id, got)
		}
	}
}

// The original id counts only where the point id follows from it and the user, so that a foreign field of the same name,
// or one copied from another user, renames nothing.
func TestFactID(t *testing.T) {
	const upperUUID = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
	u, v := space(t, "u"), space(t, "v")
	mapped := mappedID(u, "doc1")
	for name, tc := range map[string]struct {
		id       pointID
		space    graphstore.Space
		original string
		want     string
	}{
		"mapped":             {mapped, u, "doc1", "doc1"},
		"of another user":    {mapped, v, "doc1", mapped.uuid},
		"another original":   {mapped, u, "doc2", mapped.uuid},
		"without original":   {mapped, u, "", mapped.uuid},
		"no fact id":         {mappedID(u, "a\nb"), u, "a\nb", mappedID(u, "a\nb").uuid},
		"not canonical":      {mappedID(u, upperUUID), u, upperUUID, mappedID(u, upperUUID).uuid},
		"integer and a name": {pointID{num: 7}, u, "doc1", "7"},
	} {
		if got := tc.id.factID(tc.space, tc.original); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

func TestCursors(t *testing.T) {
	for _, id := range []pointID{{}, {num: 17}, {num: 1<<64 - 1}, {uuid: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}} {
		cursor := formatCursor(id.proto())
		back, err := parseCursor(cursor)
		got, ok := pointIDOf(back)
		if err != nil || !ok || got != id {
			t.Errorf("%v: cursor %q reads as %v, %v", id, cursor, got, err)
		}
	}
	if got := formatCursor(nil); got != "" {
		t.Errorf("no next page has the cursor %q", got)
	}
	for _, cursor := range []string{"n", "u", "n-1", "n01", "u17", "n6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x17", "17", "u6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
		"\x00", strings.Repeat("9", 999)} {
		if id, err := parseCursor(cursor); err == nil {
			t.Errorf("%q: accepted as %v", cursor, id)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, cursor := range []string{"", "n17", "u6ba7b810-9dad-11d1-80b4-00c04fd430c8", "n", "\xff"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		id, err := parseCursor(cursor)
		if err == nil && formatCursor(id) != cursor {
			t.Errorf("%q is accepted, but written as %q", cursor, formatCursor(id))
		}
	})
}

func TestChoose(t *testing.T) {
	direct, mapped := pointID{}, pointID{uuid: "m"} // the integer 0 is an id like any other
	both := []pointID{direct, mapped}
	for name, tc := range map[string]struct {
		candidates, has, taken []pointID
		want                   []pointID
	}{
		"new":                             {both, nil, nil, []pointID{direct}},
		"new, direct id taken":            {both, nil, []pointID{direct}, []pointID{mapped}},
		"stays with the mapped id":        {both, []pointID{mapped}, nil, []pointID{mapped}},
		"stored under both":               {both, []pointID{mapped, direct}, nil, []pointID{direct}},
		"only mapped":                     {[]pointID{mapped}, nil, nil, []pointID{mapped}},
		"only mapped, and that is taken":  {[]pointID{mapped}, nil, []pointID{mapped}, nil},
		"has mapped, direct taken":        {both, []pointID{mapped}, []pointID{direct}, []pointID{mapped}},
		"everything is taken by somebody": {both, nil, both, nil},
	} {
		var got []pointID
		if p, ok := choose(tc.candidates, tc.has, func(p pointID) bool {
			for _, taken := range tc.taken {
				if taken == p {
					return false
				}
			}
			return true
		}); ok {
			got = append(got, p)
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(pointID{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
