package qdrant

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// started returns a server, a driver with a collection of dimension 2, and a query for it that the driver has answered.
func started(t *testing.T, opts wire.Options, cfg Config) (*wire.Server, *Store, vdb.Query) {
	t.Helper()
	srv := wire.Start(t, opts)
	if cfg.URL == "" {
		cfg.URL = srv.Addr()
	}
	cfg.Collection, cfg.CreateCollection, cfg.Dimension = "facts", true, 2
	st := open(t, cfg)
	u := space(t, "u")
	upsert(t, st, fact(u, "17", "x"))
	return srv, st, vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}
}

func TestTLS(t *testing.T) {
	cert, ca, err := wire.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := wire.Start(t, wire.Options{Certificate: &cert, APIKey: "k"})
	for name, tc := range map[string]struct {
		cfg Config
		say string // in the error; nothing for success
	}{
		"own authority":     {Config{URL: "https://" + srv.Addr(), CAFile: caFile}, ""},
		"by name":           {Config{URL: strings.Replace("https://"+srv.Addr(), "127.0.0.1", "localhost", 1), CAFile: caFile}, ""},
		"unknown authority": {Config{URL: "https://" + srv.Addr()}, "certificate"},
		"without TLS":       {Config{URL: "http://" + srv.Addr()}, srv.Addr()},
	} {
		t.Run(name, func(t *testing.T) {
			tc.cfg.Collection, tc.cfg.APIKey, tc.cfg.CreateCollection, tc.cfg.Dimension = "facts", "k", true, 2
			_, err := open(t, tc.cfg).Info(t.Context())
			switch {
			case tc.say == "" && err != nil:
				t.Error(err)
			case tc.say != "" && (!errors.Is(err, vdb.ErrUnavailable) || !strings.Contains(err.Error(), tc.say)):
				t.Errorf("got %v, want ErrUnavailable that says %q", err, tc.say)
			}
		})
	}
	plain := wire.Start(t, wire.Options{})
	if _, err := open(t, Config{URL: "https://" + plain.Addr(), CAFile: caFile, Collection: "facts"}).Info(t.Context()); !errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("TLS to a server without: got %v", err)
	}
}

func TestAPIKey(t *testing.T) {
	srv := wire.Start(t, wire.Options{APIKey: "right"})
	for key, ok := range map[string]bool{"right": true, "wrong": false, "": false} {
		_, err := open(t, Config{URL: srv.Addr(), APIKey: key, Collection: "facts", CreateCollection: true, Dimension: 2, PoolSize: 4}).Info(t.Context())
		if ok != (err == nil) {
			t.Errorf("key %q: %v", key, err)
		}
		if !ok && (!strings.Contains(err.Error(), "api key") || errors.Is(err, vdb.ErrUnavailable) || key != "" && strings.Contains(err.Error(), key)) {
			t.Errorf("key %q: got %v, want a refusal that is not to be retried and does not show the key", key, err)
		}
	}
}

func TestKeyInPlaintextIsWarnedOf(t *testing.T) {
	for _, tc := range []struct {
		url, key string
		warn     bool
	}{
		{"http://192.0.2.1:6334", "k", true}, {"http://192.0.2.1:6334", "", false}, {"https://192.0.2.1:6334", "k", false},
		{"http://127.0.0.1:1", "k", false}, {"http://[::1]:1", "k", false},
	} {
		var l logs
		open(t, Config{URL: tc.url, APIKey: tc.key, Collection: "facts", Logger: l.logger()})
		if got := l.lines("without TLS"); len(got) > 0 != tc.warn {
			t.Errorf("%s with key %q: %q", tc.url, tc.key, got)
		}
	}
}

