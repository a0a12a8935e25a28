package eventcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/internal/eventdoc"
	"github.com/kithgraph/kith/projector"
)

// Config says what events are checked for.
type Config struct {
	// Limits are those of the service. Zero fields mean defaults.
	Limits projector.Limits
}

// Checker checks events one after the other and remembers what it takes to compare them. It is not safe for concurrent
// use. It keeps some 100 bytes for each event and each fact.
type Checker struct {
	cfg       Config
	projector *projector.Projector
	schema    *eventdoc.Schema
	events    map[string]seenEvent
	versions  map[versioned]seenVersion
	counts    map[string]int
}

// New returns a checker that has seen nothing. The projector is one with the settings of the service.
func New(p *projector.Projector, cfg Config) (*Checker, error) {
	if err := cfg.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("configure checker: %w", err)
	}
	schema, err := eventdoc.Events()
	if err != nil {
		return nil, err
	}
	return &Checker{cfg: cfg, projector: p, schema: schema, events: map[string]seenEvent{}, versions: map[versioned]seenVersion{},
		counts: map[string]int{}}, nil
}

// OtherType is what [Checker.Counts] has for events whose type is unknown or cannot be read.
const OtherType = "other"

// Counts returns how many events of each type were checked. The caller must not change it.
func (c *Checker) Counts() map[string]int { return c.counts }

// Check returns what there is to say of an event: first errors, then warnings, then notes.
func (c *Checker) Check(at Place, data []byte) []Finding {
	e := checking{Checker: c, at: at, data: data, doc: loose(data)}
	ev, rejected, err := projector.Decode(data, c.cfg.Limits)
	e.count()
	if err != nil {
		e.refused(err)
	}
	for _, r := range rejected {
		e.refused(r.Err)
	}
	if e.doc == nil { // no JSON
		return e.findings
	}
	e.repeated()
	e.unknownMembers()
	e.subject(ev, err == nil)
	if err != nil {
		return e.findings
	}
	e.mixedVersions(ev)
	if len(rejected) > 0 {
		return e.findings // places of notes count without the facts that are out
	}
	for _, n := range c.projector.Notes(ev) {
		e.say(Note, n.Path, n.Text, "")
	}
	return e.findings
}

// checking is the state of one call of Check.
type checking struct {
	*Checker
	at       Place
	data     []byte
	doc      map[string]any // the event, nil if it is no JSON object
	findings []Finding
}

// loose reads an event as far as it is a JSON object.
func loose(data []byte) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil
	}
	return doc
}

func (e *checking) count() {
	name, _ := e.doc["type"].(string)
	if e.schema.Defs.Get(name) == nil {
		name = OtherType
	}
	e.counts[name]++
}

// say adds a finding. The rule may begin with the value as errors show it.
func (e *checking) say(severity Severity, path, rule, hint string) {
	value, found := lookUp(e.doc, path)
	f := Finding{Severity: severity, Place: e.at, EventID: e.id(), Path: path, Rule: rule, Hint: hint}
	if found {
		f.Value = shown(value)
		f.Rule = withoutValue(rule, value)
	}
	e.findings = append(e.findings, f)
}

func (e *checking) id() string {
	switch id := e.doc["id"].(type) {
	case string:
		return id
	case json.Number:
		return id.String()
	default:
		return ""
	}
}

// refused explains an error of decoding.
func (e *checking) refused(err error) {
	var field *projector.FieldError
	var unknown *projector.UnknownTypeError
	switch {
	case errors.As(err, &unknown):
		e.unknownType(unknown)
	case errors.As(err, &field) && field.Path == "$":
		e.broken(field)
	case errors.As(err, &field):
		value, _ := lookUp(e.doc, field.Path)
		e.say(Error, field.Path, field.Problem, e.hint(field, value))
	default:
		e.say(Error, "", err.Error(), "")
	}
}
