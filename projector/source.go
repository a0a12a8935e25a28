package projector

import "github.com/kithgraph/kith/graphstore"

// SourceRetracted says that what a source (a document, a conversation, a message) asserted is withdrawn: every write of
// that source whose event is not later than this one. It needs the event's time.
type SourceRetracted struct {
	SourceID string `json:"source_id"`
}

// Type returns [TypeSourceRetracted].
func (SourceRetracted) Type() Type { return TypeSourceRetracted }

func decodeSourceRetracted(d *decoding) (Data, error) {
	f := fields{node: d.node}
	return checked(d, SourceRetracted{SourceID: f.id("source_id")}, f.err)
}

func (s SourceRetracted) validate(Event) error {
	if err := graphstore.CheckID(s.SourceID); err != nil {
		return badField("source_id", "%s", err)
	}
	return nil
}

func (s SourceRetracted) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
		SourceRetracted
	}{userID, s}
}
