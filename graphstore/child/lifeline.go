package child

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/go-plugin"
)

// lifeline is the child's end of a pipe whose other end only the parent holds. The system closes that end when the
// parent's process ends, whatever ended it and whichever thread started the child.
type lifeline struct{ file *os.File }

func openLifeline() (lifeline, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(lifelineFile, &st); err != nil {
		return lifeline{}, fmt.Errorf("pipe of the parent: %w", err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return lifeline{}, fmt.Errorf("file %d is not the pipe of the parent", lifelineFile)
	}
	syscall.CloseOnExec(lifelineFile)
	return lifeline{os.NewFile(lifelineFile, "lifeline")}, nil
}

// await returns when the parent is gone. Nothing is ever written to the pipe.
func (l lifeline) await() { _, _ = io.Copy(io.Discard, l.file) }

// removeSocket removes what a parent that is gone cannot remove: the socket and the directory made for it. Nothing else
// is in there; if something is, the directory stays.
func removeSocket() {
	dir := os.Getenv(plugin.EnvUnixSocketDir)
	if dir == "" {
		return
	}
	sockets, _ := filepath.Glob(filepath.Join(dir, "plugin*")) // the pattern is sound
	for _, s := range sockets {
		_ = os.Remove(s) // best effort: a socket without a listener harms nobody
	}
	_ = os.Remove(dir)
}
