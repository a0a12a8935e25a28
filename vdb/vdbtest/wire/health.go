package wire

import (
	"context"

	pb "github.com/qdrant/go-client/qdrant"
)

// healthService answers the version.
type healthService struct {
	pb.UnimplementedQdrantServer
	version string
}

// HealthCheck reports the configured version under the real server's title.
func (h healthService) HealthCheck(context.Context, *pb.HealthCheckRequest) (*pb.HealthCheckReply, error) {
	return &pb.HealthCheckReply{Title: "qdrant - vector search engine", Version: h.version}, nil
}
