package sqlite_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// secrets returns what the file must not hold after an erasure: words, whole contents, ids, and vectors as SQLite has them.
func secrets(points []vdb.Point) map[string][]byte {
	all := map[string][]byte{}
	for _, p := range points {
		all["content of "+p.ID] = []byte(p.Payload.Content)
		all["source of "+p.ID] = []byte(p.Payload.SourceID)
		all["id of "+p.ID] = []byte(p.ID)
		for _, word := range strings.Fields(p.Payload.Content) {
			all["word "+word] = []byte(word)
		}
		norm := 0.0
		for _, x := range p.Vector {
			norm += float64(x) * float64(x)
		}
		var unit []byte
		for _, x := range p.Vector {
			unit = binary.LittleEndian.AppendUint32(unit, math.Float32bits(float32(float64(x)/math.Sqrt(norm))))
		}
		all["vector of "+p.ID] = unit[:12]
	}
	return all
}

// found returns the secrets that are in the files of a store.
func found(t *testing.T, path string, all map[string][]byte) []string {
	t.Helper()
	var hits []string
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, secret := range all {
			if at := bytes.Index(data, secret); at >= 0 {
				hits = append(hits, fmt.Sprintf("%s in %s at %d", name, filepath.Base(file), at))
			}
		}
	}
	return hits
}

// secretPoints are points of a user whose every word, id and vector is its own.
func secretPoints(user string, n, round int) []vdb.Point {
	points := make([]vdb.Point, n)
	for i := range points {
		word := func(k int) string { return fmt.Sprintf("%xqz%s%dx%dv%d", (i*7+k)%16, user, i, k, round) }
		points[i] = vdb.Point{
			Space: mustSpace(user), ID: fmt.Sprintf("%s-point-%d", user, i),
			Vector: []float32{float32(i) + .37, float32(round) - 1.91, float32(i%7) + .13, 1},
			Payload: vdb.Payload{
				Content: strings.Join([]string{word(1), word(2), word(3)}, " "), SourceID: fmt.Sprintf("%s-source-%d-%d", user, i, round),
				Tags: []string{word(4)}, Extra: map[string]any{"note": word(5)},
			},
		}
	}
	return points
}

// Nothing of an erased user is in the file or beside it: neither what was there last, nor what had been replaced or deleted
// before. It is read while the store is open. Without the erasure the same search finds all of it.
func TestEraseLeavesNoBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{})
	put := func(points []vdb.Point) {
		t.Helper()
		if err := st.Upsert(t.Context(), points); err != nil {
			t.Fatal(err)
		}
	}
	const n = 700
	old, last, others := secretPoints("ann", n, 1), secretPoints("ann", n, 2), secretPoints("bob", n, 1)
	put(old)
	put(others)
	put(last)
	if err := st.Delete(t.Context(), mustSpace("ann"), []string{last[0].ID, last[1].ID}); err != nil {
		t.Fatal(err)
	}
	all := secrets(append(old, last...))
	if hits := found(t, path, all); len(hits) < len(secrets(last[2:])) {
		t.Fatalf("only %d of %d secrets are found before the erasure: the search proves nothing", len(hits), len(all))
	}
	keyword := vdb.KeywordQuery{Space: mustSpace("bob"), Text: others[5].Payload.Content, Limit: 3}
	before, err := st.Keyword(t.Context(), keyword)
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	got, err := st.Erase(t.Context(), mustSpace("ann"))
	if err != nil || got != n-2 {
		t.Fatalf("erased %d, %v: want %d", got, err, n-2)
	}
	if hits := found(t, path, all); len(hits) > 0 {
		t.Errorf("%d of %d secrets are still there, like %s", len(hits), len(all), hits[0])
	}
	after, err := st.Keyword(t.Context(), keyword)
	if err != nil || len(after) != len(before) || after[0].ID != before[0].ID {
		t.Errorf("bob's words: %d hits, %v: want %d", len(after), err, len(before))
	}
	if hits := found(t, path, secrets(others[:20])); len(hits) == 0 {
		t.Error("the search does not find bob, who is there")
	}
}

// The word index keeps of a word what differs from the word before it, so each of these begins like no other. Deleted rows
// are only marked in it until a tenth of a segment is marked: the words of a small user outlive their rows.
func TestEraseLeavesNoWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{})
	var points []vdb.Point
	words := map[string][]byte{}
	for c := 'c'; c <= 't'; c++ {
		word := string(c) + "wordofann"
		words[word] = []byte(word)
		points = append(points, vdb.Point{Space: mustSpace("ann"), ID: string(c), Vector: []float32{1, 1}, Payload: vdb.Payload{Content: strings.ToUpper(word)}})
	}
	for i := range 900 {
		points = append(points, vdb.Point{Space: mustSpace("bob"), ID: fmt.Sprint(i), Vector: []float32{1, 2}, Payload: vdb.Payload{Content: fmt.Sprintf("b%d", i)}})
	}
	if err := st.Upsert(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, path, words); len(hits) < len(words) { // in upper case in the content, so these are of the index
		t.Fatalf("only %d of %d words are found before the erasure: the search proves nothing", len(hits), len(words))
	}
	if _, err := st.Erase(t.Context(), mustSpace("ann")); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, path, words); len(hits) > 0 {
		t.Errorf("%d of %d words are still there, like %s", len(hits), len(words), hits[0])
	}
	if m, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: mustSpace("bob"), Text: "b77", Limit: 3}); err != nil || len(m) != 1 {
		t.Errorf("bob's words: %d hits, %v: want 1", len(m), err)
	}
}

// An erasure that ended after its rows were deleted is completed by the next one, though the user is no longer there.
func TestEraseCompletesAnInterruptedOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{})
	points := secretPoints("ann", 300, 1)
	if err := st.Upsert(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if err := st.Delete(t.Context(), mustSpace("ann"), idsOf(points)); err != nil { // what the rows' transaction does, and no more
		t.Fatal(err)
	}
	if hits := found(t, path, secrets(points)); len(hits) == 0 {
		t.Fatal("deleting alone leaves nothing: the test proves nothing")
	}
	if _, err := st.Erase(t.Context(), mustSpace("nobody")); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, path, secrets(points)); len(hits) > 0 {
		t.Errorf("%d secrets are still there, like %s", len(hits), hits[0])
	}
}

// A cancelled erasure says so, and the store goes on.
func TestEraseCancelled(t *testing.T) {
	st := open(t, filepath.Join(t.TempDir(), "vectors.db"), sqlite.Config{})
	points := secretPoints("ann", 50, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Erase(ctx, mustSpace("ann")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if err := st.Upsert(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if n, err := st.Erase(t.Context(), mustSpace("ann")); err != nil || n != 50 {
		t.Errorf("erased %d, %v: want 50", n, err)
	}
}

func idsOf(points []vdb.Point) []string {
	ids := make([]string, len(points))
	for i, p := range points {
		ids[i] = p.ID
	}
	return ids
}
