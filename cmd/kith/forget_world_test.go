package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

// mark is part of every text of ann's that nobody else has. It is in one word with the rest, in lower case, so that it is in
// the index of words too.
const mark = "qzannqz"

// forgetWorld is a data directory of ann, who is to be forgotten, and bob, who has facts of the same ids, and mentions,
// tags and words of the same names beside his own.
type forgetWorld struct {
	t     *testing.T
	dir   string
	facts int // of each

	p  *process
	cl *client
}

// newForgetWorld publishes the events and stores the points; nothing is projected yet.
func newForgetWorld(t *testing.T, facts int) *forgetWorld {
	t.Helper()
	w := &forgetWorld{t: t, dir: t.TempDir(), facts: facts}
	var events, points bytes.Buffer
	for _, user := range []string{"ann", "bob"} {
		for from := 0; from < facts; from += factsPerEvent {
			events.Write(append(w.event(user, from, fmt.Sprintf("%s-event-%d", own(user), from)), '\n'))
		}
		for i := range facts {
			line, err := json.Marshal(map[string]any{
				"user_id": user, "id": w.id(user, i), "vector": []float32{float32(i%7) + 1, float32(i % 11), 1},
				"payload": map[string]any{
					"content": w.content(user, i), "tags": []string{"shared tag", own(user) + "tag"}, "source_id": own(user) + "-source", "mood": own(user) + "mood",
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			points.Write(append(line, '\n'))
		}
	}
	files := t.TempDir()
	eventsFile, pointsFile := filepath.Join(files, "events.jsonl"), filepath.Join(files, "points.jsonl")
	for file, data := range map[string][]byte{eventsFile: events.Bytes(), pointsFile: points.Bytes()} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=warn", "publish", "--points", pointsFile, eventsFile); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
	return w
}

const factsPerEvent = 5

// own begins what a user shares with nobody.
func own(user string) string {
	if user == "ann" {
		return mark
	}
	return "own" + user
}

// id is a third each: one that both have, a UUID of the user's, a text of the user's.
func (w *forgetWorld) id(user string, i int) string {
	switch i % 3 {
	case 0:
		return fmt.Sprintf("shared-fact-%d", i)
	case 1:
		return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s %d", user, i)).String()
	default:
		return fmt.Sprintf("%s-fact-%d", own(user), i)
	}
}

func (w *forgetWorld) content(user string, i int) string {
	return fmt.Sprintf("shared words of a fact and %sword%d", own(user), i)
}

// event writes facts from one on.
func (w *forgetWorld) event(user string, from int, id string) []byte {
	w.t.Helper()
	var facts []any
	for i := from; i < min(from+factsPerEvent, w.facts); i++ {
		facts = append(facts, map[string]any{
			"id": w.id(user, i), "op": "add", "version": i + 1, "content": w.content(user, i),
			"source_id": fmt.Sprintf("%s-source-%d", own(user), i%4), "episode_id": own(user) + "-episode",
			"tags": []string{"shared tag", fmt.Sprintf("%stag%d", own(user), i%5)},
			"entities": []map[string]any{
				{"name": "Shared Person", "type": "person", "aliases": []string{own(user) + " alias"}},
				{"name": fmt.Sprintf("%s-Person %d", own(user), i%9), "type": "person", "ids": map[string]string{"email": own(user) + "@example.com"}},
			},
			"relations": []map[string]any{{"to": w.id(user, i/2), "type": "elaborates", "weight": .8}, {"to": w.id(user, i+3), "type": own(user) + "-relation"}},
		})
	}
	payload, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": id, "source": "test", "type": "memory.facts.written.v1",
		"time": time.Unix(1_780_000_000+int64(from), 0).UTC(), "data": map[string]any{"user_id": user, "batch_id": own(user) + "-batch-" + id, "facts": facts},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return payload
}

// start starts a service.
func (w *forgetWorld) start() {
	w.t.Helper()
	w.p, w.cl = serve(w.t, w.dir)
}

// stream connects to the stream of the running service.
func (w *forgetWorld) stream() jetstream.JetStream {
	w.t.Helper()
	nc, js := jetStreamOf(w.t, w.dir)
	w.t.Cleanup(nc.Close)
	return js
}

// put publishes what kith's own publisher would refuse.
func (w *forgetWorld) put(js jetstream.JetStream, subject string, payload []byte) uint64 {
	w.t.Helper()
	ack, err := js.Publish(context.Background(), subject, payload)
	if err != nil {
		w.t.Fatal(err)
	}
	return ack.Sequence
}

// putOddities publishes an event of each user on a subject that says nothing, and ones that become dead letters.
func (w *forgetWorld) putOddities(js jetstream.JetStream) (last uint64) {
	for _, user := range []string{"ann", "bob"} {
		w.put(js, "memory.events.imported", w.event(user, 0, own(user)+"-imported"))
		naive := strings.Replace(string(w.event(user, 0, own(user)+"-naive")), `"op":"add"`, `"op":"add","memory_at":"2026-01-01T00:00:00"`, 1)
		w.put(js, projector.Subject(user, projector.TypeFactsWritten), []byte(naive))
		unknown := fmt.Sprintf(`{"specversion": "1.0", "id": "%s-unknown", "type": "memory.facts.danced.v1", "data": {"user_id": %q, "step": "%s-step"}}`, own(user), user, own(user))
		last = w.put(js, projector.Subject(user, projector.TypeFactsWritten), []byte(unknown))
	}
	return last
}

// marks counts, by class of files, how often ann's mark is in the files of the data directory. It is another search than that
// of the command.
func (w *forgetWorld) marks() map[string]int {
	w.t.Helper()
	texts := [][]byte{[]byte(mark)}
	for i := 1; i < w.facts; i += 3 * (1 + w.facts/60) { // UUIDs have no mark: a sample, as text and as bytes
		id := uuid.MustParse(w.id("ann", i))
		texts = append(texts, []byte(id.String()), id[:])
	}
	counts := map[string]int{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreGone(err)
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(w.dir, path)
		for _, text := range texts {
			if n := bytes.Count(data, text); n > 0 {
				counts[classOf(rel)] += n
			}
		}
		return ignoreGone(err)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return counts
}

// others is what must be the same of everybody else, whatever happens to ann.
type others struct {
	Digest   string
	Messages []feed.KeptMessage
	Answers  [][]server.Result
}

// ofOthers looks at bob.
func (w *forgetWorld) ofOthers(js jetstream.JetStream) others {
	w.t.Helper()
	ctx := context.Background()
	var o others
	var err error
	if o.Digest, err = w.cl.digest(ctx, "bob"); err != nil {
		w.t.Fatal(err)
	}
	eraser, err := feed.NewEraser(js, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, stream := range feed.Streams() {
		if _, err := eraser.EachKept(ctx, stream, func(m feed.KeptMessage) error {
			if m.UserID != "ann" {
				o.Messages = append(o.Messages, m)
			}
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	k := 20
	for _, req := range []server.SearchRequest{
		{UserID: "bob", Vector: []float32{1, 2, 3}, K: &k}, {UserID: "bob", Text: "shared words", K: &k}, {UserID: "bob", Text: own("bob") + "word7", K: &k},
	} {
		a, err := w.cl.search(ctx, req)
		if err != nil || len(a.Results) == 0 || (req.Vector != nil && a.GraphRerank.Status != "ok") {
			w.t.Fatalf("search %q: %d results, %+v, %v", req.Text, len(a.Results), a.GraphRerank, err)
		}
		for i := range a.Results {
			if req.Text != "" { // BM25 counts the words of all users: scores move when others write, places and points do not
				a.Results[i].Score, a.Results[i].GraphScore = 0, 0
			}
		}
		o.Answers = append(o.Answers, a.Results)
	}
	return o
}

// sameOthers compares.
func (w *forgetWorld) sameOthers(want, got others) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("bob (-before +after):\n%.3000s", diff)
	}
}

// forget runs the command and returns its receipt.
func (w *forgetWorld) forget(code int, args ...string) server.Forgotten {
	w.t.Helper()
	all := append([]string{"--data-dir", w.dir, "--log-level=warn", "forget", "ann", "--json"}, args...)
	got, out, errs := kith(w.t, all...)
	if got != code {
		w.t.Fatalf("%v: %d, want %d\n%.3000s%s", args, got, code, out, errs)
	}
	var f server.Forgotten
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		w.t.Fatalf("%v: %v\n%.1000s", args, err, out)
	}
	w.t.Logf("%v took %d ms: %+v", args, f.TookMS, f.Steps)
	return f
}
