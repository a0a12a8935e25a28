package graphstore

import "slices"

// HardID is an identifier that names one thing in the world: an email address, a URL, a ticket number.
type HardID struct{ Kind, Value string }

// Entity is a person, organisation, place or thing that facts mention.
type Entity struct {
	ID       string   // unique in the space
	Type     string   // lower case; "thing" when unknown
	Name     string   // as shown: one of the spellings that facts use
	Norm     string   // normalised name, never empty
	Aliases  []string // other spellings that producers declared; sorted, distinct
	HardIDs  []HardID // sorted, distinct
	Mentions int      // facts present in memory that mention it
}

// Key returns the entity's identity in its space.
func (e Entity) Key() Key { return Key{Kind: KindEntity, Node: e.ID} }

// Equal reports whether two entities are the same in every stored part.
func (e Entity) Equal(o Entity) bool {
	return e.ID == o.ID && e.Type == o.Type && e.Name == o.Name && e.Norm == o.Norm && e.Mentions == o.Mentions &&
		slices.Equal(e.Aliases, o.Aliases) && slices.Equal(e.HardIDs, o.HardIDs)
}

// Topic is a tag that facts carry.
type Topic struct {
	ID    string // normalised tag, unique in the space
	Name  string // as shown: one of the spellings that facts use
	Facts int    // facts present in memory that carry it
}

// Key returns the topic's identity in its space.
func (t Topic) Key() Key { return Key{Kind: KindTopic, Node: t.ID} }
