package projector

import "github.com/kithgraph/kith/graphstore"

// MaxEvidenceBytes is the longest evidence of a decision on an entity, in bytes of UTF-8.
const MaxEvidenceBytes = 2000

// EntityAliased is the decision that an entity goes by another name too.
type EntityAliased struct {
	Entity   EntityName      `json:"entity"`
	Alias    string          `json:"alias"` // has a visible character
	Version  Optional[int64] `json:"version,omitzero"`
	Evidence string          `json:"evidence,omitempty"` // why, in words; at most [MaxEvidenceBytes]
}

// EntityMerged is the decision that two entities are one. The merged one stays and redirects to the kept one.
type EntityMerged struct {
	Kept     EntityName      `json:"kept"`
	Merged   EntityName      `json:"merged"` // another entity than Kept
	Version  Optional[int64] `json:"version,omitzero"`
	Evidence string          `json:"evidence,omitempty"` // why, in words; at most [MaxEvidenceBytes]
}

// EntityUnmerged is the decision that two entities are two, whatever merged them.
type EntityUnmerged struct {
	Kept     EntityName      `json:"kept"`
	Merged   EntityName      `json:"merged"` // another entity than Kept
	Version  Optional[int64] `json:"version,omitzero"`
	Evidence string          `json:"evidence,omitempty"` // why, in words; at most [MaxEvidenceBytes]
}

// EntityRetyped is the decision that an entity is of another type.
type EntityRetyped struct {
	Entity   EntityName      `json:"entity"`
	To       string          `json:"to"` // another type than the entity's
	Version  Optional[int64] `json:"version,omitzero"`
	Evidence string          `json:"evidence,omitempty"` // why, in words; at most [MaxEvidenceBytes]
}

// Type returns [TypeEntityAliased].
func (EntityAliased) Type() Type { return TypeEntityAliased }

// Type returns [TypeEntityMerged].
func (EntityMerged) Type() Type { return TypeEntityMerged }

// Type returns [TypeEntityUnmerged].
func (EntityUnmerged) Type() Type { return TypeEntityUnmerged }

// Type returns [TypeEntityRetyped].
func (EntityRetyped) Type() Type { return TypeEntityRetyped }

func decodeEntityAliased(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := EntityAliased{Entity: f.entityName("entity"), Alias: f.text("alias"),
		Version: f.optionalInt("version"), Evidence: f.optionalText("evidence").Value}
	return checked(d, data, f.err)
}

func decodeEntityMerged(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := EntityMerged{Kept: f.entityName("kept"), Merged: f.entityName("merged"),
		Version: f.optionalInt("version"), Evidence: f.optionalText("evidence").Value}
	return checked(d, data, f.err)
}

func decodeEntityUnmerged(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := EntityUnmerged{Kept: f.entityName("kept"), Merged: f.entityName("merged"),
		Version: f.optionalInt("version"), Evidence: f.optionalText("evidence").Value}
	return checked(d, data, f.err)
}

func decodeEntityRetyped(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := EntityRetyped{Entity: f.entityName("entity"), To: f.text("to"),
		Version: f.optionalInt("version"), Evidence: f.optionalText("evidence").Value}
	return checked(d, data, f.err)
}

func (a EntityAliased) validate(ev Event) error {
	if err := a.Entity.validate(); err != nil {
		return under("entity", err)
	}
	if err := checkName("alias", a.Alias); err != nil {
		return err
	}
	return checkDecision(ev, a.Version, a.Evidence)
}

func (m EntityMerged) validate(ev Event) error {
	if err := checkPair(m.Kept, m.Merged); err != nil {
		return err
	}
	return checkDecision(ev, m.Version, m.Evidence)
}

func (u EntityUnmerged) validate(ev Event) error {
	if err := checkPair(u.Kept, u.Merged); err != nil {
		return err
	}
	return checkDecision(ev, u.Version, u.Evidence)
}

func (r EntityRetyped) validate(ev Event) error {
	if err := r.Entity.validate(); err != nil {
		return under("entity", err)
	}
	if err := checkName("to", r.To); err != nil {
		return err
	}
	if typeWord(r.To) == typeWord(r.Entity.Type) {
		return badField("to", "%s is the type the entity has: want another one", graphstore.Shorten(r.To))
	}
	return checkDecision(ev, r.Version, r.Evidence)
}

func checkPair(kept, merged EntityName) error {
	if err := kept.validate(); err != nil {
		return under("kept", err)
	}
	if err := merged.validate(); err != nil {
		return under("merged", err)
	}
	if kept.same(merged) {
		return badField("merged", "%s is the kept entity itself: want another entity", graphstore.Shorten(merged.Name))
	}
	return nil
}

func checkDecision(ev Event, version Optional[int64], evidence string) error {
	if err := checkText("evidence", evidence); err != nil {
		return err
	}
	if len(evidence) > MaxEvidenceBytes {
		return badField("evidence", "%s has %d bytes: want at most %d", graphstore.Shorten(evidence), len(evidence), MaxEvidenceBytes)
	}
	return ev.checkVersion(version)
}

func (a EntityAliased) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		EntityAliased
	}{userID, a}
}

func (m EntityMerged) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		EntityMerged
	}{userID, m}
}

func (u EntityUnmerged) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		EntityUnmerged
	}{userID, u}
}

func (r EntityRetyped) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		EntityRetyped
	}{userID, r}
}
