package projector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotesSayWhatBecomesOfIt(t *testing.T) {
	fact := FactWrite{
		ID: "5C56C793-69F3-4FBF-87E6-C4BF54C28C26", Op: OpAdd,
		Tags: Some([]string{"Work", "\u200b", "work"}),
		Entities: Some([]EntityRef{
			{Name: "Asha", Type: "person", Aliases: []string{"A", " "}}, {Name: "", Type: "starship"},
			{Name: "asha", Type: "person"}, {Name: "Kith"}, {Name: "Acme Inc", Type: "company"}, {Name: "ACME", Type: "starship"},
		}),
		Relations: Some([]RelationRef{
			{To: "g", Type: "causes", Weight: Some(0.)}, {To: "g", Type: "causes", Weight: Some(2.)}, {To: "g", Type: "causes"},
			{To: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Type: "causes"}, {To: "g", Type: "likes"}, {To: "g", Type: "related"},
		}),
		Neighbors: Some([]NeighborRef{{"g", .8}, {"h", .74}, {"i", -1}, {"j", 1.5}, {"g", .9}, {"5c56c79369f34fbf87e6c4bf54c28c26", .9}, {"k", .76}}),
		Triples: Some([]TripleClaim{{Subject: EntityRef{Name: "a"}, Predicate: "p", Object: EntityRef{Name: "b"}, Confidence: Some(0.)},
			{Subject: EntityRef{Name: "a"}, Predicate: "p", Object: EntityRef{Name: "b"}, Confidence: Some(1.2)}}),
	}
	const f = "data.facts[1]"
	tests := []struct {
		name string
		data Data
		want []Note
	}{
		{"nothing to say", written(tagged(OpAdd, "f", "work")), nil},
		{"a fact of everything", written(add("x"), fact), []Note{
			{NoteDropped, f + ".tags[1]", `"\u200b" has no visible character: it is dropped`},
			{NoteFolded, f + ".tags[2]", `"work" is the same as tags[0]: they are one`},
			{NoteDropped, f + ".entities[0].aliases[1]", `" " has no visible character: it is dropped`},
			{NoteDropped, f + ".entities[1].name", `"" has no visible character: it is dropped`},
			{NoteFolded, f + ".entities[2].name", `"asha" is the same as entities[0]: they are one`},
			{NoteRenamed, f + ".entities[3].type", `is not stated: the entity is a thing`},
			{NoteRenamed, f + ".entities[5].type", `"starship" is not an entity type: it counts as thing`},
			{NoteDropped, f + ".relations[0].weight", `0 is not above 0: the relation is dropped`},
			{NoteClamped, f + ".relations[1].weight", `2 is above 1: it counts as 1`},
			{NoteFolded, f + ".relations[2]", `says the same as relations[1]: they are one, with the greater weight`},
			{NoteDropped, f + ".relations[3].to", `"5c56c793-69f3-4fbf-87e6-c4bf54c28c26" is the fact itself: it is dropped`},
			{NoteRenamed, f + ".relations[4].type", `"likes" is not a relation type: it counts as related, with the name beside it`},
			{NoteFolded, f + ".relations[5]", `says the same as relations[4]: they are one, with the greater weight`},
			{NoteDropped, f + ".neighbors[1].score", `0.74 is below 0.75: no edge`},
			{NoteDropped, f + ".neighbors[2].score", `-1 is not above 0: the neighbour is dropped`},
			{NoteClamped, f + ".neighbors[3].score", `1.5 is above 1: it counts as 1`},
			{NoteFolded, f + ".neighbors[4]", `is the same fact as neighbors[0]: they are one, with the greater score`},
			{NoteDropped, f + ".neighbors[5].id", `"5c56c793-69f3-4fbf-87e6-c4bf54c28c26" is the fact itself: it is dropped`},
			{NoteDropped, f + ".neighbors[6]", `is not among the best 2: no edge`}, // j has 1, g has .9
			{NoteDropped, f + ".triples[0].confidence", `0 is not above 0: the triple is dropped`},
			{NoteClamped, f + ".triples[1].confidence", `1.2 is above 1: it counts as 1`},
		}},
		{"a schema", SchemaUpserted{SchemaID: "s", Level: "l6", Title: "t", Evidence: []string{"a", "b", "a"}}, []Note{
			{NoteFolded, "data.evidence[2]", `"a" is the same fact as evidence[0]: they are one`},
		}},
		{"an alias", EntityAliased{Entity: EntityName{"a", "person"}, Alias: "b"}, nil},
		{"an alias that is the name", EntityAliased{Entity: EntityName{"Asha Rao", "person"}, Alias: "asha-rao"}, []Note{
			{NoteDropped, "data.alias", `makes it the entity "person:asha rao" that it is already: nothing changes`},
		}},
		{"a merge over a legal suffix", EntityMerged{Kept: EntityName{"Acme", "organization"}, Merged: EntityName{"Acme Inc.", "company"}}, []Note{
			{NoteDropped, "data.merged", `makes it the entity "organization:acme" that it is already: nothing changes`},
		}},
		{"a merge", EntityMerged{Kept: EntityName{"a", "starship"}, Merged: EntityName{Name: "b"}}, []Note{
			{NoteRenamed, "data.kept.type", `"starship" is not an entity type: it counts as thing`},
			{NoteRenamed, "data.merged.type", `is not stated: the entity is a thing`},
		}},
		{"a retype to what it is", EntityRetyped{Entity: EntityName{Name: "a"}, To: "starship"}, []Note{
			{NoteRenamed, "data.entity.type", `is not stated: the entity is a thing`},
			{NoteRenamed, "data.to", `"starship" is not an entity type: it counts as thing`},
			{NoteDropped, "data.to", `makes it the entity "thing:a" that it is already: nothing changes`},
		}},
		{"a retype", EntityRetyped{Entity: EntityName{"a", "person"}, To: "starship"}, []Note{
			{NoteRenamed, "data.to", `"starship" is not an entity type: it counts as thing`},
		}},
		{"a deletion", FactDeleted{FactID: "f"}, nil},
	}
	p := mustNew(t, Config{MaxNeighbors: 2})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, p.Notes(event(t, "e", 1, tt.data))); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
