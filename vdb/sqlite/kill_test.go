package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// The test binary started with this variable set is a writer, see writeUntilKilled.
const writerDirEnv = "KITH_TEST_WRITER_DIR"

const (
	newPerWrite = 15 // points a generation adds
	hotPoints   = 10 // points every generation rewrites
)

// generation returns the points of one write: its own ones, and the hot ones, all with the same version.
func generation(sp graphstore.Space, g int) []vdb.Point {
	points := make([]vdb.Point, 0, newPerWrite+hotPoints)
	payload := vdb.Payload{Content: fmt.Sprintf("coffee generation%d", g), Version: int64(g)}
	for i := range newPerWrite {
		points = append(points, vdb.Point{Space: sp, ID: fmt.Sprintf("%d-%d", g, i), Vector: []float32{1, float32(g), float32(i)}, Payload: payload})
	}
	payload.Tags = []string{"hot"}
	for i := range hotPoints {
		points = append(points, vdb.Point{Space: sp, ID: fmt.Sprint("hot ", i), Vector: []float32{1, float32(g), 0}, Payload: payload})
	}
	return points
}

var hotOnly = vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"hot"}}}}

// writeUntilKilled writes one generation after another, of two users, and prints each that the store has acknowledged.
func writeUntilKilled(dir string) {
	st, err := sqlite.New(filepath.Join(dir, "vectors.db"), sqlite.Config{})
	if err != nil {
		panic(err)
	}
	first, err := strconv.Atoi(os.Getenv(writerDirEnv + "_FROM"))
	if err != nil {
		panic(err)
	}
	a, b := mustSpace("a"), mustSpace("b")
	for g := first; ; g++ {
		if err := st.Upsert(noContext, append(generation(a, g), generation(b, g)...)); err != nil {
			panic(err)
		}
		fmt.Println(g)
	}
}

// TestKill kills a writing process with SIGKILL again and again, while this one reads the same file. What the writer had
// acknowledged must be there, no write may be there in part, and no read may see one in part.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{})
	next := 1
	for kill := range 8 {
		acknowledged := runWriter(t, st, filepath.Dir(path), next, 2+kill)
		checkIntegrity(t, path)
		next = 1 + checkGenerations(t, st, acknowledged)
	}
}

// runWriter starts a writer, reads the file until it has acknowledged some generations, kills it, and returns the last
// generation it acknowledged.
func runWriter(t *testing.T, st vdb.Store, dir string, from, acks int) (last int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), writerDirEnv+"="+dir, writerDirEnv+"_FROM="+strconv.Itoa(from))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	stop := make(chan struct{})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		switch last {
		case from: // the hot points exist from now on
			reader.Go(func() { readHotUntil(t, st, stop) })
		case from + acks:
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	reader.Wait()
	if err := cmd.Wait(); err == nil || last < from+acks {
		t.Fatalf("writer ended with %v after generation %d", err, last)
	}
	return last
}

func readHotUntil(t *testing.T, st vdb.Store, stop <-chan struct{}) {
	t.Helper()
	for {
		readHot(t, st)
		select {
		case <-stop:
			return
		default:
		}
	}
}

// readHot checks that each kind of read sees the hot points in one generation.
func readHot(t *testing.T, st vdb.Store) {
	t.Helper()
	sp := mustSpace("a")
	q := vdb.Query{Space: sp, Vector: []float32{1, 1, 1}, Limit: 100, Filter: hotOnly}
	ids := make([]string, hotPoints)
	for i := range ids {
		ids[i] = fmt.Sprint("hot ", i)
	}
	for name, read := range map[string]func() ([]vdb.Match, error){
		"Search": func() ([]vdb.Match, error) { return st.Search(t.Context(), q) },
		"Score":  func() ([]vdb.Match, error) { return st.Score(t.Context(), q, ids) },
		"Keyword": func() ([]vdb.Match, error) {
			return st.Keyword(t.Context(), vdb.KeywordQuery{Space: sp, Text: "coffee", Limit: 100, Filter: hotOnly})
		},
	} {
		matches, err := read()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(matches) != hotPoints {
			t.Errorf("%s: %d hot points, want %d", name, len(matches), hotPoints)
		}
		for _, m := range matches {
			if m.Payload.Version != matches[0].Payload.Version {
				t.Errorf("%s: generations %d and %d in one answer", name, m.Payload.Version, matches[0].Payload.Version)
			}
		}
	}
}

// checkIntegrity asks SQLite, through a connection of its own.
func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	var facts, vecs, words, points int
	for query, into := range map[string]any{
		"PRAGMA integrity_check":        &verdict,
		"SELECT count(*) FROM facts":    &facts,
		"SELECT count(*) FROM vecs":     &vecs,
		"SELECT count(*) FROM words":    &words,
		"SELECT sum(points) FROM users": &points,
	} {
		if err := db.QueryRowContext(t.Context(), query).Scan(into); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if verdict != "ok" {
		t.Errorf("integrity check: %s", verdict)
	}
	if facts != vecs || facts != words || facts != points {
		t.Errorf("%d facts, %d vectors, %d in the word index, %d counted", facts, vecs, words, points)
	}
}

// checkGenerations checks that all generations up to the last acknowledged are there as a whole, and at most one more,
// whose acknowledgement the kill cut off. It returns the last.
func checkGenerations(t *testing.T, st vdb.Store, acknowledged int) (last int) {
	t.Helper()
	for _, user := range []string{"a", "b"} {
		sp := mustSpace(user)
		byVersion := make(map[int64]int)
		page := vdb.Page{}
		for first := true; first || page.Next != ""; first = false {
			var err error
			if page, err = st.Scroll(t.Context(), vdb.ScrollQuery{Space: sp, Limit: 500, After: page.Next}); err != nil {
				t.Fatal(err)
			}
			for _, p := range page.Points {
				byVersion[p.Payload.Version]++
			}
		}
		last = len(byVersion)
		if last < acknowledged || last > acknowledged+1 {
			t.Fatalf("user %s: %d generations, acknowledged %d", user, last, acknowledged)
		}
		for g := 1; g <= last; g++ {
			want := newPerWrite
			if g == last {
				want += hotPoints
			}
			if n := byVersion[int64(g)]; n != want {
				t.Errorf("user %s: %d points of generation %d, want %d", user, n, g, want)
			}
		}
		found, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: sp, Text: fmt.Sprint("generation", last), Limit: 100})
		if err != nil || len(found) != newPerWrite+hotPoints {
			t.Errorf("user %s: keyword search found %d of the last generation, error %v", user, len(found), err)
		}
	}
	return last
}
