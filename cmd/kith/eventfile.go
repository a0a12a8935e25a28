package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kithgraph/kith/projector"
)

// maxDocument bounds a file of events that is no JSON lines, which is read whole.
const maxDocument = 64 << 20

// eachEvent calls f with the first line (from 1) and the text of every event of a file: of JSON lines, or of pretty-printed
// events one after the other or in an array. The text is only good during the call. Text that is no JSON goes to f as it
// is: in a file of JSON lines the line, else all of the file from there on.
func eachEvent(path string, f func(line int, event []byte) error) error {
	input, err := openInput(path)
	if err != nil {
		return err
	}
	defer input.Close()
	r := bufio.NewReaderSize(input, 64<<10)
	first, n, err := firstLine(r, path)
	if err != nil {
		return err
	}
	if trimmed := bytes.TrimSpace(first); len(trimmed) == 0 || json.Valid(trimmed) && trimmed[0] != '[' {
		return eachLineOf(io.MultiReader(bytes.NewReader(first), r), path, n-1, f)
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxDocument))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	doc := append(first, rest...)
	if len(rest) < maxDocument && isDocument(doc) {
		return eachValue(doc, n, f)
	}
	return eachLineOf(io.MultiReader(bytes.NewReader(doc), r), path, n-1, f)
}

// firstLine reads up to the end of the first line that is not blank and returns it with its line feed, and its number.
func firstLine(r *bufio.Reader, path string) (line []byte, n int, err error) {
	for n = 1; ; n++ {
		line = nil
		for {
			part, err := r.ReadSlice('\n')
			line = append(line, part...)
			switch {
			case len(line) > maxLine:
				return nil, n, fmt.Errorf("read %s: line %d has more than %d bytes; nothing after it was read", path, n, maxLine)
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case errors.Is(err, io.EOF):
				return line, n, nil
			case err != nil:
				return nil, n, fmt.Errorf("read %s in line %d: %w", path, n, err)
			}
			break
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, n, nil
		}
	}
}

// isDocument reports whether text whose first line is no event is meant to be read as a whole: it is an array, its first
// line but opens an object, or it is good JSON across lines.
func isDocument(doc []byte) bool {
	trimmed := bytes.TrimSpace(doc)
	first, _, _ := bytes.Cut(trimmed, []byte("\n"))
	if trimmed[0] == '[' || string(bytes.TrimSpace(first)) == "{" {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	for {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// eachValue calls f with every JSON value of a document, and instead of an array with its items. The document begins in
// the given line.
func eachValue(doc []byte, line int, f func(line int, event []byte) error) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	counted, inArray := 0, false
	for {
		at := int(dec.InputOffset())
		for at < len(doc) && (doc[at] == ',' && inArray || bytes.IndexByte([]byte(" \t\r\n"), doc[at]) >= 0) {
			at++
		}
		line += bytes.Count(doc[counted:at], []byte("\n"))
		counted = at
		switch {
		case at == len(doc) && inArray:
			return f(line, nil) // the array is cut off
		case at == len(doc):
			return nil
		}
		if doc[at] == '[' && !inArray || doc[at] == ']' && inArray {
			if _, err := dec.Token(); err == nil {
				inArray = !inArray
				continue
			}
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return f(line, doc[at:min(len(doc), at+projector.DefaultMaxEventBytes)])
		}
		if err := f(line, value); err != nil {
			return err
		}
	}
}
