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

// checkTexts applies [CheckText] to everything in the record that is text.
func (c Change) checkTexts() error {
	for _, t := range c.texts() {
		if err := CheckText(t.text); err != nil {
			return fmt.Errorf("%s: %s %w", c.Key(), t.name, err)
		}
	}
	return nil
}

func (c Change) texts() []namedText {
	switch {
	case c.Fact != nil:
		f := c.Fact
		texts := []namedText{{"agent", f.AgentID}, {"source", f.SourceID}, {"episode", f.EpisodeID}, {"batch", f.BatchID},
			{"superseded by", f.SupersededBy}, {"event of state", f.Registers.State.EventID},
			{"event of base", f.Registers.Base.EventID}}
		for _, fs := range f.Registers.Fields {
			texts = append(texts, namedText{"field", string(fs.Field)}, namedText{"event of field", fs.Stamp.EventID})
		}
		return texts
	case c.Entity != nil:
		e := c.Entity
		texts := []namedText{{"type", e.Type}, {"name", e.Name}, {"normalised name", e.Norm}}
		for _, a := range e.Aliases {
			texts = append(texts, namedText{"alias", a})
		}
		for _, h := range e.HardIDs {
			texts = append(texts, namedText{"hard id kind", h.Kind}, namedText{"hard id", h.Value})
		}
		return texts
	case c.Topic != nil:
		return []namedText{{"name", c.Topic.Name}}
	default:
		return []namedText{{"asserter", c.Edge.Asserter.ID}, {"detail", c.Edge.Detail}}
	}
}
