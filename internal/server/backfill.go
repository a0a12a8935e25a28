package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/backfill"
)

// ErrNoBackfill reports an id that no backfill of this run of the service has.
var ErrNoBackfill = errors.New("no such backfill")

// Backfills makes graphs of stored points, in the background.
type Backfills interface {
	// Start begins a backfill and returns at once. Errors: ErrBusy while one of the same user goes on, or the graph is being rebuilt,
	// ErrBadRequest, ErrNoGraph.
	Start(ctx context.Context, req backfill.Request) (Backfill, error)
	// List returns those that go on and the last ones that ended, newest first.
	List() []Backfill
	// Get returns how far one is, or ErrNoBackfill. It must not block.
	Get(id string) (Backfill, error)
	// Cancel ends one after the page in hand and returns when it has ended: its checkpoint stays. One that has ended is left alone.
	Cancel(ctx context.Context, id string) (Backfill, error)
}

// Backfill is how far a backfill is.
type Backfill struct {
	Running   bool             `json:"running"`
	Error     string           `json:"error,omitempty" doc:"Why it stopped."`
	Resumable bool             `json:"resumable,omitempty" doc:"Of one that stopped: a request with resume and the same options goes on from its checkpoint."`
	Rate      float64          `json:"rate" doc:"Points a second, of late; of one that has ended, over all of it."`
	LeftMS    int64            `json:"left_ms" doc:"Milliseconds until the last point at that rate; 0: unknown, or none."`
	Report    backfill.Account `json:"report"`
}

type (
	backfillInput  struct{ Body *backfillBody } // nothing to say: the whole collection
	backfillOutput struct{ Body Backfill }
	backfillID     struct {
		ID     string `path:"id" maxLength:"64"`
		Accept string `header:"Accept" doc:"text/event-stream: progress as server-sent events until it has ended."`
	}
	backfillsOutput struct {
		Body struct {
			Backfills []Backfill `json:"backfills"`
		}
	}
)

func (s *Server) registerBackfills(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "start-backfill", Method: http.MethodPost, Path: "/v1/backfills", Summary: "Begin to make a graph of stored points", DefaultStatus: http.StatusAccepted,
		Description: "Searches go on and events are projected meanwhile. One backfill at a time of any user.",
	}, s.startBackfill)
	huma.Register(api, huma.Operation{
		OperationID: "list-backfills", Method: http.MethodGet, Path: "/v1/backfills", Summary: "Backfills that go on, and the last ones that ended",
	}, s.listBackfills)
	huma.Register(api, huma.Operation{
		OperationID: "get-backfill", Method: http.MethodGet, Path: "/v1/backfills/{id}", Summary: "How far a backfill is, once or as server-sent events",
		Middlewares: huma.Middlewares{patient},
	}, s.getBackfill)
	huma.Register(api, huma.Operation{
		OperationID: "cancel-backfill", Method: http.MethodDelete, Path: "/v1/backfills/{id}", Summary: "End a backfill; it can be resumed",
	}, s.cancelBackfill)
}

// backfills returns what makes backfills, or an error that says that there is nothing.
func (s *Server) backfills() (Backfills, error) {
	if s.cfg.Backfills == nil {
		return nil, huma.Error503ServiceUnavailable("this service makes no backfills")
	}
	return s.cfg.Backfills, nil
}

func (s *Server) startBackfill(ctx context.Context, in *backfillInput) (*backfillOutput, error) {
	b, err := s.backfills()
	if err != nil {
		return nil, err
	}
	var req backfill.Request
	if in.Body != nil {
		req = backfill.Request(*in.Body)
	}
	out, err := b.Start(ctx, req)
	if err != nil {
		return nil, s.backfillError(err)
	}
	return &backfillOutput{out}, nil
}

func (s *Server) listBackfills(context.Context, *struct{}) (*backfillsOutput, error) {
	b, err := s.backfills()
	if err != nil {
		return nil, err
	}
	var out backfillsOutput
	out.Body.Backfills = b.List()
	return &out, nil
}

func (s *Server) cancelBackfill(ctx context.Context, in *backfillID) (*backfillOutput, error) {
	b, err := s.backfills()
	if err != nil {
		return nil, err
	}
	out, err := b.Cancel(ctx, in.ID)
	if err != nil {
		return nil, s.backfillError(err)
	}
	return &backfillOutput{out}, nil
}

func (s *Server) getBackfill(_ context.Context, in *backfillID) (*huma.StreamResponse, error) {
	b, err := s.backfills()
	if err != nil {
		return nil, err
	}
	now, err := b.Get(in.ID)
	if err != nil {
		return nil, s.backfillError(err)
	}
	if !strings.Contains(in.Accept, "text/event-stream") {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "application/json")
			_ = json.NewEncoder(ctx.BodyWriter()).Encode(now) // the client is gone: nobody is left to tell
		}}, nil
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		streamBackfill(ctx.Context(), ctx.BodyWriter(), b, now)
	}}, nil
}

// progressEvery is how often progress is sent.
const progressEvery = 500 * time.Millisecond

// streamBackfill sends progress until the backfill has ended, which the last event says, or the client is gone.
func streamBackfill(ctx context.Context, w io.Writer, b Backfills, now Backfill) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		name := "progress"
		if !now.Running {
			name = "ended"
		}
		if sendEvent(w, name, now) != nil || !now.Running {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var err error
		if now, err = b.Get(now.Report.ID); err != nil {
			return
		}
	}
}

func sendEvent(w io.Writer, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return err
	}
	if rw, ok := w.(http.ResponseWriter); ok {
		if err := http.NewResponseController(rw).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

func (s *Server) backfillError(err error) error {
	switch {
	case errors.Is(err, ErrNoBackfill):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, backfill.ErrBadRequest), errors.Is(err, backfill.ErrNoCheckpoint):
		return huma.Error422UnprocessableEntity(err.Error())
	default:
		return s.adminError(err)
	}
}
