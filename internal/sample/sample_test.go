package sample

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func mustPoints(t *testing.T) map[string]Point {
	t.Helper()
	points, err := Points()
	if err != nil {
		t.Fatal(err)
	}
	byID := make(map[string]Point, len(points))
	for _, p := range points {
		if _, twice := byID[p.ID]; twice {
			t.Errorf("point %s stands twice", p.ID)
		}
		byID[p.ID] = p
	}
	return byID
}

func mustQuestions(t *testing.T) []Question {
	t.Helper()
	questions, err := Questions()
	if err != nil {
		t.Fatal(err)
	}
	return questions
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// The README states the counts; this holds it to them.
func TestReadmeStatesTheCounts(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	events, kinds, users := decodeEvents(t), map[string]int{}, map[string]int{}
	updates := 0
	for _, e := range events {
		kinds[e.Type]++
		for _, f := range e.Data.Facts {
			if f.Op == "update" {
				updates++
			} else {
				users[e.Data.UserID]++
			}
		}
	}
	questions := map[string]int{}
	for _, q := range mustQuestions(t) {
		questions[q.Kind]++
	}
	facts, points := users["devika"]+users["ines"]+users["jiwon"], len(mustPoints(t))
	if facts < 280 || facts > 330 || questions[KindNoOverlap] < 15 {
		t.Errorf("%d facts, want 280 to 330; %d questions without overlap, want 15", facts, questions[KindNoOverlap])
	}
	for _, row := range []string{
		fmt.Sprintf("| facts written | %d (devika %d, ines %d, jiwon %d) |", facts, users["devika"], users["ines"], users["jiwon"]),
		fmt.Sprintf("| facts written again (`update`) | %d |", updates),
		fmt.Sprintf("| write batches | %d |", kinds["memory.facts.written.v1"]),
		fmt.Sprintf("| superseded | %d |", kinds["memory.fact.superseded.v1"]),
		fmt.Sprintf("| deleted | %d |", kinds["memory.fact.deleted.v1"]),
		fmt.Sprintf("| points | %d |", points),
		fmt.Sprintf("| questions | %d lexical, %d no-overlap, %d multi-hop |", questions[KindLexical], questions[KindNoOverlap], questions[KindMultiHop]),
	} {
		if !strings.Contains(string(readme), row) {
			t.Errorf("README.md lacks the row %q", row)
		}
	}
}

func TestEventsAreWellFormedAndInOrder(t *testing.T) {
	seen, last := map[string]bool{}, time.Time{}
	for _, e := range decodeEvents(t) {
		if e.SpecVersion != "1.0" || e.Source == "" || e.ID == "" || seen[e.ID] {
			t.Errorf("event %q: specversion %q, source %q, seen before: %t", e.ID, e.SpecVersion, e.Source, seen[e.ID])
		}
		seen[e.ID] = true
		at, err := time.Parse(time.RFC3339Nano, e.Time)
		if err != nil || at.Before(last) {
			t.Errorf("event %s: time %q after %v: %v", e.ID, e.Time, last, err)
		}
		last = at
		if n := len(e.Data.Facts); e.Type == "memory.facts.written.v1" && (n < 1 || n > 8) {
			t.Errorf("event %s: batch of %d facts", e.ID, n)
		}
		for _, f := range e.Data.Facts {
			for _, text := range []string{f.MemoryAt, f.ValidFrom, f.RecordedAt} {
				if text == "" {
					continue
				}
				if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
					t.Errorf("fact %s: %v", f.ID, err)
				}
			}
		}
	}
	if end, err := time.Parse(time.RFC3339, AsOf); err != nil || !last.Before(end) {
		t.Errorf("AsOf %s is not after the last event at %v (%v)", AsOf, last, err)
	}
}

func TestEventsGiveFreshBytes(t *testing.T) {
	first := Events()
	first[0][0] = 'x'
	if second := Events(); second[0][0] != '{' {
		t.Errorf("a caller's change shows in the next call: %.20s", second[0])
	}
}

