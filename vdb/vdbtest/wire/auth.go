package wire

import (
	"context"
	"crypto/subtle"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// authenticate refuses calls without the API key, with the texts of the real server.
func (s *Server) authenticate(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if s.opts.APIKey == "" || info.FullMethod == pb.Qdrant_HealthCheck_FullMethodName {
		return next(ctx, req)
	}
	key, ok := presentedKey(ctx)
	if !ok {
		return nil, status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(s.opts.APIKey)) != 1 {
		return nil, status.Error(codes.Unauthenticated, "Invalid API key or JWT")
	}
	return next(ctx, req)
}

func presentedKey(ctx context.Context) (string, bool) {
	md, _ := metadata.FromIncomingContext(ctx)
	if keys := md.Get("api-key"); len(keys) > 0 {
		return keys[0], true
	}
	for _, value := range md.Get("authorization") {
		if token, ok := strings.CutPrefix(value, "Bearer "); ok {
			return token, true
		}
	}
	return "", false
}
