package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb/sqlite"
)

func TestConfig_badValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "vectors.db")
	_, err := sqlite.New(path, sqlite.Config{Dimension: -1, CacheBytes: -2, BusyTimeout: time.Microsecond, Readers: 1000})
	if err == nil {
		t.Fatal("opened")
	}
	for _, say := range []string{"dimension -1", "65536", "cache_bytes -2", "busy_timeout 1µs", "1ms", "readers 1000", "256"} {
		if !strings.Contains(err.Error(), say) {
			t.Errorf("error %q does not name %q", err, say)
		}
	}
}
