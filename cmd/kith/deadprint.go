package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/kithgraph/kith/internal/server"
)

// printJSON prints a value for programs.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// printDead prints a listing as a table.
func (e *env) printDead(page server.DeadPage) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NUMBER\tSTORED\tUSER\tTYPE\tREASON\tEVENT\tTRIES\tERROR")
	for _, l := range page.Letters {
		reason, text := l.Reason, l.LastError
		if l.Foreign != "" {
			reason, text = "foreign", l.Foreign
		}
		event := l.EventID
		if l.FactIndex != nil {
			event += fmt.Sprintf(" fact %d", *l.FactIndex)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", l.Number, l.Stored.UTC().Format(time.RFC3339), plain(l.UserID, 24),
			plain(strings.TrimPrefix(l.Type, "memory."), 32), plain(reason, 16), plain(event, 32), l.Deliveries, plain(text, 100))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print dead letters: %w", err)
	}
	e.printf("%d of %d in the stream", len(page.Letters), page.Stored)
	if page.Next > 0 {
		e.printf("; there may be more: --after=%d", page.Next)
	}
	e.printf("\n")
	return nil
}

// printLetter prints one dead letter.
func (e *env) printLetter(l server.DeadLetter) error {
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, value)
		}
	}
	line("number", strconv.FormatUint(l.Number, 10))
	line("stored", timeText(l.Stored))
	line("foreign", plain(l.Foreign, 0))
	line("reason", plain(l.Reason, 0))
	line("user", plain(l.UserID, 0))
	line("type", plain(l.Type, 0))
	line("event", plain(l.EventID, 0))
	if l.FactIndex != nil {
		line("fact", fmt.Sprintf("%d %s", *l.FactIndex, plain(l.FactID, 0)))
	}
	if l.Sequence > 0 {
		line("original", fmt.Sprintf("%s %d on %s, received %s", plain(l.Stream, 0), l.Sequence, plain(l.Subject, 0), timeText(l.Received)))
	}
	line("deliveries", strconv.Itoa(l.Deliveries))
	line("first error", strings.TrimSpace(timeText(l.FirstErrorAt)+" "+plain(l.FirstError, 0)))
	line("last error", strings.TrimSpace(timeText(l.LastErrorAt)+" "+plain(l.LastError, 0)))
	for _, name := range slices.Sorted(maps.Keys(l.Headers)) {
		line("header", plain(name+": "+strings.Join(l.Headers[name], ", "), 0))
	}
	line("payload", fmt.Sprintf("%d bytes", l.Size))
	if l.Omitted > 0 {
		line("omitted", fmt.Sprintf("%d bytes, too large to be kept, and the event stream does not have them any more", l.Omitted))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print dead letter: %w", err)
	}
	if l.Payload != nil && *l.Payload != "" {
		e.printf("\n%s\n", text(l))
	}
	return nil
}

// text returns a payload fit for a terminal.
func text(l server.DeadLetter) string {
	if l.Base64 {
		return "base64 " + *l.Payload
	}
	lines := strings.Split(*l.Payload, "\n")
	for i, one := range lines {
		lines[i] = plain(one, 0)
	}
	return strings.Join(lines, "\n")
}

// writePayload writes a payload byte for byte.
func (e *env) writePayload(l server.DeadLetter) error {
	if l.Omitted > 0 || l.Payload == nil {
		return fmt.Errorf("dead letter %d has no payload (reason %s, %d bytes omitted)", l.Number, l.Reason, l.Omitted)
	}
	payload := []byte(*l.Payload)
	if l.Base64 {
		var err error
		if payload, err = base64.StdEncoding.DecodeString(*l.Payload); err != nil {
			return fmt.Errorf("read payload: %w", err)
		}
	}
	if _, err := e.stdout.Write(payload); err != nil {
		return fmt.Errorf("write payload: %w", err)
	}
	return nil
}

// printReport prints the account of a replay or a drop.
func (e *env) printReport(verb string, r server.DeadReport) {
	done := map[string]string{"replay": "replayed", "drop": "dropped"}[verb]
	if r.DryRun {
		e.printf("dry run: would %s %d of %d dead letters\n", verb, r.Matched-r.Refused, r.Matched)
	} else {
		e.printf("%s %d of %d dead letters\n", done, r.Done, r.Matched)
	}
	for _, x := range r.Replayed {
		e.printf("  %d is event %d of the stream, on %s%s%s\n", x.Number, x.Sequence, plain(x.Subject, 0),
			when(x.Duplicate, "; an earlier replay had published it"),
			when(x.Alone, "; without the other facts of its event, which the stream does not have any more"))
	}
	for _, x := range r.Errors {
		e.printf("  %d is left: %s\n", x.Number, plain(x.Error, 0))
	}
	if more := r.Refused - len(r.Errors); more > 0 {
		e.printf("  and %d more are left\n", more)
	}
	if r.Last > 0 {
		e.printf("events up to %d are to be projected; what fails again is listed again (kith dead list)\n", r.Last)
	}
}

// printNet prints what the feed had to catch or to take up again, if anything.
func printNet(e *env, f server.FeedStats) {
	if f.Caught > 0 || f.Stalls > 0 {
		e.printf("         %d of the dead events had been given up by the server; consumer taken up again %d times\n", f.Caught, f.Stalls)
	}
	if f.AdvisoryTrouble != "" {
		e.printf("         what the server gives up on is not heard: %s\n", plain(f.AdvisoryTrouble, 0))
	}
}

// errorText returns the text of an error, or "".
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// plain makes text fit for one line of a terminal, of at most so many characters (0: any number): it may be anybody's, with
// control characters that a terminal would act on.
func plain(s string, most int) string {
	var out strings.Builder
	n := 0
	for _, r := range s {
		if most > 0 && n == most-1 {
			out.WriteString("…")
			break
		}
		if n++; unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return out.String()
}