func TestRESTPort(t *testing.T) {
	var l logs
	st := open(t, Config{URL: "http://127.0.0.1:6333", Collection: "facts", Logger: l.logger(), RetryAttempts: 1})
	if len(l.lines("REST")) != 1 {
		t.Error("the REST port is not warned of")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := st.Info(ctx); errors.Is(err, vdb.ErrUnavailable) && !strings.Contains(err.Error(), "6334") {
		t.Errorf("%v does not name the port to use", err)
	}
}

// What an HTTP/1.1 server answers to a gRPC client, on any port.
func TestHTTP1ServerIsRecognised(t *testing.T) {
	ln := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"))
	})
	st := open(t, Config{URL: ln, Collection: "facts", RetryAttempts: 1})
	if _, err := st.Info(t.Context()); !errors.Is(err, vdb.ErrUnavailable) || !strings.Contains(err.Error(), "gRPC port") {
		t.Errorf("got %v, want a hint at the port", err)
	}
}

// listen accepts connections and hands each to serve, until the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serve(c)
			t.Cleanup(func() { _ = c.Close() })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		wg.Wait()
	})
	return ln.Addr().String()
}

func TestBlackHole(t *testing.T) {
	addr := listen(t, func(net.Conn) {}) // accepts and says nothing
	began := time.Now()
	st := open(t, Config{URL: addr, Collection: "facts", Timeout: 100 * time.Millisecond})
	u := space(t, "u")
	for name, call := range map[string]func(context.Context) error{
		"Info": func(ctx context.Context) error { _, err := st.Info(ctx); return err },
		"Search": func(ctx context.Context) error {
			_, err := st.Search(ctx, vdb.Query{Space: u, Vector: []float32{1}, Limit: 1})
			return err
		},
		"Get": func(ctx context.Context) error { _, err := st.Get(ctx, u, []string{"x"}, false); return err },
		"Scroll": func(ctx context.Context) error {
			_, err := st.Scroll(ctx, vdb.ScrollQuery{Space: u, Limit: 1})
			return err
		},
		"Upsert": func(ctx context.Context) error { return st.Upsert(ctx, []vdb.Point{fact(u, "x", "")}) },
		"Delete": func(ctx context.Context) error { return st.Delete(ctx, u, []string{"x"}) },
	} {
		if err := call(t.Context()); !errors.Is(err, vdb.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, timeout of the driver: got %v, want ErrUnavailable", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, vdb.ErrUnavailable) {
			t.Errorf("%s, deadline of the caller: got %v, want context.DeadlineExceeded", name, err)
		}
		cancel()
	}
	// Six calls of 100 ms and six of 20 ms; the rest is for a busy machine.
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestDeadlineInTheMiddleOfACall(t *testing.T) {
	arrived := make(chan struct{}, 2)
	srv, st, q := started(t, wire.Options{Observe: func(method string, _ any) {
		if method == "Query" {
			arrived <- struct{}{}
		}
	}}, Config{})
	srv.Inject(wire.Fault{Method: "Query", Drop: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // time to arrive
	defer cancel()
	if _, err := st.Search(ctx, q); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("deadline: got %v", err)
	}
	<-arrived
	ctx, cancel = context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := st.Search(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
	})
	<-arrived
	cancel()
	wg.Wait()
}

func TestRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		attempts, failures int
		code               codes.Code
		after              bool
		wantCalls          int
		ok                 bool
	}{
		"two failures":                 {0, 2, codes.Unavailable, false, 3, true},
		"as many as attempts":          {3, 3, codes.Unavailable, false, 3, false},
		"no retry":                     {1, 1, codes.Unavailable, false, 1, false},
		"rate limit is not retried":    {0, 1, codes.ResourceExhausted, false, 1, false},
		"a server's fault is not":      {0, 1, codes.Internal, false, 1, false},
		"answer lost, work was done":   {0, 1, codes.Unavailable, true, 2, true},
		"bad requests are not retried": {0, 1, codes.InvalidArgument, false, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv, st, q := started(t, wire.Options{}, Config{RetryAttempts: tc.attempts})
			srv.Inject(wire.Fault{Method: "Points/Query", Times: tc.failures, Code: tc.code, Message: "injected", After: tc.after})
			found, err := st.Search(t.Context(), q)
			if tc.ok && (err != nil || len(found) != 1) || !tc.ok && err == nil {
				t.Errorf("found %v, %v", found, err)
			}
			if wantUnavailable := tc.code == codes.Unavailable || tc.code == codes.ResourceExhausted; !tc.ok && errors.Is(err, vdb.ErrUnavailable) != wantUnavailable {
				t.Errorf("error %v is ErrUnavailable: %v", err, !wantUnavailable)
			}
			if n := srv.Calls("Query"); n != tc.wantCalls {
				t.Errorf("%d calls, want %d", n, tc.wantCalls)
			}
		})
	}
}

