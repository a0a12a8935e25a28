package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

type (
	deadListInput  struct{ DeadQuery }
	deadListOutput struct{ Body DeadPage }
	deadShowInput  struct {
		Number uint64 `path:"number" minimum:"1"`
	}
	deadShowOutput   struct{ Body DeadLetter }
	deadWorkInput    struct{ Body deadWorkBody }
	deadReportOutput struct{ Body DeadReport }
)

func (s *Server) registerDead(api huma.API) {
	guards := huma.Middlewares{notForPages(api)}
	huma.Register(api, huma.Operation{
		OperationID: "dead-list", Method: http.MethodGet, Path: "/v1/dead", Summary: "List dead letters",
		RejectUnknownQueryParameters: true, Middlewares: guards,
	}, s.deadListOp)
	huma.Register(api, huma.Operation{
		OperationID: "dead-show", Method: http.MethodGet, Path: "/v1/dead/{number}", Summary: "Show a dead letter with its payload",
		RejectUnknownQueryParameters: true, Middlewares: guards,
	}, s.deadShowOp)
	huma.Register(api, huma.Operation{
		OperationID: "dead-replay", Method: http.MethodPost, Path: "/v1/dead/replay", Summary: "Publish what dead letters are about again",
		Description: "Each is dropped when the stream has acknowledged the event. What fails again becomes a dead letter again.",
		Middlewares: append(guards, patient), Responses: partialResponses[DeadReport](api, "DeadProblem"),
	}, s.deadWorkOp(true))
	huma.Register(api, huma.Operation{
		OperationID: "dead-drop", Method: http.MethodPost, Path: "/v1/dead/drop", Summary: "Erase dead letters",
		Middlewares: append(guards, patient), Responses: partialResponses[DeadReport](api, "DeadProblem"),
	}, s.deadWorkOp(false))
}

// notForPages keeps dead letters, which hold what users have said, from web pages.
func notForPages(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if ctx.Header("Origin") != "" {
			_ = huma.WriteErr(api, ctx, http.StatusForbidden, "dead letters are not for web pages") // the client is gone: nobody is left to tell
			return
		}
		next(ctx)
	}
}

func (s *Server) deadListOp(ctx context.Context, in *deadListInput) (*deadListOutput, error) {
	if s.cfg.Dead == nil {
		return nil, s.deadError(ErrNoDeadLetters)
	}
	page, err := s.cfg.Dead.ListDead(ctx, in.DeadQuery)
	if err != nil {
		return nil, s.deadError(err)
	}
	if page.Letters == nil {
		page.Letters = []DeadLetter{}
	}
	return &deadListOutput{page}, nil
}

func (s *Server) deadShowOp(ctx context.Context, in *deadShowInput) (*deadShowOutput, error) {
	if s.cfg.Dead == nil {
		return nil, s.deadError(ErrNoDeadLetters)
	}
	letter, err := s.cfg.Dead.ShowDead(ctx, in.Number)
	if err != nil {
		return nil, s.deadError(err)
	}
	return &deadShowOutput{letter}, nil
}

// deadWorkOp replays or drops.
func (s *Server) deadWorkOp(replay bool) func(context.Context, *deadWorkInput) (*deadReportOutput, error) {
	return func(ctx context.Context, in *deadWorkInput) (*deadReportOutput, error) {
		work := DeadWork(in.Body)
		if err := work.check(replay); err != nil {
			return nil, huma.Error422UnprocessableEntity(err.Error())
		}
		if s.cfg.Dead == nil {
			return nil, s.deadError(ErrNoDeadLetters)
		}
		do := s.cfg.Dead.DropDead
		if replay {
			do = s.cfg.Dead.ReplayDead
		}
		report, err := do(ctx, work)
		if report.Errors == nil {
			report.Errors = []DeadError{}
		}
		switch {
		case err == nil:
			return &deadReportOutput{report}, nil
		case report.Done+report.Refused > 0:
			return nil, withPartial(s.deadError(err), report)
		default:
			return nil, s.deadError(err)
		}
	}
}

func (s *Server) deadError(err error) error {
	switch {
	case errors.Is(err, ErrNoDeadLetter):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, ErrBadRequest):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, ErrNoDeadLetters):
		return huma.Error503ServiceUnavailable(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(499, "client closed the request") // the client does not see it; logs do
	default:
		s.log.Error("dead letters", "err", err)
		return huma.Error500InternalServerError(err.Error())
	}
}
