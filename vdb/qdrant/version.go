package qdrant

import (
	"context"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

// The server versions this driver is written for, inclusive.
const (
	serverMajor    = 1
	serverMinorMin = 15
	serverMinorMax = 20
)

// checkVersion waits until the server can be reached and warns once if it is of another version than the driver is
// written for. It ends when ctx does.
func (s *Store) checkVersion(ctx context.Context) {
	// WaitForReady keeps the call pending while the server is down instead of failing it.
	reply, err := s.client.GetQdrantClient().HealthCheck(ctx, &pb.HealthCheckRequest{}, grpc.WaitForReady(true))
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.log.Warn("the server's version could not be asked", "err", s.errs.translate(err, nil, nil))
		return
	}
	if doubt := versionDoubt(reply.GetVersion()); doubt != "" {
		s.log.Warn(doubt, "server_version", reply.GetVersion())
	}
}

// versionDoubt says what is wrong with a server's version, or nothing.
func versionDoubt(version string) string {
	written := fmt.Sprintf("the driver is written for qdrant %d.%d to %d.%d", serverMajor, serverMinorMin, serverMajor, serverMinorMax)
	v, err := pb.ParseVersion(version)
	switch {
	case err != nil:
		return "the server's version cannot be read: " + written
	case v.Major != serverMajor || v.Minor < serverMinorMin || v.Minor > serverMinorMax:
		return "untested server version: " + written
	default:
		return ""
	}
}
