package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A child is replaced for its memory only if that frees something: a large graph needs much for its index, and the next
// child needs as much.
const (
	// MemoryGrowth is how many times the memory that a child was measured to need it must take to be replaced.
	MemoryGrowth = 1.5
	// MemorySettle is how long after its opening a child's need is measured. It is measured once more at the end of the
	// first load; the larger counts.
	MemorySettle = 5 * time.Second
)

// measure takes the memory that the process has now for what it needs, unless that was more before.
func (p *process) measure() {
	used, err := memoryOf(p.pid)
	if err != nil {
		return // there is no /proc, or no process
	}
	for {
		was := p.needs.Load()
		if used <= was || p.needs.CompareAndSwap(was, used) {
			return
		}
	}
}

// tooLarge reports whether a child uses more memory than Config.MemoryLimit, and so much more than it needs that the next
// one will use less.
func (v *supervisor) tooLarge(p *process) bool {
	used, err := memoryOf(p.pid)
	if err != nil {
		v.log.Warn("memory of the store child is not known", "err", err)
		return false
	}
	needs := p.needs.Load()
	return used > v.cfg.MemoryLimit && needs > 0 && float64(used) > MemoryGrowth*float64(needs)
}

// memoryOf returns the resident memory of a process, in bytes.
func memoryOf(pid int) (int64, error) {
	name := fmt.Sprintf("/proc/%d/statm", pid)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b)) // size, resident, ... in pages
	if len(fields) < 2 {
		return 0, fmt.Errorf("%s: %q", name, b)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return pages * int64(os.Getpagesize()), nil
}
