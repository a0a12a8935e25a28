package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/internal/eventcheck"
)

// maxKeptFindings bounds what --json keeps of findings, since a file may be wrong in every line.
const maxKeptFindings = 10_000

type eventsCmd struct {
	Validate eventsValidateCmd `cmd:"" help:"Check events before they are published and explain what is wrong with them."`
}

type eventsValidateCmd struct {
	Files  []string `arg:"" name:"file" help:"JSON lines, pretty-printed events or an array of them; - reads standard input."`
	Strict bool     `help:"Warnings fail too."`
	All    bool     `help:"Print every finding, not only the first of each kind."`
	JSON   bool     `name:"json" help:"Print one JSON document: counts and findings."`
}

// Run checks every event of every file. It fails if one has an error, or with --strict a warning.
func (c eventsValidateCmd) Run(e *env) error {
	p, err := e.projector()
	if err != nil {
		return &usageError{err}
	}
	checker, err := eventcheck.New(p, eventcheck.Config{})
	if err != nil {
		return err
	}
	r := validation{Files: c.Files, Types: checker.Counts(), Findings: []eventcheck.Finding{}}
	for _, file := range c.Files {
		err := eachEvent(file, func(line int, event []byte) error {
			r.Events++
			for _, f := range checker.Check(eventcheck.Place{File: file, Line: line}, event) {
				r.add(f)
				if !c.JSON && (c.All || r.count(f.Severity) <= maxShownProblems) {
					printFinding(e.stdout, f)
				}
			}
			return e.ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	r.OK = r.Errors == 0 && (!c.Strict || r.Warnings == 0)
	if c.JSON {
		if err := r.printJSON(e.stdout); err != nil {
			return err
		}
	} else {
		e.printf("%s\n", r.summary(c.All))
	}
	if !r.OK {
		return fmt.Errorf("%s in %s", r.found(), counted(r.Events, "event"))
	}
	return nil
}

// validation is the account of one run.
type validation struct {
	OK       bool                 `json:"ok"`
	Files    []string             `json:"files"`
	Events   int                  `json:"events"`
	Types    map[string]int       `json:"types"`
	Errors   int                  `json:"errors"`
	Warnings int                  `json:"warnings"`
	Notes    int                  `json:"notes"`
	Findings []eventcheck.Finding `json:"findings"`
	Omitted  int                  `json:"findings_omitted,omitempty"`
}

func (r *validation) add(f eventcheck.Finding) {
	switch f.Severity {
	case eventcheck.Error:
		r.Errors++
	case eventcheck.Warning:
		r.Warnings++
	case eventcheck.Note:
		r.Notes++
	}
	if len(r.Findings) < maxKeptFindings {
		r.Findings = append(r.Findings, f)
	} else {
		r.Omitted++
	}
}

func (r *validation) count(s eventcheck.Severity) int {
	return map[eventcheck.Severity]int{eventcheck.Error: r.Errors, eventcheck.Warning: r.Warnings, eventcheck.Note: r.Notes}[s]
}

func (r *validation) printJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	return nil
}

// summary is the last line: events by type, and what was found.
func (r *validation) summary(all bool) string {
	var types []string
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		types = append(types, fmt.Sprintf("%d %s", r.Types[name], name))
	}
	text := counted(r.Events, "event")
	if len(types) > 0 {
		text += " (" + strings.Join(types, ", ") + ")"
	}
	text += ": " + r.found()
	if !all && max(r.Errors, r.Warnings, r.Notes) > maxShownProblems {
		text += fmt.Sprintf("; the first %d of each are printed, --all prints all", maxShownProblems)
	}
	return text
}

func (r *validation) found() string {
	return counted(r.Errors, "error") + ", " + counted(r.Warnings, "warning") + ", " + counted(r.Notes, "note")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printFinding prints a finding in the form that editors and CI systems know from compilers.
func printFinding(w io.Writer, f eventcheck.Finding) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s: ", f.Place, f.Severity)
	if f.EventID != "" {
		fmt.Fprintf(&text, "event %q: ", f.EventID)
	}
	if f.Path != "" {
		text.WriteString(f.Path + " ")
	}
	if v := string(f.Value); v != "" && v != "null" && v[0] != '[' && v[0] != '{' {
		text.WriteString(v + " ")
	}
	text.WriteString(f.Rule)
	if f.Hint != "" {
		text.WriteString("\n  hint: " + f.Hint)
	}
	fmt.Fprintln(w, text.String())
}
