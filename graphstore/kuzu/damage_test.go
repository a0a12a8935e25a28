package kuzu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// vanish are the ways in which a file can go from under an open store.
var vanish = map[string]func(path string) error{
	"file removed":      os.Remove,
	"directory removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	"replaced": func(path string) error {
		other := path + "-other"
		empty, err := emptyGraph()
		return errors.Join(err, os.WriteFile(other, empty, 0o600), os.Rename(other, path))
	},
	"directory replaced by a file": func(path string) error {
		return errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
	},
	"log removed": func(path string) error { return os.Remove(path + walSuffix) },
}

// TestFileThatVanishesIsDamage: what is written after that would be lost, so nothing is, and no new file is made.
func TestFileThatVanishesIsDamage(t *testing.T) {
	for name, remove := range vanish {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dir", "graph")
			s := mustOpen(t, path, testConfig())
			mustApply(t, s, some...)
			if err := remove(s.path); err != nil {
				t.Fatal(err)
			}
			before := sizeOf(s.path)
			for round := range 2 {
				if err := s.Apply(t.Context(), []graphstore.Change{factOf(bob, "f")}); !errors.Is(err, graphstore.ErrDamaged) {
					t.Errorf("apply %d: got %v, want ErrDamaged", round, err)
				}
				if err := s.Checkpoint(t.Context()); !errors.Is(err, graphstore.ErrDamaged) {
					t.Errorf("checkpoint %d: got %v, want ErrDamaged", round, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if after := sizeOf(s.path); after != before {
				t.Errorf("the file has %d bytes after %d", after, before)
			}
		})
	}
}

// sizeOf returns the size of a file, -1 if there is none.
func sizeOf(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return -1
}

// TestFileThatVanishesBeforeAReopenIsNotMadeAnew removes the file in the middle of a transaction that fails, which the store
// answers by opening its file again.
func TestFileThatVanishesBeforeAReopenIsNotMadeAnew(t *testing.T) {
	for name, remove := range vanish {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dir", "graph")
			var broken bool
			cfg := testConfig()
			cfg.hooks.statement = func(string) error {
				if broken {
					return errors.Join(errBroken, remove(path))
				}
				return nil
			}
			s := mustOpen(t, path, cfg)
			mustApply(t, s, some...)
			head := headOf(t, s)
			onWriter(t, s, func() { broken = true })
			if err := s.Apply(t.Context(), []graphstore.Change{factOf(bob, "f")}); !errors.Is(err, errBroken) {
				t.Fatalf("got %v, want the injected error", err)
			}
			onWriter(t, s, func() { broken = false })
			before := sizeOf(path)
			if err := s.Apply(t.Context(), []graphstore.Change{factOf(bob, "f")}); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("apply: got %v, want ErrDamaged", err)
			}
			if err := s.LoadAll(t.Context(), func(graphstore.Change) error { return nil }); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("load: got %v, want ErrDamaged", err)
			}
			if got, err := s.Head(t.Context()); !errors.Is(err, graphstore.ErrDamaged) {
				t.Errorf("head: got %+v, %v, want ErrDamaged: it was %+v", got, err, head)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if after := sizeOf(path); after != before {
				t.Errorf("the file has %d bytes after %d", after, before)
			}
		})
	}
}

