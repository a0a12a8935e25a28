package eventcheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kithgraph/kith/projector"
)

// unknownType explains a type that is none, with the one that it is likely meant to be.
func (e *checking) unknownType(err *projector.UnknownTypeError) {
	name, _ := e.doc["type"].(string)
	if err.Newer {
		e.say(Error, "type", "is of a higher major version than this version of kith knows", didYouMean(name[:strings.LastIndex(name, ".v")]+".v1"))
		return
	}
	var known []string
	for _, t := range projector.Types() {
		known = append(known, string(t))
	}
	hint := "the types are " + quoteAll(known)
	for _, spelled := range []string{name, "memory." + name, name + ".v1", "memory." + name + ".v1"} {
		if slices.Contains(known, spelled) {
			hint = didYouMean(spelled)
			break
		}
		if near := nearest(spelled, known, 6); near != "" {
			hint = didYouMean(near)
			break
		}
	}
	e.say(Error, "type", "is not an event type", hint)
}

// hint returns what to do about an error, for the usual mistakes, or "".
func (e *checking) hint(err *projector.FieldError, value any) string {
	name := err.Path[strings.LastIndexByte(err.Path, '.')+1:]
	switch {
	case strings.Contains(err.Problem, "RFC 3339 with a zone"):
		if _, present := lookUp(e.doc, err.Path); present {
			return timeHint(value)
		}
	case strings.HasPrefix(err.Problem, "is missing"):
		return e.missingHint(err.Path, name)
	case name == "op":
		return opHint(value)
	case strings.HasSuffix(err.Problem, "want an array"):
		if text, ok := value.(string); ok {
			return fmt.Sprintf("a list stands in brackets, of one item too: [%s]", shown(text))
		}
	case strings.HasSuffix(err.Problem, "want a number"), strings.Contains(err.Problem, "want an integer"):
		return numberHint(value)
	case strings.Contains(err.Problem, "has a NUL"):
		return "take the character U+0000 out where the text comes from: stores end a text there"
	case strings.Contains(err.Problem, "surrogate pair"):
		return "the text was cut inside a character: cut by code points, not by UTF-16 units"
	case strings.HasSuffix(err.Problem, "want each fact once in an event"):
		return "join what the event says of the fact, or send two events"
	}
	return ""
}

// missingHint looks for a member that is not there where producers put it by mistake.
func (e *checking) missingHint(path, name string) string {
	above, _ := lookUp(e.doc, strings.TrimSuffix(strings.TrimSuffix(path, name), "."))
	object, ok := above.(map[string]any)
	if !ok {
		object = e.doc
	}
	var there []string
	for key := range object {
		there = append(there, key)
	}
	slices.Sort(there)
	if near := nearest(name, there, 3); near != "" {
		return fmt.Sprintf("is %q meant to be %q?", near, name)
	}
	if _, top := e.doc[name]; top && path == "data."+name {
		return fmt.Sprintf("%s stands at the top of the event: it belongs into data", name)
	}
	return ""
}

func opHint(value any) string {
	op, _ := value.(string)
	switch strings.ToLower(op) {
	case "delete", "remove":
		return "a fact is deleted by an event of its own: " + string(projector.TypeFactDeleted)
	case "add", "insert", "create", "upsert", "write", "put", "set":
		return `"add" states the whole fact: what it leaves out is cleared`
	case "update", "patch", "merge", "modify", "edit":
		return `"update" states parts of the fact: what it leaves out stays`
	default:
		return ""
	}
}

func numberHint(value any) string {
	switch v := value.(type) {
	case string:
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			return "without quotes: " + v
		}
	case json.Number:
		if x, err := v.Float64(); err == nil && x == float64(int64(x)) {
			return fmt.Sprintf("without a fraction or exponent: %d", int64(x))
		}
	}
	return ""
}

var (
	dayAlone = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	noColon  = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+[+-][0-9]{2})([0-9]{2})$`)
	spaced   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9]`)
)

// timeHint returns how a time is written.
func timeHint(value any) string {
	switch v := value.(type) {
	case json.Number:
		return epochHint(v)
	case string:
		switch {
		case v == "":
			return "leave it out, or null, if there is no such time"
		case dayAlone.MatchString(v):
			return fmt.Sprintf("a day alone has no zone: %sT00:00:00Z if it begins in UTC", v)
		case spaced.MatchString(v):
			return "a T stands between day and time, and no space before the zone"
		case noColon.MatchString(v):
			return "a colon stands in the offset: " + noColon.ReplaceAllString(v, "$1:$2")
		}
		if _, err := time.Parse("2006-01-02T15:04:05", v); err == nil {
			return fmt.Sprintf("write the zone of the clock that it was read from: %sZ if that was UTC, %s+02:00 if it was two hours ahead", v, v)
		}
	}
	return ""
}

// epochHint reads a number as seconds, milliseconds or microseconds since 1970, whichever comes to our times.
func epochHint(n json.Number) string {
	x, err := n.Float64()
	if err != nil {
		return ""
	}
	for _, unit := range []struct {
		name string
		size float64
	}{{"seconds", 1}, {"milliseconds", 1e3}, {"microseconds", 1e6}} {
		if s := x / unit.size; s > 1e8 && s < 1e10 { // 1973 to 2286
			return fmt.Sprintf("in %s since 1970 that is %q", unit.name, time.UnixMicro(int64(s*1e6)).UTC().Format(time.RFC3339Nano))
		}
	}
	return ""
}
