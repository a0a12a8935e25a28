package main

import (
	"math"
	"runtime"
	"runtime/debug"
)

// ballastBytes is what a heap is taken to be larger than it is while a whole graph is written.
const ballastBytes = 128 << 20

// withBallast does something that allocates much and keeps little of it. Collecting garbage whenever a small heap has doubled took a
// third of the time of a bulk load; with ballast a heap of any size may grow by up to twice its bytes more before that. They are
// never touched, so the machine never has to find them. Under a memory limit (GOMEMLIMIT) there is none: it would count.
func withBallast[T any](do func() (T, error)) (T, error) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return do()
	}
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(&ballast[0])
	return do()
}