// TestRecordsThatAreMissingAreDamage takes something out of the file by hand, or changes it.
func TestRecordsThatAreMissingAreDamage(t *testing.T) {
	all := []graphstore.Change{
		graphstore.PutFact(ada, graphstore.Fact{ID: "f1", State: graphstore.StateActive, AgentID: "agent"}), factOf(ada, "f2"),
		graphstore.PutTopic(ada, graphstore.Topic{ID: "t", Name: "name"}), edgeOf(ada, "f1", "f2", 0.5), factOf(bob, "f1"),
	}
	all = append(all, minorRecords(ada)...)
	for _, damage := range []string{
		"MATCH ()-[e:RELATED]->() DELETE e",
		"MATCH ()-[e:RELATED]->() SET e.weight = 0.25",
		"MATCH ()-[e:RELATED]->() SET e.dst = 99",
		"MATCH ()-[e:RELATED]->() SET e.asserter = 99",
		"MATCH ()-[e:RELATED]->() SET e.type = 'unknown'",
		"MATCH (m:Memory {key: 'f1'}) SET m.state = 'unknown'",
		"MATCH (m:Memory {key: 'f1'}) SET m.state = 'deleted'",
		"MATCH (m:Memory {key: 'f1'}) SET m.agent_id = 99",
		"MATCH (m:Memory {key: 'f1'}) SET m.space = 99",
		"MATCH (m:Memory {key: 'f2'}) SET m.key = 'f1'",
		"MATCH (m:Memory {key: 'f1'}) SET m.valid_to = NULL",
		"MATCH (m:Memory {key: 'f1'}) SET m.base_event_at = 1",
		"MATCH (m:Memory {key: 'f1'}) SET m.state_source = 99",
		"MATCH (t:Topic) DELETE t",
		"MATCH (s:Schema)-[e:DERIVED_FROM]->(:Memory) DELETE e",
		"MATCH (s:Schema)-[e:DERIVED_FROM]->(:VdbRef) SET e.dst = e.src",
		"MATCH (s:Schema) SET s.deleted = 2",
		"MATCH (s:Schema) SET s.rank = -1",
		"MATCH (v:VdbRef) SET v.key = 'f8'",
		"MATCH (m:MergeLog) SET m.kept = 'e3'",
		"MATCH (m:MergeLog) SET m.undone = 1",
		"MATCH (m:MergeLog) DELETE m",
		"MATCH (t:Tombstone) SET t.key = 'doc'",
		"MATCH (t:Tombstone) SET t.up_to = t.up_to + 1",
		"MATCH (t:Text {text: 'name'}) DELETE t",
		"MATCH (t:Text {text: 'name'}) SET t.text = 'other'",
		"MATCH (t:Text {text: 'name'}) SET t.rest = 99",
		"MATCH (s:Space {user_id: 'bob'}) DELETE s",
		"MATCH (s:Space {user_id: 'bob'}) SET s.user_id = 'ada'",
		"MATCH (s:Space {user_id: 'bob'}) SET s.user_id = 'bobby'",
	} {
		path := filepath.Join(t.TempDir(), "graph")
		s := mustOpen(t, path, testConfig())
		mustApply(t, s, all...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := withEngine(path, damage); err != nil {
			t.Fatal(err)
		}
		if err := loadAgain(path); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", damage, err)
		}
	}
}

// minorRecords is one record of each kind of which there are few, with evidence of either sort: a fact f1 must be there.
func minorRecords(s graphstore.Space) []graphstore.Change {
	stamp := graphstore.Stamp{Version: 7, Rank: graphstore.RankAdd, EventID: "e7", At: 8, Source: "doc"}
	by := graphstore.Asserter{Kind: graphstore.BySchema, ID: "s1"}
	return []graphstore.Change{
		graphstore.PutSchema(s, graphstore.Schema{ID: "s1", Level: graphstore.LevelSchema, Title: "Ships", Stamp: stamp}),
		graphstore.PutRef(s, graphstore.Ref{ID: "f9"}),
		graphstore.PutMerge(s, graphstore.Merge{Merged: "e1", Kept: "e2", Step: graphstore.StepMerged, Evidence: "she said so", MergedName: "Gracie",
			KeptName: "Grace", Stamp: stamp}),
		graphstore.PutTombstone(s, graphstore.Tombstone{Source: "doc", At: 9}),
		graphstore.PutEdge(s, graphstore.Edge{Source: "s1", Target: "f1", Type: graphstore.DerivedFrom, Asserter: by, Weight: 1}),
		graphstore.PutEdge(s, graphstore.Edge{Source: "s1", Target: "f9", Type: graphstore.DerivedFromRef, Asserter: by, Weight: 1}),
	}
}

// loadAgain opens a file and reads all of it.
func loadAgain(path string) error {
	s, err := Open(path, testConfig())
	if err != nil {
		return err
	}
	defer s.Close()
	return s.LoadAll(context.Background(), func(graphstore.Change) error { return nil })
}
