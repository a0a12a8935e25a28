package projector

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError says which part of an event breaks which rule. It is permanent: the same bytes fail the same way again.
type FieldError struct {
	Path    string // JSON path from the top of the event, like data.facts[3].memory_at
	Problem string // the value, shortened, and the rule it breaks
}

// Error returns the path and the problem.
func (e *FieldError) Error() string { return e.Path + " " + e.Problem }

// badField returns a FieldError whose path is relative to the value being read.
func badField(path, format string, args ...any) error {
	return &FieldError{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// under puts the path of a FieldError below a member or item of the value around it.
func under(prefix string, err error) error {
	var fe *FieldError
	if !errors.As(err, &fe) {
		return err
	}
	switch {
	case fe.Path == "":
		return &FieldError{prefix, fe.Problem}
	case strings.HasPrefix(fe.Path, "["):
		return &FieldError{prefix + fe.Path, fe.Problem}
	default:
		return &FieldError{prefix + "." + fe.Path, fe.Problem}
	}
}

// underItem puts the path of a FieldError below an item of a list.
func underItem(list string, i int, err error) error {
	return under(fmt.Sprintf("%s[%d]", list, i), err)
}

// UnknownTypeError reports an event of a type, or of a higher major version of a type, that this version does not know.
// It is permanent for this version; a later one may project the same bytes.
type UnknownTypeError struct {
	Type string // as the event spells it, shortened and quoted
	// Newer is set if the type is known in a lower major version.
	Newer bool
}

// Error names the type.
func (e *UnknownTypeError) Error() string {
	if e.Newer {
		return fmt.Sprintf("type %s: higher major version than this projector knows", e.Type)
	}
	return fmt.Sprintf("type %s: unknown event type", e.Type)
}

// Rejected is a fact of an otherwise good event that cannot be projected.
type Rejected struct {
	Index  int    // its place in data.facts
	FactID string // as the event spells it; empty if it has none that could be read
	Err    error  // a *FieldError with the full path
}