// The answer to an upsert is lost after the server has applied it: the repeated one changes nothing.
func TestRetriedUpsert(t *testing.T) {
	srv, st, q := started(t, wire.Options{}, Config{})
	srv.Inject(wire.Fault{Method: "Upsert", Times: 2, Code: codes.Unavailable, After: true})
	upsert(t, st, fact(q.Space, "17", "new"), fact(q.Space, "18", "new"), fact(q.Space, "doc", "new"))
	if info, err := st.Info(t.Context()); err != nil || info.Points != 3 {
		t.Errorf("%d points, %v; want 3", info.Points, err)
	}
	if got := content(t, st, q.Space, "17"); got != "new" {
		t.Errorf("17 says %q", got)
	}
}

func TestServerDownAtStartIsFoundLater(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	srv.Stop()
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2})
	if _, err := st.Info(t.Context()); !errors.Is(err, vdb.ErrUnavailable) {
		t.Fatalf("down: got %v, want ErrUnavailable", err)
	}
	if err := srv.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { _, err := st.Info(t.Context()); return err })
}

func TestRestartInTheMiddle(t *testing.T) {
	srv, st, q := started(t, wire.Options{}, Config{})
	search := func() error {
		found, err := st.Search(t.Context(), q)
		if err == nil && len(found) != 1 {
			t.Fatalf("an answer without the point: %v", found)
		}
		return err
	}
	for range 3 {
		srv.Stop()
		if err := search(); !errors.Is(err, vdb.ErrUnavailable) {
			t.Errorf("down: got %v, want ErrUnavailable", err)
		}
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
		eventually(t, search)
	}
}

// eventually repeats a call, which takes its own time for retries, until the server is found again: within the three
// seconds of the longest reconnect delay, with room for a busy machine.
func eventually(t *testing.T, call func() error) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		if err = call(); err == nil {
			return
		}
		if !errors.Is(err, vdb.ErrUnavailable) {
			break
		}
	}
	t.Fatalf("did not recover: %v", err)
}

func TestVersionIsCheckedOnce(t *testing.T) {
	for version, want := range map[string]int{"1.9.0": 1, "2.0.0": 1, "1.17.1": 0} {
		var l logs
		_, st, q := started(t, wire.Options{Version: version}, Config{Logger: l.logger()})
		if _, err := st.Search(t.Context(), q); err != nil {
			t.Error(err)
		}
		st.versionCheck.Wait()
		if got := l.lines("untested server version"); len(got) != want || want == 1 && !strings.Contains(got[0], version) {
			t.Errorf("%s: %q, want %d warnings", version, got, want)
		}
	}
}

// Close does not wait for a server that never answers the version check.
func TestCloseDuringVersionCheck(t *testing.T) {
	addr := listen(t, func(net.Conn) {})
	st := open(t, Config{URL: addr, Collection: "facts"})
	began := time.Now()
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestUnfinishedUpdatesAreErrors(t *testing.T) {
	for state, ok := range map[pb.UpdateStatus]bool{
		pb.UpdateStatus_Completed: true, pb.UpdateStatus_Acknowledged: false, pb.UpdateStatus_WaitTimeout: false, pb.UpdateStatus_ClockRejected: false,
	} {
		if err := completed(&pb.UpdateResult{Status: state}); (err == nil) != ok || !ok && !errors.Is(err, vdb.ErrUnavailable) {
			t.Errorf("%s: %v", state, err)
		}
	}
}
