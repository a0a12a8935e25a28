package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// oneVector is the shape of a collection's only vector.
func oneVector(name, kind, distance string) []vdb.VectorShape {
	return []vdb.VectorShape{{Name: name, Kind: kind, Dimension: 2, Distance: distance}}
}

// onQdrant are the flags of a command on a collection of the server.
func onQdrant(srv *wire.Server, dir string, more ...string) []string {
	return append([]string{"--data-dir", dir, "--listen=127.0.0.1:0", "--nats-listen=127.0.0.1:0", "--log-level=error",
		"--qdrant-url", "http://" + srv.Addr(), "--qdrant-collection=theirs"}, more...)
}

// A collection that cannot be searched by one vector and its cosine is refused by name, value and rule, by a backfill and by a
// verification; a point that fits is there so that it is no empty collection.
func TestBadCollections(t *testing.T) {
	for name, tc := range map[string]struct {
		vectors []vdb.VectorShape
		flags   []string
		says    []string
	}{
		"dot product":       {oneVector("", vdb.VectorDense, "Dot"), nil, []string{`"theirs"`, "Dot", "Cosine"}},
		"euclid":            {oneVector("", vdb.VectorDense, "Euclid"), nil, []string{`"theirs"`, "Euclid", "Cosine"}},
		"multi-vectors":     {oneVector("", vdb.VectorMulti, "Cosine"), nil, []string{`"theirs"`, "multi-vector"}},
		"another dimension": {oneVector("", vdb.VectorDense, "Cosine"), []string{"--qdrant-create=3"}, []string{`"theirs"`, "2", "3"}},
		"another name":      {oneVector("dense", vdb.VectorDense, "Cosine"), []string{"--qdrant-vector=text"}, []string{`"theirs"`, `"text"`, "dense"}},
		"no collection":     {oneVector("", vdb.VectorDense, "Cosine"), []string{"--qdrant-collection=other"}, []string{`"other"`, "QDRANT_CREATE_DIMENSION (--qdrant-create)"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := wire.Start(t, wire.Options{})
			srv.Fill(t, "theirs", tc.vectors)
			flags := onQdrant(srv, t.TempDir(), tc.flags...)
			for command, code := range map[string]int{"backfill": exitFailed, "verify": exitUnverified} {
				got, out, errs := kith(t, append(flags, command)...)
				if got != code || strings.Contains(out+errs, "--resume") { // nothing was begun that could be
					t.Errorf("%s: exit code %d: %s%s", command, got, out, errs)
				}
				for _, say := range tc.says {
					if !strings.Contains(errs, say) {
						t.Errorf("%s says %q, not %s", command, errs, say)
					}
				}
			}
		})
	}
}

// accountOf runs a backfill that prints JSON and returns its account.
func accountOf(t *testing.T, want int, args []string) backfill.Account {
	t.Helper()
	code, out, errs := kith(t, args...)
	var b server.Backfill
	if err := json.Unmarshal([]byte(out), &b); err != nil || code != want {
		t.Fatalf("backfill: %d, want %d: %v: %s%s", code, want, err, out, errs)
	}
	return b.Report
}

// sharedFacts are points as a memory writes them: two users with the same ids, which are an integer, a UUID and a text; a user with
// one point; a payload of a megabyte; a tag that is no list.
func sharedFacts() string {
	var b strings.Builder
	for _, user := range []string{"ann", "bob"} {
		for i, id := range []string{"17", teaID, "note/1"} {
			fmt.Fprintf(&b, `{"user_id": %q, "id": %q, "vector": [1, 0.%d], "payload": {"content": "x", "tags": ["tea"]}}`+"\n", user, id, i)
		}
	}
	fmt.Fprintf(&b, `{"user_id": "lone", "id": "1", "vector": [0, 1], "payload": {"content": %q, "state": "archived"}}`+"\n", strings.Repeat("x", 1<<20))
	return b.String()
}

