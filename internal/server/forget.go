package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/internal/canary"
)

// Forgetter erases users.
type Forgetter interface {
	// Forget erases a user, or says what it would erase, or looks whether anything is left, as the request says. Errors like
	// Backup's; some may then be erased, as the receipt's steps say, and the same request goes on where this one stopped. What is
	// found by a verification is no error.
	Forget(ctx context.Context, req ForgetRequest) (Forgotten, error)
}

// ForgetRequest is the body of POST /v1/admin/forget.
type ForgetRequest struct {
	UserID     string   `json:"user_id" minLength:"1" maxLength:"512" doc:"Who is to be forgotten."`
	DryRun     bool     `json:"dry_run,omitempty" doc:"Count what would be erased, and erase nothing."`
	Points     bool     `json:"points,omitempty" doc:"Also delete the user's points from Qdrant. Those of the embedded vector store are always erased."`
	OldCopies  bool     `json:"old_copies,omitempty" doc:"Also remove old copies of whole graphs, of all users, from the data directory."`
	Verify     bool     `json:"verify,omitempty" doc:"Look afterwards whether anything of the user can be found: ask all stores, and search the files for texts taken from the user's data before."`
	VerifyOnly bool     `json:"verify_only,omitempty" doc:"Look only; erase nothing."`
	Canaries   []string `json:"canaries,omitempty" maxItems:"1000" doc:"Further texts to search the files for, of at least 4 bytes."`
}

// Forgotten is the receipt of a user's erasure. The service keeps nothing of it.
type Forgotten struct {
	UserID   string    `json:"user_id"`
	DryRun   bool      `json:"dry_run,omitempty"`  // nothing was erased: the counts are of what would be
	At       time.Time `json:"at,omitzero"`        // nothing up to then remains
	EventID  string    `json:"event_id,omitempty"` // of the event that asked for it
	Sequence uint64    `json:"sequence,omitempty"` // in the event stream

	Graph      ForgottenGraph  `json:"graph"`
	Log        ForgottenLog    `json:"log"`
	Points     ForgottenPoints `json:"points"`
	OldCopies  []OldCopy       `json:"old_copies,omitempty"`
	Compaction *Compaction     `json:"compaction,omitempty"` // of the graph's file

	Looked  []string     `json:"looked"`  // where
	Remains []string     `json:"remains"` // what, and why
	Steps   []ForgotStep `json:"steps"`
	TookMS  int64        `json:"took_ms"`

	Verification *Verification `json:"verification,omitempty"`
}

// ForgottenGraph counts the records of the user in the graph.
type ForgottenGraph struct {
	Facts      int            `json:"facts"`
	Entities   int            `json:"entities"`
	Topics     int            `json:"topics"`
	Schemas    int            `json:"schemas"`
	Refs       int            `json:"refs"`       // points that evidence of schemas names
	Merges     int            `json:"merges"`     // rows of the merge log
	Tombstones int            `json:"tombstones"` // of sources, and of earlier erasures
	Edges      map[string]int `json:"edges"`      // by type
}

// ForgottenLog counts the messages of the user in the streams.
type ForgottenLog struct {
	Events int `json:"events"`
	Dead   int `json:"dead_letters"`
	Later  int `json:"later"` // dated later, so that they stay
	Read   int `json:"read"`  // messages looked at
}

// ForgottenPoints counts the points of the user in the vector store.
type ForgottenPoints struct {
	Driver    string `json:"driver"`
	Store     string `json:"store"`
	Erased    int64  `json:"erased"`
	Remaining int64  `json:"remaining"`
}

// OldCopy is a whole graph, of all users, that was moved aside some time.
type OldCopy struct {
	Path   string `json:"path"` // relative to the data directory
	Bytes  int64  `json:"bytes"`
	Erased bool   `json:"erased"`
}

// ForgotStep is one step of an erasure and how long it took.
type ForgotStep struct {
	Step   string `json:"step"`
	TookMS int64  `json:"took_ms"`
}

// Verification is what was found of a user.
type Verification struct {
	Clean  bool                `json:"clean"` // nothing but what is declared to stay
	Asked  []VerificationCheck `json:"asked"`
	Shared int                 `json:"shared"` // texts that were found and that others have too: that proves nothing, and their hits do not count
	Left   int                 `json:"left"`   // texts that were not searched for, because there were enough of their kind
	Files  canary.Report       `json:"files"`
	Kept   []canary.Hit        `json:"kept,omitempty"` // hits in old copies that were not to be removed
}

// VerificationCheck is one store that was asked.
type VerificationCheck struct {
	Place string `json:"place"`
	Found int    `json:"found"` // of the user, apart from what is declared to stay
}

type (
	forgetInput  struct{ Body ForgetRequest }
	forgetOutput struct{ Body Forgotten }
)

func (s *Server) registerForget(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "forget", Method: http.MethodPost, Path: "/v1/admin/forget", Summary: "Erase a user",
		Description: "Publishes that the user is forgotten, waits until that is projected, and erases what the streams, the vector store and " +
			"the graph's file keep. Searches go on; events wait while files are written anew. The answer is the receipt.",
		Middlewares: huma.Middlewares{patient}, Responses: partialResponses[Forgotten](api, "ForgetProblem"),
	}, s.forgetOp)
}

func (s *Server) forgetOp(ctx context.Context, in *forgetInput) (*forgetOutput, error) {
	f, err := s.ops.Forget(ctx, in.Body)
	switch {
	case err == nil:
		return &forgetOutput{f}, nil
	case len(f.Steps) > 0:
		return nil, withPartial(s.adminError(err), f)
	default:
		return nil, s.adminError(err)
	}
}
