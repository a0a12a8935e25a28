package projector

import "github.com/kithgraph/kith/graphstore"

// FactSuperseded says that a newer fact retired this one. The retired fact stays, with the end of its validity derived
// from the newer one ([graphstore.Snapshot.ValidTo]).
type FactSuperseded struct {
	FactID  string          `json:"fact_id"`
	By      string          `json:"by,omitempty"` // the newer fact; empty if none is known
	Version Optional[int64] `json:"version,omitzero"`
}

// FactShadowed says that a fact is hidden from retrieval.
type FactShadowed struct {
	FactID  string          `json:"fact_id"`
	Version Optional[int64] `json:"version,omitzero"`
}

// FactRestored says that a shadowed fact is back. It does not bring back a deleted one; only an add does.
type FactRestored struct {
	FactID  string          `json:"fact_id"`
	Version Optional[int64] `json:"version,omitzero"`
}

// FactDeleted says that a fact is gone. A tombstone that remembers the version stays.
type FactDeleted struct {
	FactID  string          `json:"fact_id"`
	Version Optional[int64] `json:"version,omitzero"`
}

// Type returns [TypeFactSuperseded].
func (FactSuperseded) Type() Type { return TypeFactSuperseded }

// Type returns [TypeFactShadowed].
func (FactShadowed) Type() Type { return TypeFactShadowed }

// Type returns [TypeFactRestored].
func (FactRestored) Type() Type { return TypeFactRestored }

// Type returns [TypeFactDeleted].
func (FactDeleted) Type() Type { return TypeFactDeleted }

func decodeFactSuperseded(d *decoding) (Data, error) {
	f := fields{node: d.node}
	data := FactSuperseded{FactID: f.id("fact_id"), By: f.optionalID("by").Value, Version: f.optionalInt("version")}
	return checked(d, data, f.err)
}

func decodeFactShadowed(d *decoding) (Data, error) {
	id, version, err := factAndVersion(d)
	return checked(d, FactShadowed{id, version}, err)
}

func decodeFactRestored(d *decoding) (Data, error) {
	id, version, err := factAndVersion(d)
	return checked(d, FactRestored{id, version}, err)
}

func decodeFactDeleted(d *decoding) (Data, error) {
	id, version, err := factAndVersion(d)
	return checked(d, FactDeleted{id, version}, err)
}

func factAndVersion(d *decoding) (string, Optional[int64], error) {
	f := fields{node: d.node}
	id, version := f.id("fact_id"), f.optionalInt("version")
	return id, version, f.err
}

// checked returns the data if it could be read and breaks no rule.
func checked(d *decoding, data Data, err error) (Data, error) {
	if err != nil {
		return nil, err
	}
	return data, data.validate(d.event)
}

func (s FactSuperseded) validate(ev Event) error {
	if err := checkOptionalID("by", s.By); err != nil {
		return err
	}
	if s.By != "" && graphstore.CanonicalFactID(s.By) == graphstore.CanonicalFactID(s.FactID) {
		return badField("by", "%s is the fact itself: want another fact", graphstore.Shorten(s.By))
	}
	return checkLifecycle(ev, s.FactID, s.Version)
}

func (s FactShadowed) validate(ev Event) error { return checkLifecycle(ev, s.FactID, s.Version) }
func (s FactRestored) validate(ev Event) error { return checkLifecycle(ev, s.FactID, s.Version) }
func (s FactDeleted) validate(ev Event) error  { return checkLifecycle(ev, s.FactID, s.Version) }

func checkLifecycle(ev Event, factID string, version Optional[int64]) error {
	if err := graphstore.CheckID(factID); err != nil {
		return badField("fact_id", "%s", err)
	}
	return ev.checkVersion(version)
}

func (s FactSuperseded) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		FactSuperseded
	}{userID, s}
}

func (s FactShadowed) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		FactShadowed
	}{userID, s}
}

func (s FactRestored) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		FactRestored
	}{userID, s}
}

func (s FactDeleted) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		FactDeleted
	}{userID, s}
}
