package natsserver

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startFor starts a server that stops with the test.
func startFor(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// connect opens a JetStream context that ends with the test.
func connect(t *testing.T, url string, opts ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestMessagesOutliveTheServer(t *testing.T) {
	ctx, dir := testContext(t), t.TempDir()
	for _, always := range []bool{false, true} {
		s := startFor(t, Config{Dir: dir, Listen: "127.0.0.1:0", SyncAlways: always})
		nc, js := connect(t, s.ClientURL())
		stream, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(ctx, "s.a", []byte("kept")); err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(1) // the first run's message, and in the second run that one and its own
		if always {
			want = 2
		}
		if info.State.Msgs != want {
			t.Errorf("sync always %t: %d messages, want %d", always, info.State.Msgs, want)
		}
		nc.Close()
		if err := s.Shutdown(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInProcessOnly(t *testing.T) {
	s := startFor(t, Config{Dir: t.TempDir()})
	if url := s.ClientURL(); url != "" {
		t.Errorf("client URL %q of a server without a port, want none", url)
	}
	nc, js := connect(t, "", nats.InProcessServer(s))
	if _, err := js.AccountInfo(testContext(t)); err != nil {
		t.Errorf("JetStream over an in-process connection: %v", err)
	}
	if nc.MaxPayload() != 1<<20+64<<10 { // an event of 1 MiB with 64 KiB of headers
		t.Errorf("max payload %d", nc.MaxPayload())
	}
}

func TestDataDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "nats")
	startFor(t, Config{Dir: dir})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %o, want 700", info.Mode().Perm())
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	inUse := t.TempDir()
	startFor(t, Config{Dir: inUse})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"a port in use is named":      {Config{Dir: t.TempDir(), Listen: taken.Addr().String()}, []string{taken.Addr().String(), "address already in use"}},
		"a directory in use":          {Config{Dir: inUse}, []string{inUse, "another process uses it"}},
		"a directory that is a file":  {Config{Dir: file}, []string{file, "not a directory"}},
		"no directory":                {Config{}, []string{"dir: empty"}},
		"an address without a port":   {Config{Dir: "d", Listen: "127.0.0.1"}, []string{`listen "127.0.0.1"`, "host:port"}},
		"a port out of range":         {Config{Dir: "d", Listen: "127.0.0.1:70000"}, []string{`port "70000"`, "0 to 65535"}},
		"an address open to others":   {Config{Dir: "d", Listen: "0.0.0.0:4222"}, []string{`"0.0.0.0:4222"`, "not loopback"}},
		"a host that may be anywhere": {Config{Dir: "d", Listen: "example.org:4222"}, []string{`"example.org:4222"`, "not loopback"}},
		"all violations at once":      {Config{MaxPayload: 9 << 20, SyncInterval: -1, MaxStoreBytes: -1, ReadyTimeout: -1}, []string{"dir", "max payload 9437184", "sync interval -1ns", "max store bytes -1", "ready timeout -1ns"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Start(c.cfg)
			if err == nil {
				_ = s.Shutdown()
				t.Fatal("started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestRefusedStartReleasesTheDirectory(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: t.TempDir(), Listen: taken.Addr().String()}
	if _, err := Start(cfg); err == nil {
		t.Fatal("started on a port in use")
	}
	taken.Close()
	startFor(t, cfg)
}

func TestListenAddresses(t *testing.T) {
	for listen, wantHost := range map[string]string{
		":0": "127.0.0.1", ":-1": "127.0.0.1", "127.0.0.1:-1": "127.0.0.1", "localhost:0": "localhost", "[::1]:0": "[::1]",
	} {
		t.Run(listen, func(t *testing.T) {
			s, err := Start(Config{Dir: t.TempDir(), Listen: listen})
			if err != nil && listen == "[::1]:0" {
				t.Skipf("no IPv6 here: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Shutdown() }()
			if !strings.HasPrefix(s.ClientURL(), "nats://"+wantHost+":") {
				t.Errorf("client URL %s", s.ClientURL())
			}
			nc, _ := connect(t, s.ClientURL())
			nc.Close()
		})
	}
}

func TestLogLevels(t *testing.T) {
	var out bytes.Buffer
	l := newLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
	l.Noticef("notice %d", 1)
	l.Debugf("debug")
	l.Tracef("trace")
	l.Warnf("warning %d", 2)
	l.Errorf("error %d", 3)
	l.Fatalf("fatal %d", 4)
	if msg := l.fatal.Load(); msg == nil || *msg != "fatal 4" {
		t.Errorf("fatal message before the start is %v, want it kept", msg)
	}
	l.started.Store(true)
	l.Fatalf("fatal %d", 5)
	for text, want := range map[string]bool{
		"notice": false, "debug": false, "trace": false, "fatal 4": false,
		"level=WARN msg=\"warning 2\"": true, "level=ERROR msg=\"error 3\"": true, "level=ERROR msg=\"fatal 5\"": true,
	} {
		if got := strings.Contains(out.String(), text); got != want {
			t.Errorf("log has %q: %t, want %t", text, got, want)
		}
	}
}
