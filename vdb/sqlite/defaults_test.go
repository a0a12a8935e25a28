package sqlite

import (
	"fmt"
	"testing"
)

func TestConfig_defaults(t *testing.T) {
	c := Config{}.withDefaults()
	got := fmt.Sprintf("dimension %d, cache %d bytes, busy timeout %v, %d readers, logger %v",
		c.Dimension, c.CacheBytes, c.BusyTimeout, c.Readers, c.Logger != nil)
	const want = "dimension 0, cache 536870912 bytes, busy timeout 5s, 8 readers, logger true"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := c.validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	set := Config{Dimension: 3, CacheBytes: 1, BusyTimeout: 1e9, Readers: 2, Logger: c.Logger}
	if set.withDefaults() != set {
		t.Errorf("set values were changed: %+v", set.withDefaults())
	}
}
