package eventdoc

import (
	"fmt"
	"strings"
)

// Unsayable lists the rules of the contract that the schema does not express: an event that breaks only these passes
// the schema and is refused by kith. The schema refuses nothing that kith takes.
func Unsayable() []string {
	return []string{
		"**Bytes.** Ids have at most 512 bytes of UTF-8 and the evidence of a decision 2,000; a schema counts characters. An integer that stands for an id has at most 512 digits.",
		"**Spelling of integers.** Where an integer stands, kith takes `17` and not `17.0` or `1.7e1`, which a schema cannot tell apart; versions have 64 bits, and some validators round that far up.",
		"**JSON itself.** At most 1 MiB an event and 32 levels; each key once in an object; valid UTF-8, no half of a surrogate pair and no NUL, in members that kith does not know either.",
		"**Each fact once** in an event, whatever the spelling of its UUID.",
		"**Not with itself.** `by` is not the fact itself; `kept` and `merged` are two entities after normalisation; `to` is another type than the entity has.",
		"**Names** of entities in decisions, aliases and titles of schemas have a visible character: a zero-width space is none.",
		"**Days.** 30 February is a time only to validators that do not assert `format`. 0001-01-01T00:00:00Z, in any zone, is no time: it is what some languages write for none. In UTC the year is 0 to 9999.",
		"**Times as versions.** Where no version is stated, the event's time is 1970 or later.",
		"**Numbers** fit a float64.",
	}
}

// page returns the text beside the schema.
func page() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# The wire contract, for machines

| file | what |
|---|---|
| [%[1]s](%[1]s) | JSON Schema (2020-12) of every event; `+"`#/$defs/<type>`"+` is one type's event whole, `+"`#/$defs/<type>.data`"+` its data |
| [%[2]s](%[2]s) | AsyncAPI 3.0: subjects, headers, dead letters; its payloads are the definitions of the schema |

What the types mean is in [../events.md](../events.md). `+"`kith events validate FILE`"+` checks events against every rule and explains what it finds.
These files are generated from the Go types (`+"`go generate ./internal/eventdoc`"+`); a test compares them.

## What the schema cannot say

The schema refuses nothing that kith takes. An event that passes it may still break one of these:

`, EventsFile, AsyncAPIFile)
	for _, rule := range Unsayable() {
		b.WriteString("* " + rule + "\n")
	}
	b.WriteString(`
One bad fact makes the schema refuse the whole event. kith projects the others and makes a dead letter of the one; ` + "`kith publish`" + ` refuses the
whole event as well.
`)
	return []byte(b.String())
}
