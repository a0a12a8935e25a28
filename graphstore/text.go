package graphstore

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckText returns an error that shows the value (shortened) and the rule it breaks, or nil: text that a store keeps is
// valid UTF-8 without NUL, of any length. Stores written in C end a string at a NUL and would keep half of it, and a
// value that is not UTF-8 comes back from JSON as another one. The caller prefixes the field's name.
func CheckText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is not valid UTF-8", Shorten(s))
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return fmt.Errorf("%s has a NUL at byte %d", Shorten(s), i)
	}
	return nil
}

type namedText struct{ name, text string }

// textsRoom is how many texts nearly every record has at most, so that checking them needs no memory of its own.
const textsRoom = 10

// checkTexts applies [CheckText] to everything in the record that is text.
func (c Change) checkTexts() error {
	var room [textsRoom]namedText
	for _, t := range c.appendTexts(room[:0]) {
		if err := CheckText(t.text); err != nil {
			return fmt.Errorf("%s: %s %w", c.Key(), t.name, err)
		}
	}
	return nil
}

func (c Change) appendTexts(texts []namedText) []namedText {
	switch {
	case c.Fact != nil:
		f := c.Fact
		texts = append(texts, namedText{"agent", f.AgentID}, namedText{"source", f.SourceID}, namedText{"episode", f.EpisodeID},
			namedText{"batch", f.BatchID}, namedText{"superseded by", f.SupersededBy},
			namedText{"event of state", f.Registers.State.EventID}, namedText{"event of base", f.Registers.Base.EventID},
			namedText{"source of state", f.Registers.State.Source}, namedText{"source of base", f.Registers.Base.Source})
		for _, fs := range f.Registers.Fields {
			texts = append(texts, namedText{"field", string(fs.Field)}, namedText{"event of field", fs.Stamp.EventID},
				namedText{"source of field", fs.Stamp.Source})
		}
	case c.Entity != nil:
		e := c.Entity
		texts = append(texts, namedText{"type", e.Type}, namedText{"name", e.Name}, namedText{"normalised name", e.Norm})
		for _, a := range e.Aliases {
			texts = append(texts, namedText{"alias", a})
		}
		for _, h := range e.HardIDs {
			texts = append(texts, namedText{"hard id kind", h.Kind}, namedText{"hard id", h.Value})
		}
	case c.Topic != nil:
		texts = append(texts, namedText{"name", c.Topic.Name})
	case c.Schema != nil:
		s := c.Schema
		texts = append(texts, namedText{"level", s.Level}, namedText{"title", s.Title}, namedText{"event", s.Stamp.EventID},
			namedText{"source", s.Stamp.Source})
	case c.Merge != nil:
		m := c.Merge
		texts = append(texts, namedText{"step", string(m.Step)}, namedText{"evidence", m.Evidence}, namedText{"merged name", m.MergedName},
			namedText{"kept name", m.KeptName}, namedText{"event", m.Stamp.EventID}, namedText{"source", m.Stamp.Source})
	case c.Edge != nil:
		texts = append(texts, namedText{"asserter", c.Edge.Asserter.ID}, namedText{"detail", c.Edge.Detail})
	}
	return texts
}
