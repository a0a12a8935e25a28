package feed

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestConnectTellsOfUpAndDown(t *testing.T) {
	addr, dir := freeAddress(t), t.TempDir()
	changes := make(chan bool, 10)
	nc, err := Connect(testContext(t), "nats://"+addr, ConnectConfig{
		Logger: quietLog, ReconnectWait: 10 * time.Millisecond, OnStatus: func(up bool) { changes <- up },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	server := startServer(t, dir, addr)
	if up := <-changes; !up {
		t.Error("first change is down, want up")
	}
	if err := server.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if up := <-changes; up {
		t.Error("second change is up, want down")
	}
	startServer(t, dir, addr)
	if up := <-changes; !up {
		t.Error("third change is down, want up")
	}
}

func TestConnectReportsErrorsOutsideOfCalls(t *testing.T) {
	js := newJS(t)
	errs := make(chan error, 10)
	nc, err := Connect(testContext(t), js.Conn().ConnectedUrl(), ConnectConfig{Logger: quietLog, OnError: func(err error) { errs <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("flood")
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(1, 1024); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := nc.Publish("flood", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-errs:
		if !strings.Contains(err.Error(), nats.ErrSlowConsumer.Error()) {
			t.Errorf("reported %v, want the slow consumer", err)
		}
	case <-testContext(t).Done():
		t.Error("a slow subscription was not reported")
	}
}

func TestConnectDoesNotHang(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	// An address of the documentation range, which routers drop.
	nc, err := Connect(ctx, "nats://192.0.2.1:4222", ConnectConfig{Logger: quietLog})
	if err == nil {
		nc.Close()
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %s, want about the context's 100ms", took)
	}
	cancel()
	if _, err := Connect(ctx, "nats://192.0.2.1:4222", ConnectConfig{}); err == nil {
		t.Error("no error under a context that has ended")
	}
}

func TestConnectRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		cfg  ConnectConfig
		want string
	}{
		"nothing to connect to":                   {"", ConnectConfig{}, "url"},
		"a file of credentials that is not there": {"nats://127.0.0.1:1", ConnectConfig{CredsFile: "/nonexistent/creds"}, "creds"},
		"half a certificate":                      {"nats://127.0.0.1:1", ConnectConfig{CertFile: "c"}, `cert file "c", key file ""`},
		"roots that are not there":                {"nats://127.0.0.1:1", ConnectConfig{CAFile: "/nonexistent/roots"}, "roots"},
		"negative times":                          {"nats://127.0.0.1:1", ConnectConfig{Timeout: -1, ReconnectWait: -1}, "reconnect wait -1ns"},
		"no URL":                                  {"nats://user:secret@[", ConnectConfig{}, "url: not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Logger = quietLog
			nc, err := Connect(testContext(t), c.url, c.cfg)
			if err == nil {
				nc.Close()
				t.Fatal("connected")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q: want it to say %q, and no password", err, c.want)
			}
		})
	}
}