// What cannot be a fact is skipped, what cannot be a value left out; all of it is counted and the first twenty are named. The rest
// is there, on both stores, and a verification agrees.
func TestBadPoints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "points.jsonl")
	if err := os.WriteFile(file, []byte(sharedFacts()), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := wire.Start(t, wire.Options{})
	point := func(id any, payload map[string]any, vector ...float32) wire.Point {
		p := wire.Point{ID: id, Payload: payload, Vectors: map[string]any{}}
		if len(vector) > 0 {
			p.Vectors["dense"] = vector
		}
		return p
	}
	raw := []wire.Point{
		point(uint64(100), map[string]any{"user_id": "zoe", "tags": "tea"}, 1, 0),
		point(uint64(101), map[string]any{"user_id": "zoe", "tags": true}, float32(math.NaN()), 1),
		point(uint64(102), map[string]any{"user_id": "zoe"}),
		point(uint64(103), map[string]any{"user_id": "zoe", "version": "new"}, 0, 0),
		point(uint64(104), map[string]any{"user_id": []any{"ann", "bob"}}, 1, 0),
	}
	for i := range 25 {
		raw = append(raw, point(uint64(200+i), map[string]any{"content": "whose?"}, 1, 0))
	}
	srv.Fill(t, "theirs", oneVector("dense", vdb.VectorDense, "Cosine"), raw...)
	for name, tc := range map[string]struct {
		flags                           []string
		facts, skipped, vectors, values int64
		users                           int64
		says                            []string
	}{
		// The values: a state.
		"embedded": {[]string{"--data-dir", t.TempDir(), "--log-level=error"}, 7, 0, 0, 1, 3, []string{`point "1": state: "archived": want active`}},
		// The values: a state, tags, a version. Without a usable vector: not a number, none, zero.
		"Qdrant": {onQdrant(srv, t.TempDir(), "--qdrant-vector=dense"), 11, 26, 3, 3, 4, []string{
			`point 104: user id is a list: want a text or an integer`, `point 200: no user id at user_id`,
			`point "101": tags at tags: true: want a text, or a list of texts or integers`, `point "103": version at version: "new": want an integer`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, errs := kith(t, append(slices.Clone(tc.flags), "publish", "--points", file)...); code != exitOK {
				t.Fatalf("publish: %d %s%s", code, out, errs)
			}
			a := accountOf(t, exitOK, append(slices.Clone(tc.flags), "backfill", "--json"))
			if a.Scanned != tc.facts+tc.skipped || a.Changed != tc.facts || a.Skipped != tc.skipped || a.BadVectors != tc.vectors || a.BadValues != tc.values || a.BadFacts != 0 {
				t.Errorf("want %+v: %+v", tc, a)
			}
			if named := min(tc.skipped, 20) + tc.vectors + tc.values; int64(len(a.Problems)) != named {
				t.Errorf("%d problems: want %d, the first twenty of each kind", len(a.Problems), named)
			}
			for _, say := range tc.says {
				if !slices.ContainsFunc(a.Problems, func(text string) bool { return strings.Contains(text, say) }) {
					t.Errorf("no problem says %s: %q", say, a.Problems)
				}
			}
			list, code, errs := verifyWith(t, append(slices.Clone(tc.flags), "verify", "--json"))
			if code != exitOK || len(list) != 1 || list[0].Coverage != 1 || list[0].Points != tc.facts || list[0].Users != tc.users || list[0].Skipped != tc.skipped {
				t.Errorf("verify: %d %s %+v", code, errs, list)
			}
		})
	}
}

// A scroll that fails half way is asked again while it may pass; for good, the command fails, says how to go on, and goes on there.
func TestScrollFailsHalfWayOverTheWire(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	var points []wire.Point
	for i := range 400 {
		points = append(points, wire.Point{ID: uint64(i), Payload: map[string]any{"user_id": fmt.Sprint("u", i%7)}, Vectors: map[string]any{"": []float32{1, float32(i)}}})
	}
	srv.Fill(t, "theirs", oneVector("", vdb.VectorDense, "Cosine"), points...)
	dir := t.TempDir()
	backfillOn := func(more ...string) []string {
		return onQdrant(srv, dir, append([]string{"backfill", "--no-neighbors", "--memory=1048576"}, more...)...)
	}
	srv.Inject(wire.Fault{Method: "Scroll", Times: 2})
	srv.Inject(wire.Fault{Method: "Scroll", Times: 2, Code: codes.Unavailable, Message: "restarting"})
	srv.Inject(wire.Fault{Method: "Scroll", Times: 1})
	srv.Inject(wire.Fault{Method: "Scroll", Code: codes.InvalidArgument, Message: "the shard is gone"})
	code, out, errs := kith(t, backfillOn()...)
	if code != exitFailed || !strings.Contains(errs, "the shard is gone") || !strings.Contains(out, "kith backfill --resume") {
		t.Fatalf("%d %s%s: want it to say why and how to go on", code, out, errs)
	}
	srv.Heal()
	a := accountOf(t, exitOK, backfillOn("--resume", "--json"))
	if a.Scanned != 400 || a.Changed+a.Unchanged != 400 || a.Resumed != 1 {
		t.Errorf("%+v", a)
	}
}

// On Qdrant too, what a repair makes of nothing is what a backfill makes, with neighbours and without.
func TestVerifyOnQdrant(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	var points []wire.Point
	for i := range 40 {
		payload := map[string]any{"user_id": fmt.Sprint("u", i%3), "tags": "tea", "batch_id": fmt.Sprint("b", i/6)}
		if i%8 == 0 {
			payload = map[string]any{"user_id": "u0"} // says nothing
		}
		points = append(points, wire.Point{ID: uint64(i), Payload: payload, Vectors: map[string]any{"": []float32{1, float32(i)}}})
	}
	srv.Fill(t, "theirs", oneVector("", vdb.VectorDense, "Cosine"), points...)
	for _, neighbors := range []bool{false, true} {
		repaired, filled := t.TempDir(), t.TempDir()
		accountOf(t, exitOK, onQdrant(srv, filled, "backfill", "--json", fmt.Sprint("--no-neighbors=", !neighbors)))
		verify := onQdrant(srv, repaired, "verify", "--json", fmt.Sprint("--neighbors=", neighbors))
		if list, code, errs := verifyWith(t, append(slices.Clone(verify), "--repair", "--dry-run")); code != exitDrifted || len(list) != 1 || list[0].Written["fact"] != 40 {
			t.Errorf("dry run: %d %s %+v", code, errs, list)
		}
		if list, code, errs := verifyWith(t, append(slices.Clone(verify), "--repair")); code != exitOK || len(list) != 2 || list[1].Repaired != 3 {
			t.Errorf("repair: %d %s %+v", code, errs, list)
		}
		if list, code, errs := verifyWith(t, verify); code != exitOK || list[0].Drifted != 0 || list[0].Coverage != 1 {
			t.Errorf("again: %d %s %+v", code, errs, list)
		}
		var digests []string
		for _, dir := range []string{repaired, filled} {
			_, out, _ := kith(t, onQdrant(srv, dir, "digest")...)
			digests = append(digests, strings.TrimSpace(out))
		}
		if digests[0] != digests[1] || digests[0] == "" {
			t.Errorf("neighbors %v: digests %q", neighbors, digests)
		}
	}
}
