package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/vdb"
)

// Errors of the administration.
var (
	// ErrBusy reports maintenance that was not begun because other maintenance is going on. Nothing was done.
	ErrBusy = errors.New("other maintenance is going on")
	// ErrBadRequest reports maintenance that cannot be done as it was asked for; the text says why. Nothing was done.
	ErrBadRequest = errors.New("cannot be done")
)

// Backup describes a backup that is complete.
type Backup struct {
	Dir      string `json:"dir"`
	GraphID  string `json:"graph_id"`
	Digest   string `json:"digest"`
	Log      string `json:"log"` // the incarnation of the event stream
	Seq      uint64 `json:"seq"` // every event up to here is in the backup
	Users    int    `json:"users"`
	Facts    int    `json:"facts"`
	Entities int    `json:"entities"`
	Topics   int    `json:"topics"`
	Edges    int    `json:"edges"`
	Bytes    int64  `json:"bytes"`
	TookMS   int64  `json:"took_ms"`
}

// Compaction describes a compaction that is done.
type Compaction struct {
	BytesBefore int64  `json:"bytes_before"`
	BytesAfter  int64  `json:"bytes_after"`
	Records     int    `json:"records"`
	Digest      string `json:"digest"` // before and after: they are equal
	TookMS      int64  `json:"took_ms"`
}

// Busy says what is in flight.
type Busy struct {
	Busy        bool      `json:"busy"`                  // any of the below
	Searches    int       `json:"searches"`              // being answered
	Applying    int       `json:"applying"`              // events taken and not settled yet
	Pending     uint64    `json:"pending"`               // events in the stream that were not taken yet
	Loading     bool      `json:"loading"`               // the graph is being read into memory
	Maintenance string    `json:"maintenance,omitempty"` // backup, compaction, rebuild of the graph, backfill, verification, or what the service does of itself
	Since       time.Time `json:"since,omitzero"`        // when that began
}

// BackupRequest is the body of POST /v1/admin/backup.
type BackupRequest struct {
	Dir string `json:"dir" minLength:"1" maxLength:"4096" doc:"Absolute path of a directory on the service's machine; made if need be, must be empty."`
}

type (
	backupInput   struct{ Body BackupRequest }
	backupOutput  struct{ Body Backup }
	compactInput  struct{ Body *struct{} } // nothing to say: a field of it would be a mistake
	compactOutput struct{ Body Compaction }
	busyOutput    struct{ Body Busy }
)

func (s *Server) registerAdmin(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "backup", Method: http.MethodPost, Path: "/v1/admin/backup", Summary: "Write a backup of the graph",
		Description: "Searches go on; events wait while the file is copied.",
		Middlewares: huma.Middlewares{patient},
	}, s.backupOp)
	huma.Register(api, huma.Operation{
		OperationID: "compact", Method: http.MethodPost, Path: "/v1/admin/compact", Summary: "Write the graph's file anew",
		Description: "Searches go on; events wait. The graph is the same afterwards; what was deleted or replaced is no longer in its file.",
		Middlewares: huma.Middlewares{patient},
	}, s.compactOp)
	huma.Register(api, huma.Operation{
		OperationID: "busy", Method: http.MethodGet, Path: "/v1/admin/busy", Summary: "Whether work is in flight",
	}, s.busyOp)
}

// patient lifts the time limit of an answer: maintenance takes what it takes, and ends when the client goes.
func patient(ctx huma.Context, next func(huma.Context)) {
	if w, ok := ctx.BodyWriter().(http.ResponseWriter); ok {
		limits := http.NewResponseController(w)
		_ = limits.SetWriteDeadline(time.Time{}) // not every writer has a limit to lift
		_ = limits.SetReadDeadline(time.Time{})  // at its end the server takes the client for gone
	}
	next(ctx)
}

func (s *Server) backupOp(ctx context.Context, in *backupInput) (*backupOutput, error) {
	if !filepath.IsAbs(in.Body.Dir) {
		return nil, huma.Error422UnprocessableEntity("dir: want an absolute path: the service does not know where you are")
	}
	b, err := s.ops.Backup(ctx, in.Body.Dir)
	if err != nil {
		return nil, s.adminError(err)
	}
	return &backupOutput{b}, nil
}

func (s *Server) compactOp(ctx context.Context, _ *compactInput) (*compactOutput, error) {
	c, err := s.ops.Compact(ctx)
	if err != nil {
		return nil, s.adminError(err)
	}
	return &compactOutput{c}, nil
}

func (s *Server) busyOp(context.Context, *struct{}) (*busyOutput, error) {
	b := s.ops.Busy()
	b.Searches = int(s.searches.Load())
	b.Busy = b.Searches > 0 || b.Applying > 0 || b.Pending > 0 || b.Loading || b.Maintenance != ""
	return &busyOutput{b}, nil
}

func (s *Server) adminError(err error) error {
	switch {
	case errors.Is(err, ErrBusy):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, ErrBadRequest), errors.Is(err, vdb.ErrNoCollection):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, ErrNoGraph), errors.Is(err, vdb.ErrUnavailable), errors.Is(err, vdb.ErrRefused):
		return huma.Error503ServiceUnavailable(err.Error())
	default:
		s.log.Error("maintenance", "err", err)
		return huma.Error500InternalServerError(err.Error())
	}
}
