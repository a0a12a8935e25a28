package projector

// NoteKind says what becomes of a part of an event that does not become what it says.
type NoteKind uint8

// The kinds of notes.
const (
	NoteDropped NoteKind = iota + 1 // it is left out of the graph
	NoteFolded                      // another part of the same fact says the same
	NoteRenamed                     // it counts as something else
	NoteClamped                     // its number is brought into range
)

// Note is a part of a good event that does not become what it says. Planning counts the same in [Report] and goes on.
type Note struct {
	Kind NoteKind
	Path string // JSON path from the top of the event, like data.facts[3].neighbors[0]
	Text string // the value, shortened, and what becomes of it
}

// Notes returns what of a valid event would be dropped, folded, renamed or clamped if the event were the first one of its
// user, in the order of the event. What depends on other events (a write that comes too late) is not among them.
func (p *Projector) Notes(ev Event) []Note {
	n := noting{Projector: p}
	switch data := ev.Data.(type) {
	case FactsWritten:
		for i := range data.Facts {
			n.fact(&data.Facts[i], i)
		}
	case SchemaUpserted:
		n.evidence(data.Evidence)
	case EntityAliased:
		n.unknownType("data.entity.type", data.Entity.Type)
		n.noop("data.alias", data.Entity, EntityName{data.Alias, data.Entity.Type})
	case EntityMerged:
		n.pair(data.Kept, data.Merged)
	case EntityUnmerged:
		n.pair(data.Kept, data.Merged)
	case EntityRetyped:
		n.unknownType("data.entity.type", data.Entity.Type)
		n.unknownType("data.to", data.To)
		n.noop("data.to", data.Entity, EntityName{data.Entity.Name, data.To})
	}
	return n.notes
}
