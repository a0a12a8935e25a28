package qdrant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kithgraph/kith/vdb"
)

func TestTranslate(t *testing.T) {
	m := errorMap{addr: address{host: "db", port: 6334}, collection: "facts", vectorName: "dense", maxBytes: 1 << 20}
	wrapped := func(code codes.Code, text string) error { // as the client wraps what gRPC returns
		return fmt.Errorf("Query() failed: facts: %w", status.Error(code, text))
	}
	all := []error{vdb.ErrBadQuery, vdb.ErrNoCollection, vdb.ErrUnavailable, vdb.ErrUnsupported, vdb.ErrRefused, vdb.ErrClosed,
		context.Canceled, context.DeadlineExceeded, errTooLarge, errVectorName}
	for name, tc := range map[string]struct {
		err   error
		ended error
		is    []error // the error is these, and none of the others
		say   []string
	}{
		"down":                   {wrapped(codes.Unavailable, "connection refused"), nil, []error{vdb.ErrUnavailable}, []string{"db:6334", "connection refused"}},
		"deadline of the driver": {wrapped(codes.DeadlineExceeded, "context deadline exceeded"), nil, []error{vdb.ErrUnavailable}, []string{"in time"}},
		"deadline, bare":         {context.DeadlineExceeded, nil, []error{vdb.ErrUnavailable}, nil},
		"deadline of the caller": {wrapped(codes.DeadlineExceeded, "x"), context.DeadlineExceeded, []error{context.DeadlineExceeded}, []string{"db:6334"}},
		"cancelled by caller":    {wrapped(codes.Canceled, "context canceled"), context.Canceled, []error{context.Canceled}, nil},
		"cancelled by another":   {wrapped(codes.Canceled, "grpc: the client connection is closing"), nil, []error{vdb.ErrUnavailable}, nil},
		"no collection":          {wrapped(codes.NotFound, "Not found: Collection `facts` doesn't exist!"), nil, []error{vdb.ErrNoCollection}, []string{`"facts"`, "create_collection"}},
		"dimension": {wrapped(codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: 384, got 3"), nil,
			[]error{vdb.ErrBadQuery}, []string{"3 dimensions", "has 384"}},
		"vector name": {wrapped(codes.InvalidArgument, "Wrong input: Not existing vector name error: dense"), nil, []error{errVectorName, vdb.ErrRefused}, []string{`"dense"`, "vector_name"}},
		"strict mode": {wrapped(codes.InvalidArgument, "Bad request: Index required but not found for \"agent_id\""), nil, []error{vdb.ErrRefused}, []string{"refuses", "agent_id"}},
		"key":         {wrapped(codes.Unauthenticated, "Invalid API key or JWT"), nil, []error{vdb.ErrRefused}, []string{"api key", "Invalid API key"}},
		"old key":     {wrapped(codes.PermissionDenied, "Invalid api-key"), nil, []error{vdb.ErrRefused}, []string{"api key"}},
		"message": {wrapped(codes.ResourceExhausted, "grpc: received message larger than max (4964878 vs. 4194304)"), nil,
			[]error{errTooLarge}, []string{"max_message_bytes 1048576", "fewer points"}},
		"server's limit": {wrapped(codes.ResourceExhausted, "too many requests"), nil, []error{vdb.ErrUnavailable}, []string{"too many requests"}},
		"rate": {fmt.Errorf("Query() failed: %w", &pb.QdrantResourceExhaustedError{Reason: "rate", RetryAfterS: 7}), nil,
			[]error{vdb.ErrUnavailable}, []string{"retry after 7 s"}},
		"too old":        {wrapped(codes.Unimplemented, "unknown method Query"), nil, []error{vdb.ErrUnsupported}, []string{"too old"}},
		"server's fault": {wrapped(codes.Internal, "Service internal error: task panicked"), nil, nil, []string{"Internal", "task panicked"}},
		"no status":      {errors.New("odd"), nil, nil, []string{"odd"}},
		"REST answer":    {wrapped(codes.Unavailable, "error reading server preface: http2: frame too large"), nil, []error{vdb.ErrUnavailable}, []string{"gRPC port"}},
	} {
		got := m.translate(tc.err, tc.ended, vdb.ErrBadQuery)
		if got == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, kind := range all {
			want := false
			for _, is := range tc.is {
				want = want || is == kind //nolint:errorlint // sentinels themselves
			}
			if errors.Is(got, kind) != want {
				t.Errorf("%s: %q is %q: %v", name, got, kind, !want)
			}
		}
		for _, say := range tc.say {
			if !strings.Contains(got.Error(), say) {
				t.Errorf("%s: %q does not say %q", name, got, say)
			}
		}
	}
	if err := m.translate(nil, nil, vdb.ErrBadQuery); err != nil {
		t.Errorf("no error became %v", err)
	}
	m.addr.port = restPort
	if err := m.translate(wrapped(codes.Unavailable, "EOF"), nil, nil); !strings.Contains(err.Error(), restHint) {
		t.Errorf("%q does not say that the port is the REST interface's", err)
	}
	var dimension *vdb.DimensionError
	err := m.translate(wrapped(codes.InvalidArgument, "expected dim: 384, got 3"), nil, vdb.ErrBadPoint)
	if !errors.As(err, &dimension) || *dimension != (vdb.DimensionError{Got: 3, Want: 384}) || !errors.Is(err, vdb.ErrBadPoint) {
		t.Errorf("got %v, want a DimensionError in ErrBadPoint", err)
	}
}

func TestVersionDoubt(t *testing.T) {
	for version, want := range map[string]bool{
		"1.15.0": false, "1.17.1": false, "v1.18.2": false, "1.20.3": false, "1.20.0-dev": false,
		"1.14.1": true, "1.21.0": true, "2.0.0": true, "0.9.0": true, "": true, "dev": true,
	} {
		if got := versionDoubt(version); (got != "") != want {
			t.Errorf("%q: %q", version, got)
		}
	}
}
