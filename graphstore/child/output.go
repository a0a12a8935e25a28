package child

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// shownOutput is how much of a line is kept, in bytes.
const shownOutput = 300

// tellingPrefixes begin the lines that say why a Go program, or C in it, died. A long trace follows them.
var tellingPrefixes = []string{"panic: ", "fatal error: ", "SIG"}

// output passes on what a child writes and keeps the line that says why it died.
type output struct {
	to io.Writer

	mu struct {
		sync.Mutex
		line    []byte // the beginning of the line that is being written
		last    string // the last line that is not blank
		telling string // the first line that says why
	}
}

// Write implements [io.Writer]. It never fails: a child does not die of its parent's log.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		o.mu.line = append(o.mu.line, line[:min(len(line), shownOutput-len(o.mu.line))]...)
		if ended {
			o.endLocked()
		}
		rest = after
	}
	_, _ = o.to.Write(p)
	return len(p), nil
}

func (o *output) endLocked() {
	line := strings.ToValidUTF8(strings.TrimSpace(string(o.mu.line)), "\uFFFD")
	o.mu.line = o.mu.line[:0]
	if line == "" {
		return
	}
	o.mu.last = line
	for _, prefix := range tellingPrefixes {
		if o.mu.telling == "" && strings.HasPrefix(line, prefix) {
			o.mu.telling = line
		}
	}
}

// why returns the line that tells most: the first of a panic, or else the last of all.
func (o *output) why() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLocked()
	if o.mu.telling != "" {
		return o.mu.telling
	}
	return o.mu.last
}
