package qdrant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kithgraph/kith/vdb"
)

// Reasons that only this package branches on.
var (
	errTooLarge   = errors.New("answer is too large")
	errVectorName = refusal("collection has no such vector")
)

// refusal is a [vdb.ErrRefused] in words of its own.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is implements the interface of [errors.Is].
func (r refusal) Is(target error) bool { return target == vdb.ErrRefused }

const restHint = "port 6333 is the server's REST interface: use its gRPC port, 6334 unless configured otherwise"

// errorMap turns what the client returns into the errors of the vdb contract. It is the one place that does.
type errorMap struct {
	addr       address
	collection string
	vectorName string
	// sparseVector is the name of the vector of words.
	sparseVector string
	maxBytes     int
}

// translate maps an error of one call. ended is why the caller's context has ended, or nil; bad is the kind of a fault of
// the caller's vectors.
func (m errorMap) translate(err, ended, bad error) error {
	var limited *pb.QdrantResourceExhaustedError
	code, text := codeAndText(err)
	switch {
	case err == nil:
		return nil
	case ended != nil:
		return fmt.Errorf("qdrant %s: %w", m.addr, ended)
	case errors.As(err, &limited):
		return fmt.Errorf("%w: qdrant %s limits the rate (%s), retry after %d s", vdb.ErrUnavailable, m.addr, limited.Reason, limited.RetryAfterS)
	}
	switch code {
	case codes.Unavailable:
		return fmt.Errorf("%w: qdrant %s: %s%s", vdb.ErrUnavailable, m.addr, text, m.portHint(text))
	case codes.DeadlineExceeded, codes.Canceled:
		return fmt.Errorf("%w: qdrant %s did not answer in time: %s%s", vdb.ErrUnavailable, m.addr, text, m.portHint(text))
	case codes.ResourceExhausted:
		return m.exhausted(text)
	case codes.NotFound:
		return fmt.Errorf("%w: %q on qdrant %s (%s): create it, or let create_collection do so", vdb.ErrNoCollection, m.collection, m.addr, text)
	case codes.InvalidArgument:
		return m.invalid(text, bad)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("qdrant %s %w: %s", m.addr, refusal("refuses the api key"), text)
	case codes.Unimplemented:
		return fmt.Errorf("%w: qdrant %s is too old or does not know the call: %s", vdb.ErrUnsupported, m.addr, text)
	default:
		return fmt.Errorf("qdrant %s: %s: %s", m.addr, code, text)
	}
}

// codeAndText unwraps the client's wrapping, whose own text repeats method and collection. A deadline may also arrive as
// the context's error.
func codeAndText(err error) (codes.Code, string) {
	var withStatus interface{ GRPCStatus() *status.Status }
	switch {
	case errors.As(err, &withStatus):
		st := withStatus.GRPCStatus()
		return st.Code(), st.Message()
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded, err.Error()
	case errors.Is(err, context.Canceled):
		return codes.Canceled, err.Error()
	case err != nil:
		return codes.Unknown, err.Error()
	default:
		return codes.OK, ""
	}
}

// portHint recognises the REST interface by its port, and by what an HTTP/1.1 answer looks like to an HTTP/2 client.
func (m errorMap) portHint(text string) string {
	if m.addr.port == restPort {
		return ": " + restHint
	}
	if strings.Contains(text, "frame too large") || strings.Contains(text, "HTTP/1.") {
		return ": is this the gRPC port?"
	}
	return ""
}

// exhausted tells a limit of this side, for which a retry is no use, from one of the server's.
func (m errorMap) exhausted(text string) error {
	if strings.Contains(text, "larger than max") {
		return fmt.Errorf("%w: qdrant %s: more than max_message_bytes %d (%s): ask for fewer points or raise the limit",
			errTooLarge, m.addr, m.maxBytes, text)
	}
	return fmt.Errorf("%w: qdrant %s is at its limit: %s", vdb.ErrUnavailable, m.addr, text)
}

var wrongDimension = regexp.MustCompile(`expected dim: (\d+), got (\d+)`)

func (m errorMap) invalid(text string, bad error) error {
	if found := wrongDimension.FindStringSubmatch(text); found != nil {
		want, wantErr := strconv.Atoi(found[1])
		got, gotErr := strconv.Atoi(found[2])
		if wantErr == nil && gotErr == nil {
			return fmt.Errorf("%w: %w", bad, &vdb.DimensionError{Got: got, Want: want})
		}
	}
	if strings.HasSuffix(text, "Not existing vector name error: "+m.sparseVector) {
		return fmt.Errorf("collection %q on qdrant %s: %w as %q (sparse_vector)", m.collection, m.addr, errVectorName, m.sparseVector)
	}
	if strings.Contains(text, "Not existing vector name") {
		return fmt.Errorf("collection %q on qdrant %s: %w as %q (vector_name)", m.collection, m.addr, errVectorName, m.vectorName)
	}
	return fmt.Errorf("qdrant %s %w: %s", m.addr, refusal("refuses the request"), text)
}
