package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/backfill"
)

// Verifier compares the graph with the stored points.
type Verifier interface {
	// Verify does it, and repairs if the request says so. Errors: ErrBusy while another one, a backfill or a rebuild goes on, or, with a
	// repair, an erasure; backfill.ErrBadRequest; ErrNoGraph; those of the stores.
	Verify(ctx context.Context, req backfill.VerifyRequest) (backfill.VerifyReport, error)
	// VerifyState says how far a verification is. It must not block.
	VerifyState() VerifyState
}

// VerifyState says how far a verification is. What the last one found is not kept, since it names facts of users; the metrics have its
// numbers.
type VerifyState struct {
	Running *backfill.VerifyReport `json:"running,omitempty" doc:"What the one that goes on has found so far: users of of_users are done. Absent: none goes on."`
}

type (
	verifyInput  struct{ Body *verifyBody } // nothing to say: all users
	verifyOutput struct{ Body backfill.VerifyReport }
	verifyState  struct{ Body VerifyState }
)

func (s *Server) registerVerify(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "verify", Method: http.MethodPost, Path: "/v1/verify", Summary: "Compare the graph with the stored points, and repair it",
		Description: "Searches go on and events are projected meanwhile. It ends when the client goes.",
		Middlewares: huma.Middlewares{patient},
	}, s.verifyOp)
	huma.Register(api, huma.Operation{
		OperationID: "verify-state", Method: http.MethodGet, Path: "/v1/verify", Summary: "How far a verification is",
	}, s.verifyStateOp)
}

func (s *Server) verifyStateOp(context.Context, *struct{}) (*verifyState, error) {
	if s.cfg.Verifier == nil {
		return nil, huma.Error503ServiceUnavailable("this service verifies nothing")
	}
	return &verifyState{s.cfg.Verifier.VerifyState()}, nil
}

func (s *Server) verifyOp(ctx context.Context, in *verifyInput) (*verifyOutput, error) {
	if s.cfg.Verifier == nil {
		return nil, huma.Error503ServiceUnavailable("this service verifies nothing")
	}
	var req backfill.VerifyRequest
	if in.Body != nil {
		req = backfill.VerifyRequest(*in.Body)
	}
	if err := req.Check(); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	out, err := s.cfg.Verifier.Verify(ctx, req)
	switch {
	case errors.Is(err, backfill.ErrBadRequest): // "cannot be backfilled" is no word on a verification
		return nil, huma.Error422UnprocessableEntity(strings.TrimPrefix(err.Error(), backfill.ErrBadRequest.Error()+": "))
	case err != nil:
		return nil, s.adminError(err)
	}
	return &verifyOutput{out}, nil
}
