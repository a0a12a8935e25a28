package kuzu

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of [Open] that say the file must be left alone: neither retried nor thrown away.
var (
	// ErrInUse reports that another process (or another Store of this one) owns the file.
	ErrInUse = errors.New("graph file is in use")
	// ErrForeign reports a file that is not a graph of this program: another kind of file, a Kuzu file of another
	// version or of another program, a directory, a log without its file.
	ErrForeign = errors.New("not a graph file of this program")
	// ErrNewerSchema reports a graph that a newer version of this program wrote.
	ErrNewerSchema = errors.New("graph file was written by a newer version")
)

// Errors of statements. All may be retried; the last state that was committed is intact.
var (
	// ErrTimeout reports that a read took longer than Config.ReadTimeout allows one statement.
	ErrTimeout = errors.New("read timed out")
	// ErrPoolFull reports that Config.BufferPoolBytes is too small for what was asked.
	ErrPoolFull = errors.New("buffer pool is full: raise BufferPoolBytes")
	// ErrDisk reports that a file could not be written or read. It is also returned before a checkpoint for which the
	// disk has too little space.
	ErrDisk = errors.New("disk trouble")
)

// statementPrefixes map the beginning of Kuzu's messages to our errors. Messages are all it gives: no codes, and a
// percent sign in one comes out mangled because the binding formats the message once more.
var statementPrefixes = []struct {
	prefix string
	is     error
}{
	{"Interrupted.", ErrTimeout},
	{"Buffer manager exception:", ErrPoolFull},
	{"IO exception:", ErrDisk},
}

// statementError is the one place where an error of Kuzu becomes ours.
func statementError(doing string, err error) error {
	text := strings.TrimSpace(err.Error())
	for _, p := range statementPrefixes {
		if strings.HasPrefix(text, p.prefix) {
			return fmt.Errorf("%s: %w (kuzu: %s)", doing, p.is, text)
		}
	}
	return fmt.Errorf("%s: kuzu: %s", doing, text)
}
