package projector

import "github.com/kithgraph/kith/graphstore"

// TripleClaim is a statement about two things that a fact makes.
type TripleClaim struct {
	Subject    EntityRef                    `json:"subject"`
	Predicate  string                       `json:"predicate"`
	Object     EntityRef                    `json:"object"`
	Confidence Optional[float64]            `json:"confidence,omitzero"` // clamped into (0, 1]
	Sentence   string                       `json:"sentence,omitempty"`  // the words it was taken from
	ValidFrom  Optional[graphstore.Instant] `json:"valid_from,omitzero"`
	ValidTo    Optional[graphstore.Instant] `json:"valid_to,omitzero"`
}

func readTripleClaim(n *node) (TripleClaim, error) {
	f, err := objectFields(n)
	if err != nil {
		return TripleClaim{}, err
	}
	t := TripleClaim{
		Subject: f.entity("subject"), Predicate: f.text("predicate"), Object: f.entity("object"),
		Confidence: f.optionalNumber("confidence"), Sentence: f.optionalText("sentence").Value,
		ValidFrom: f.optionalTime("valid_from"), ValidTo: f.optionalTime("valid_to"),
	}
	return t, f.err
}

// entity reads a required entity.
func (f *fields) entity(key string) EntityRef {
	n := f.take(key)
	if f.err != nil {
		return EntityRef{}
	}
	if n == nil {
		f.fail(key, n, wantObject)
		return EntityRef{}
	}
	ref, err := readEntityRef(n)
	if err != nil {
		f.err = under(key, err)
	}
	return ref
}

func (t *TripleClaim) validate() error {
	if err := t.Subject.validate(); err != nil {
		return under("subject", err)
	}
	if err := checkText("predicate", t.Predicate); err != nil {
		return err
	}
	if err := t.Object.validate(); err != nil {
		return under("object", err)
	}
	if err := checkText("sentence", t.Sentence); err != nil {
		return err
	}
	if err := checkInstant(t.ValidFrom.Value); err != nil {
		return under("valid_from", err)
	}
	return under("valid_to", checkInstant(t.ValidTo.Value))
}
