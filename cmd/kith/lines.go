package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds a line of a JSON lines file: the largest event with room for a vector in text.
const maxLine = 8 << 20

// eachLine calls f with the number (from 1) and text of every line that is not blank. The text is only good during the
// call. A file named "-" is standard input. An error of f ends the reading.
func eachLine(path string, f func(n int, line []byte) error) error {
	r, err := openInput(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return eachLineOf(r, path, 0, f)
}

// openInput opens a file, or standard input for "-".
func openInput(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("open file: %w", err)}
	}
	return file, nil
}

// eachLineOf is eachLine for what is left of a file behind its first n lines.
func eachLineOf(r io.Reader, path string, n int, f func(n int, line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := f(n, lines.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("read %s: line %d has more than %d bytes; nothing after it was read", path, n+1, maxLine)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s after line %d: %w", path, n, err)
	}
	return nil
}
