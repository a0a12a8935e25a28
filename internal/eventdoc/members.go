package eventdoc

import "github.com/kithgraph/kith/projector"

// member is what a Go type does not say of one of its members.
type member struct {
	kind kind
	text string
	most int // items of a list; 0 for any number
}

// objectNames holds the name of the definition of each Go type that stands inside another.
var objectNames = map[string]string{
	"FactWrite": "fact", "EntityRef": "entity", "RelationRef": "relation", "NeighborRef": "neighbor", "TripleClaim": "triple",
	"EntityName": "entity_name",
}

const (
	versionText = "Grows with each write of the same thing. Left out or null: the event's time in microseconds. State it in all events of a thing or in none."
	factIDText  = "The fact."
	reasonText  = "Why, in words; at most 2000 bytes of UTF-8."
	timeText    = "RFC 3339 with a zone, kept to the microsecond. null: no such time. "
)

var decisionVersion = member{text: versionText}

// members holds every member of the Go types by type and JSON name.
var members = map[string]map[string]member{
	"FactsWritten": {
		"batch_id": {kind: anID, text: "Events that share it are one batch. Left out or null: the event's id stands for it where a fact is added, and an updated fact stays in its batch."},
		"facts":    {text: "Facts that were persisted together, each once; their order is the order of the batch.", most: projector.DefaultMaxFacts},
	},
	"FactWrite": {
		"id":          {kind: anID, text: "Id of the fact's point in the vector store. A UUID in any spelling is the UUID in lower case with hyphens."},
		"op":          {kind: anOp, text: "add states the whole fact (what it leaves out is cleared) and revives a retired or deleted one; update states parts (what it leaves out stays)."},
		"version":     {text: versionText},
		"agent_id":    {kind: anID, text: "Agent that the fact belongs to. null: none."},
		"source_id":   {kind: anID, text: "Document, conversation or message that the fact was taken from; memory.source.retracted.v1 withdraws by it. null: none."},
		"episode_id":  {kind: anID, text: "Episode that the fact belongs to. null: none."},
		"content":     {kind: aText, text: "The fact in words. Not kept in the graph: the vector store is the truth for it."},
		"memory_at":   {text: timeText + "When what the fact tells happened."},
		"valid_from":  {text: timeText + "Since when it is true."},
		"valid_to":    {text: timeText + "From when on it is no longer true."},
		"recorded_at": {text: timeText + "When it was recorded."},
		"tags":        {kind: aText, text: "Topics. null and []: none."},
		"entities":    {text: "What the fact mentions. null and []: nothing."},
		"relations":   {text: "Ties to other facts. null and []: none."},
		"neighbors":   {text: "Facts that were near this one when it was written. null and []: none."},
		"triples":     {text: "Statements about two things that the fact makes. null and []: none."},
	},
	"EntityRef": {
		"name":    {kind: aText, text: "As the fact spells it. Without a visible character the mention is dropped and counted."},
		"type":    {kind: aText, text: "Like person, organization, place or project. Left out, null or not known: thing."},
		"aliases": {kind: aText, text: "Other names of the same thing."},
		"ids":     {text: "Ids that the thing has elsewhere, by kind: email, url, ticket, ..."},
	},
	"RelationRef": {
		"to":     {kind: anID, text: "The other fact. It may come later."},
		"type":   {kind: aTypeTag, text: "causes, elaborates, contrasts, same_series or related. Another name is kept beside related."},
		"weight": {text: "Above 1 counts as 1; zero and less drop the relation, counted. Left out or null: 1."},
	},
	"NeighborRef": {
		"id":    {kind: anID, text: "The other fact. It may come later."},
		"score": {text: "Cosine. Above 1 counts as 1; zero and less drop the neighbour, counted."},
	},
	"TripleClaim": {
		"subject":    {text: "What is spoken of."},
		"predicate":  {kind: aText, text: "What is said, like works_at."},
		"object":     {text: "Whom or what it is said with."},
		"confidence": {text: "Above 1 counts as 1; zero and less drop the triple, counted."},
		"sentence":   {kind: aText, text: "The words it was taken from."},
		"valid_from": {text: timeText + "Since when it is true."},
		"valid_to":   {text: timeText + "From when on it is no longer true."},
	},
	"FactSuperseded": {
		"fact_id": {kind: anID, text: "The fact that is retired."},
		"by":      {kind: anID, text: "The newer fact, another one. null: none is known."},
		"version": {text: versionText},
	},
	"FactShadowed":    {"fact_id": {kind: anID, text: factIDText}, "version": {text: versionText}},
	"FactRestored":    {"fact_id": {kind: anID, text: factIDText}, "version": {text: versionText}},
	"FactDeleted":     {"fact_id": {kind: anID, text: factIDText}, "version": {text: versionText}},
	"SourceRetracted": {"source_id": {kind: anID, text: "The source_id of the facts that were taken from it."}},
	"EntityName": {
		"name": {kind: aName, text: "Any spelling of the entity; has a visible character."},
		"type": {kind: aText, text: "As in a mention. Left out, null or not known: thing."},
	},
	"EntityAliased": {
		"entity":   {text: "The entity."},
		"alias":    {kind: aName, text: "Its other name; has a visible character."},
		"version":  decisionVersion,
		"evidence": {kind: aReason, text: reasonText},
	},
	"EntityMerged": {
		"kept":     {text: "The entity that both are from now on."},
		"merged":   {text: "The entity that redirects to it; another one than kept."},
		"version":  decisionVersion,
		"evidence": {kind: aReason, text: reasonText},
	},
	"EntityUnmerged": {
		"kept":     {text: "The one entity."},
		"merged":   {text: "The other entity; another one than kept."},
		"version":  decisionVersion,
		"evidence": {kind: aReason, text: reasonText},
	},
	"EntityRetyped": {
		"entity":   {text: "The entity, of the type that it has."},
		"to":       {kind: aName, text: "The type that it is of; another one."},
		"version":  decisionVersion,
		"evidence": {kind: aReason, text: reasonText},
	},
	"SchemaUpserted": {
		"schema_id": {kind: anID, text: "The schema."},
		"level":     {kind: aLevel, text: "The level of summary; there is one."},
		"title":     {kind: aName, text: "The summary in words; has a visible character."},
		"evidence":  {kind: anID, text: "Ids of the facts that it was derived from. Repeats count once.", most: projector.DefaultMaxFacts},
		"version":   {text: versionText},
	},
	"SchemaDeleted": {"schema_id": {kind: anID, text: "The schema."}, "version": {text: versionText}},
}
