package qdrant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/metadata"
)

// Reconnecting: gRPC's own backoff grows to two minutes, in which a server that is back would not be noticed.
var connectParams = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// retryBytes is how large a request may be to be repeated, see retryPolicy. By gRPC's own limit, 256 KiB, one of 64 long vectors
// would not be.
const retryBytes = 8 << 20

// dial makes the client. Nothing is sent before the first call.
func dial(cfg Config, addr address) (*pb.Client, error) {
	tlsConfig, err := cfg.tlsConfig(addr)
	if err != nil {
		return nil, err
	}
	client, err := pb.NewClient(&pb.Config{
		Host:      addr.dialHost(),
		Port:      addr.port,
		UseTLS:    addr.tls,
		TLSConfig: tlsConfig,
		PoolSize:  uint(cfg.PoolSize),
		// The client's own check blocks NewClient for up to a minute while the server cannot be reached. See checkVersion.
		SkipCompatibilityCheck: true,
		GrpcOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(cfg.MaxMessageBytes), grpc.MaxRetryRPCBufferSize(retryBytes)),
			grpc.WithConnectParams(connectParams),
			grpc.WithDefaultServiceConfig(retryPolicy(cfg.RetryAttempts)),
			// Chained: grpc.WithUnaryInterceptor would replace interceptors of the client.
			grpc.WithChainUnaryInterceptor(sendKey(cfg.APIKey)),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return client, nil
}

// tlsConfig returns nil for an address without TLS.
func (c Config) tlsConfig(addr address) (*tls.Config, error) {
	if !addr.tls {
		if c.CAFile != "" {
			return nil, fmt.Errorf("ca file %q: only for https, but the url is %s", c.CAFile, c.URL)
		}
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: addr.host}
	if c.CAFile == "" {
		return out, nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read ca file: %w", err)
	}
	out.RootCAs = x509.NewCertPool()
	if !out.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca file %q: holds no PEM certificate", c.CAFile)
	}
	return out, nil
}

// retryPolicy lets gRPC repeat calls that were refused as UNAVAILABLE. All calls of this driver may be repeated: an
// update that was applied before its answer was lost is applied again with the same result.
func retryPolicy(attempts int) string {
	if attempts < 2 {
		return `{}`
	}
	return fmt.Sprintf(`{"methodConfig":[{"name":[{}],"retryPolicy":{"maxAttempts":%d,"initialBackoff":"0.05s",`+
		`"maxBackoff":"1s","backoffMultiplier":2,"retryableStatusCodes":["UNAVAILABLE"]}}]}`, attempts)
}

// sendKey adds the API key to every call. The client would do it too, but warns on the default logger once for each
// connection, loopback or not.
func sendKey(key string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if key != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "api-key", key)
		}
		return next(ctx, method, req, reply, cc, opts...)
	}
}
