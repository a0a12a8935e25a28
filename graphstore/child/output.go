package child

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	keptOutput  = 4 << 10
	shownOutput = 300
)

// output passes on what a child writes and keeps the last of it, which says why it died.
type output struct {
	to io.Writer

	mu struct {
		sync.Mutex
		kept []byte
	}
}

// Write implements [io.Writer]. It never fails: a child does not die of its parent's log.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.kept = append(o.mu.kept, p...)
	if extra := len(o.mu.kept) - keptOutput; extra > 0 && !bytes.Contains(o.mu.kept, []byte("panic: ")) {
		o.mu.kept = append(o.mu.kept[:0], o.mu.kept[extra:]...)
	} else if extra > 0 {
		o.mu.kept = o.mu.kept[:keptOutput] // of a panic the first lines count
	}
	_, _ = o.to.Write(p)
	return len(p), nil
}

// last returns the line that tells most: that of a panic, or else the last.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(o.mu.kept)), "\n")
	line := lines[len(lines)-1]
	for _, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") || strings.HasPrefix(l, "SIG") {
			line = l
			break
		}
	}
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
	if len(line) > shownOutput {
		line = line[:shownOutput]
	}
	return line
}
