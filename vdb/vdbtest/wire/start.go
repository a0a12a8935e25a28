package wire

import "testing"

// Start runs a server until the test ends.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatalf("start wire server: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}
