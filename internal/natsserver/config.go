package natsserver

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Defaults of [Config].
const (
	// DefaultSyncInterval costs about a tenth of the publish rate against the server's own two minutes.
	DefaultSyncInterval = time.Second
	// DefaultMaxPayload leaves room for headers beside an event of 1 MiB, the limit of the wire contract.
	DefaultMaxPayload = 1<<20 + 64<<10
	// DefaultReadyTimeout covers the replay of a store of several GB.
	DefaultReadyTimeout = 30 * time.Second
)

// Config says where the server keeps its data and how it is reached.
type Config struct {
	// Dir is the data directory, created with mode 0700 if absent. One process at a time: a second one gets an error.
	// Required.
	Dir string

	// Listen is "host:port" on loopback, like "127.0.0.1:4222"; an empty host means 127.0.0.1, port 0 or -1 a free port
	// ([Server.ClientURL] tells which). Empty means no port: only [Server.InProcessConn] reaches the server.
	Listen string

	// SyncInterval is the longest time an acknowledged message stays in the page cache only. It has no effect with
	// SyncAlways. Defaults to [DefaultSyncInterval].
	SyncInterval time.Duration

	// SyncAlways makes every write reach the disk before it is acknowledged: a power failure loses nothing, publishing is
	// some twenty times slower. Defaults to false.
	SyncAlways bool

	// MaxPayload is the greatest size in bytes of one message with its headers. Defaults to [DefaultMaxPayload].
	MaxPayload int

	// MaxStoreBytes is the most JetStream keeps on disk over all streams; publishing beyond it is refused. Defaults to
	// the server's own rule, three quarters of the free space at start.
	MaxStoreBytes int64

	// ReadyTimeout is how long Start waits for the server. Defaults to [DefaultReadyTimeout].
	ReadyTimeout time.Duration

	// Logger takes the server's log: notices as debug, warnings and errors as they are. Defaults to slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.SyncInterval = cmp.Or(c.SyncInterval, DefaultSyncInterval)
	c.MaxPayload = cmp.Or(c.MaxPayload, DefaultMaxPayload)
	c.ReadyTimeout = cmp.Or(c.ReadyTimeout, DefaultReadyTimeout)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// maxPayloadLimit is the server's own bound: it keeps the size in an int32 and warns above 8 MiB.
const maxPayloadLimit = 8 << 20

func (c Config) validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("dir: empty: want the path of a directory"))
	}
	if _, _, err := c.address(); err != nil {
		errs = append(errs, err)
	}
	if c.SyncInterval < 0 {
		errs = append(errs, fmt.Errorf("sync interval %s: want more than 0", c.SyncInterval))
	}
	if c.MaxPayload < 1024 || c.MaxPayload > maxPayloadLimit {
		errs = append(errs, fmt.Errorf("max payload %d: want 1024 to %d bytes", c.MaxPayload, maxPayloadLimit))
	}
	if c.MaxStoreBytes < 0 {
		errs = append(errs, fmt.Errorf("max store bytes %d: want 0 or more", c.MaxStoreBytes))
	}
	if c.ReadyTimeout < 0 {
		errs = append(errs, fmt.Errorf("ready timeout %s: want more than 0", c.ReadyTimeout))
	}
	return errors.Join(errs...)
}

// address splits Listen into what the server wants: port -1 for any free one, host empty for no port at all.
func (c Config) address() (host string, port int, err error) {
	if c.Listen == "" {
		return "", 0, nil
	}
	host, portText, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", 0, fmt.Errorf("listen %q: want host:port: %w", c.Listen, err)
	}
	host = cmp.Or(host, "127.0.0.1")
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "", 0, fmt.Errorf("listen %q: host is not loopback: this server knows no users; run a NATS server of your own to be reached from elsewhere", c.Listen)
	}
	port, err = strconv.Atoi(portText)
	if err != nil || port < -1 || port > 65535 {
		return "", 0, fmt.Errorf("listen %q: port %q: want 0 to 65535, or -1", c.Listen, portText)
	}
	if port == 0 {
		port = -1
	}
	return host, port, nil
}