// The points must be what replaying the events leaves behind.
func TestPointsAreTheFinalState(t *testing.T) {
	facts, points := replay(t, decodeEvents(t)), mustPoints(t)
	for id, f := range facts {
		p, stored := points[id]
		if stored == (f.state == "deleted") {
			t.Errorf("fact %s is %s, stored: %t", id, f.state, stored)
		}
		if !stored {
			continue
		}
		validTo, _ := p.Payload["valid_to"].(string)
		got := fmt.Sprintln(p.UserID, p.Payload["state"], p.Payload["version"], p.Payload["batch_id"], validTo, p.Payload["content"])
		want := fmt.Sprintln(f.user, f.state, f.version, f.batch, f.validTo, f.content)
		if got != want {
			t.Errorf("point %s:\n got %swant %s", id, got, want)
		}
		for name, value := range p.Payload {
			if !strings.HasSuffix(name, "_at") && !strings.HasPrefix(name, "valid_") {
				continue
			}
			if _, err := time.Parse(time.RFC3339Nano, value.(string)); err != nil {
				t.Errorf("point %s, %s: %v", id, name, err)
			}
		}
	}
	for id := range points {
		if facts[id] == nil {
			t.Errorf("point %s was never written", id)
		}
	}
}

func TestVectorsAreUnitVectors(t *testing.T) {
	check := func(name string, v []float32) {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if len(v) != Dimension || !(math.Abs(math.Sqrt(sum)-1) < 1e-4) {
			t.Errorf("%s: %d values, length %v", name, len(v), math.Sqrt(sum))
		}
	}
	for id, p := range mustPoints(t) {
		check("point "+id, p.Vector)
	}
	for _, q := range mustQuestions(t) {
		check("question "+q.ID, q.Vector)
	}
}

// A relation or neighbour names another fact of the same user, and a neighbour's score is the cosine of the two.
func TestReferencesStayWithinTheUser(t *testing.T) {
	events, points := decodeEvents(t), mustPoints(t)
	facts, compared := replay(t, events), 0
	for _, e := range events {
		for _, f := range e.Data.Facts {
			for _, r := range f.Relations {
				if to := facts[r.To]; to == nil || to.user != e.Data.UserID || r.To == f.ID || r.Weight <= 0 || r.Weight > 1 {
					t.Errorf("fact %s of %s: relation %+v", f.ID, e.Data.UserID, r)
				}
			}
			for _, n := range f.Neighbors {
				to := facts[n.ID]
				if to == nil || to.user != e.Data.UserID || n.ID == f.ID || n.Score < 0.6 || n.Score > 1 {
					t.Errorf("fact %s of %s: neighbor %+v", f.ID, e.Data.UserID, n)
					continue
				}
				// A fact written twice has another vector now than when the score was taken.
				a, b := points[f.ID], points[n.ID]
				if facts[f.ID].updated || to.updated || a.ID == "" || b.ID == "" {
					continue
				}
				compared++
				if got := cosine(a.Vector, b.Vector); math.Abs(got-n.Score) > 1e-4 {
					t.Errorf("fact %s, neighbor %s: score %v, cosine %v", f.ID, n.ID, n.Score, got)
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d scores could be compared with a cosine", compared)
	}
}

// Users share names and tags on purpose: a leak between them would show.
func TestUsersShareNamesAndTags(t *testing.T) {
	names, tags := map[string]map[string]bool{}, map[string]map[string]bool{}
	note := func(in map[string]map[string]bool, key, user string) {
		if in[key] == nil {
			in[key] = map[string]bool{}
		}
		in[key][user] = true
	}
	for _, e := range decodeEvents(t) {
		for _, f := range e.Data.Facts {
			for _, entity := range f.Entities {
				note(names, entity.Name, e.Data.UserID)
			}
			for _, tag := range f.Tags {
				note(tags, tag, e.Data.UserID)
			}
		}
	}
	if len(names["Maya"]) != 3 || len(tags["work"]) != 3 {
		t.Errorf("Maya is known to %v, work is a tag of %v; want all three users", names["Maya"], tags["work"])
	}
}
