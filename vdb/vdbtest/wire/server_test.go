package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func splitAddr(t testing.TB, addr string) (string, int) {
	t.Helper()
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

func TestHealthCheckReportsTheVersion(t *testing.T) {
	for given, want := range map[string]string{"": DefaultVersion, "1.20.3": "1.20.3"} {
		c := dial(t, Start(t, Options{Version: given}), nil)
		reply, err := c.HealthCheck(t.Context())
		if err != nil || reply.GetVersion() != want {
			t.Errorf("version %q: got %q, %v", given, reply.GetVersion(), err)
		}
	}
	if _, err := New(Options{Version: "new"}); err == nil {
		t.Error("a version without numbers was accepted")
	}
}

func TestAPIKey(t *testing.T) {
	s := Start(t, Options{APIKey: "secret"})
	list := func(key string) error {
		_, err := dial(t, s, func(c *pb.Config) { c.APIKey = key }).ListCollections(t.Context())
		return err
	}
	if err := list("secret"); err != nil {
		t.Errorf("right key: %v", err)
	}
	wantStatus(t, list("other"), codes.Unauthenticated, "Invalid API key or JWT")
	wantStatus(t, list(""), codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
	if _, err := dial(t, s, nil).HealthCheck(t.Context()); err != nil {
		t.Errorf("the health check needs no key, but: %v", err)
	}
}

func TestTLS(t *testing.T) {
	cert, ca, err := NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, Options{Certificate: &cert})
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("no PEM certificate")
	}
	trusting := dial(t, s, func(c *pb.Config) {
		c.UseTLS, c.TLSConfig = true, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	})
	if _, err := trusting.ListCollections(t.Context()); err != nil {
		t.Errorf("trusted: %v", err)
	}
	strange := dial(t, s, func(c *pb.Config) { c.UseTLS, c.TLSConfig = true, &tls.Config{MinVersion: tls.VersionTLS12} })
	if _, err := strange.ListCollections(t.Context()); status.Code(err) != codes.Unavailable {
		t.Errorf("unknown authority: got %v, want Unavailable", err)
	}
	if _, err := dial(t, s, nil).ListCollections(t.Context()); status.Code(err) != codes.Unavailable {
		t.Errorf("plaintext: got %v, want Unavailable", err)
	}
}

func TestFaults(t *testing.T) {
	s := Start(t, Options{})
	c := dial(t, s, nil)
	list := func() error { _, err := c.ListCollections(t.Context()); return err }

	s.Inject(Fault{Method: "List", Times: 2, Code: codes.Unavailable, Message: "broken"})
	wantStatus(t, list(), codes.Unavailable, "broken")
	if _, err := c.CollectionExists(t.Context(), "x"); err != nil {
		t.Errorf("another method was hit: %v", err)
	}
	wantStatus(t, list(), codes.Unavailable, "broken")
	if err := list(); err != nil {
		t.Errorf("the spent fault hit again: %v", err)
	}
	if n := s.Calls("List"); n != 3 {
		t.Errorf("%d calls counted, want 3", n)
	}

	s.Inject(Fault{Code: codes.ResourceExhausted, Message: "slow down", RetryAfter: 7 * time.Second})
	var limited *pb.QdrantResourceExhaustedError
	if err := list(); !errors.As(err, &limited) || limited.RetryAfterS != 7 {
		t.Errorf("got %v, want a rate limit with 7 s", err)
	}
	s.Heal()
	if err := list(); err != nil {
		t.Errorf("after Heal: %v", err)
	}

	s.Inject(Fault{Drop: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.ListCollections(ctx); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("dropped: got %v, want DeadlineExceeded", err)
	}
}

func TestFaultAfterTheWorkIsDone(t *testing.T) {
	s := Start(t, Options{})
	c := dial(t, s, nil)
	s.Inject(Fault{Method: "Create", Times: 1, Code: codes.Unavailable, Message: "lost", After: true})
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{CollectionName: "x"})
	wantStatus(t, err, codes.Unavailable, "lost")
	if exists, err := c.CollectionExists(t.Context(), "x"); err != nil || !exists {
		t.Errorf("the collection exists: %v, %v", exists, err)
	}
}

func TestRestartKeepsAddressAndPoints(t *testing.T) {
	s := Start(t, Options{})
	c := dial(t, s, nil)
	newCollection(t, c, "x", 2, pb.Distance_Cosine)
	addr := s.Addr()
	s.Stop()
	s.Stop() // a second time does nothing
	if _, err := c.ListCollections(t.Context()); status.Code(err) != codes.Unavailable {
		t.Errorf("stopped: got %v, want Unavailable", err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if s.Addr() != addr {
		t.Errorf("address %s, was %s", s.Addr(), addr)
	}
	names, err := c.GetCollectionsClient().List(t.Context(), &pb.ListCollectionsRequest{}, grpc.WaitForReady(true))
	if err != nil || len(names.GetCollections()) != 1 {
		t.Errorf("got %v, %v", names.GetCollections(), err)
	}
}

func TestObserveSeesRequests(t *testing.T) {
	seen := make(chan string, 1)
	s := Start(t, Options{APIKey: "k", Observe: func(method string, req any) {
		if r, ok := req.(*pb.CollectionExistsRequest); ok {
			seen <- method + " " + r.GetCollectionName()
		}
	}})
	if _, err := dial(t, s, func(c *pb.Config) { c.APIKey = "k" }).CollectionExists(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "CollectionExists x" {
		t.Errorf("observed %q", got)
	}
}
