package server

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/graphstore"
)

type statsOutput struct{ Body Stats }

func (s *Server) statsOp(ctx context.Context, _ *struct{}) (*statsOutput, error) {
	return &statsOutput{Body: s.ops.Stats(ctx)}, nil
}

type digestInput struct {
	UserID string `query:"user_id" minLength:"1" maxLength:"512" doc:"Of one user; absent: of the whole graph."`
}

type digestOutput struct {
	Body struct {
		Digest string `json:"digest"`
	}
}

func (s *Server) digestOp(ctx context.Context, in *digestInput) (*digestOutput, error) {
	if in.UserID != "" {
		if _, err := graphstore.NewSpace(in.UserID); err != nil {
			return nil, huma.Error422UnprocessableEntity(err.Error())
		}
	}
	digest, err := s.ops.Digest(ctx, in.UserID)
	if errors.Is(err, ErrNoGraph) {
		return nil, huma.Error503ServiceUnavailable(err.Error())
	}
	if err != nil {
		return nil, s.httpError(err)
	}
	var out digestOutput
	out.Body.Digest = digest
	return &out, nil
}
