package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// What a graph is made again from.
const (
	RebuildFromBoth  = "both"
	RebuildFromLog   = "log"
	RebuildFromStore = "store"
)

// Rebuilder makes graphs again from the event stream and the vector store.
type Rebuilder interface {
	// Rebuild makes the whole graph, or one user's, again from what the event stream retains and what the vector store has, or
	// from one of the two, and puts it in the place of the present one. Errors like Backup's, and those of the vector store;
	// the graph is then as it was, and so it is when the result is Refused.
	Rebuild(ctx context.Context, req RebuildRequest) (Rebuild, error)
	// RebuildState says how far a rebuild is, and how the last one ended. It must not block.
	RebuildState() RebuildState
}

// RebuildRequest is the body of POST /v1/admin/rebuild.
type RebuildRequest struct {
	UserID string `json:"user_id,omitempty" minLength:"1" maxLength:"512" doc:"Only the graph of this user; absent: the whole graph."`
	Force  bool   `json:"force,omitempty" doc:"Also when something would go that is not brought back."`
	From   string `json:"from,omitempty" enum:"both,log,store" doc:"From what: both (as if absent), the event stream alone (log), or the vector store alone (store)."`
	// NoNeighbors leaves out semantic_neighbor edges of points, and with them the searches for each point.
	NoNeighbors bool `json:"no_neighbors,omitempty" doc:"No semantic_neighbor edges of points, and no searches for them. Not with log."`
}

// Rebuild is the account of a rebuild.
type Rebuild struct {
	UserID  string `json:"user_id,omitempty"`
	From    string `json:"from"` // both, log or store
	Done    bool   `json:"done"`
	Refused string `json:"refused,omitempty"` // why nothing was changed

	// Points is what the vector store had; absent if it was not asked.
	Points *RebuildPoints `json:"points,omitempty"`
	// Origins says of the records of the graph that was made where they are from, by kind: fact, entity, topic, schema, ref,
	// merge, tombstone, and of edges by their type. OriginsAll adds them up.
	Origins    map[string]RebuildOrigins `json:"origins"`
	OriginsAll RebuildOrigins            `json:"origins_all"`
	// Missing says what could be had from neither.
	Missing []string `json:"missing"`

	Stream    RebuildStream    `json:"stream"`
	Events    map[string]int   `json:"events"`    // projected, by type
	Bad       int              `json:"bad"`       // events that cannot be projected
	BadFacts  int              `json:"bad_facts"` // facts of projected events that cannot
	Unburied  int              `json:"unburied"`  // events among both that the feed had settled and that are not among the dead letters
	Problems  []RebuildProblem `json:"problems"`  // the first of both
	Passes    int              `json:"passes"`    // over the stream: more than one where memory is short
	Users     int              `json:"users"`
	PerUser   []RebuildUser    `json:"per_user"` // those with the most events and points
	Records   map[string]int   `json:"records"`  // of the graph that was made, by kind
	Unseen    int              `json:"unseen"`   // facts that are named and that no event and no point that was read is about
	Deferred  int              `json:"deferred"` // claims of facts that this version does not project
	GraphID   string           `json:"graph_id,omitempty"`
	Log       string           `json:"log"`
	UpToSeq   uint64           `json:"up_to_seq"` // every event up to here is in it or among the dead letters
	Replaced  *RebuildChanges  `json:"replaced,omitempty"`
	FileBytes int64            `json:"file_bytes,omitempty"` // of the new file

	// Before is of the graph that was there. Its DigestError says why it could not be asked.
	Before      RebuildCounts `json:"before"`
	DigestError string        `json:"digest_error,omitempty"`
	After       RebuildCounts `json:"after"`
	Aside       string        `json:"aside,omitempty"` // where the graph is that could not be opened

	ScanMS  int64 `json:"scan_ms"`  // reading the points and searching neighbours
	ReadMS  int64 `json:"read_ms"`  // reading the stream and projecting
	WriteMS int64 `json:"write_ms"` // planning the points and writing the file, or the transaction
	SwapMS  int64 `json:"swap_ms"`  // until searches had the graph
	TookMS  int64 `json:"took_ms"`
}

// RebuildStream is what the stream had.
type RebuildStream struct {
	First    uint64    `json:"first_seq"` // the oldest event there
	Last     uint64    `json:"last_seq"`
	Oldest   time.Time `json:"oldest,omitzero"` // when it came
	Newest   time.Time `json:"newest,omitzero"`
	Events   uint64    `json:"events"`
	Dropped  uint64    `json:"dropped"`        // before the first, removed by retention or a purge
	Deleted  uint64    `json:"deleted"`        // between the first and the last, removed one by one
	Gaps     []SeqGap  `json:"gaps,omitempty"` // the first of these
	Complete bool      `json:"complete"`       // it has every event that it ever had
	None     bool      `json:"none"`           // there is no stream
	Unread   bool      `json:"unread"`         // it was not read, but for events that came during the rebuild
	Noted    uint64    `json:"noted_seq"`      // its last event before the first point was read
	Other    bool      `json:"other_log"`      // the graph that was there was made of another stream, or an earlier one of the name
}

// SeqGap is some sequences that are not there, both ends included.
type SeqGap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// RebuildProblem is an event that could not be projected, or not all of it.
type RebuildProblem struct {
	Seq     uint64 `json:"seq"`
	Reason  string `json:"reason"`
	EventID string `json:"event_id,omitempty"`
	UserID  string `json:"user_id,omitempty"`
	Error   string `json:"error"`
	// Unburied says that the feed had settled it and that it is not among the dead letters, or not all of it: a dead letter
	// was dropped or replayed, or an earlier version projected what this one refuses.
	Unburied bool `json:"unburied,omitempty"`
}

// RebuildUser is one user's part.
type RebuildUser struct {
	UserID   string `json:"user_id"`
	Events   int    `json:"events"`
	Points   int    `json:"points"` // facts that the points are of
	Bad      int    `json:"bad"`
	BadFacts int    `json:"bad_facts"`
	Facts    int    `json:"facts"`
	Records  int    `json:"records"`
	Digest   string `json:"digest"`

	Origins RebuildOrigins `json:"origins"`
}

// RebuildCounts describes a graph.
type RebuildCounts struct {
	Digest     string `json:"digest,omitempty"`
	Users      int    `json:"users"`
	Facts      int    `json:"facts"`
	Schemas    int    `json:"schemas"`
	Merges     int    `json:"merges"`     // rows of the merge log
	Tombstones int    `json:"tombstones"` // of retracted sources and forgotten users
	Records    int    `json:"records"`    // all
}

// RebuildChanges is what the graph of one user was changed by, in one transaction, by kind of record. Gone and Changed are what
// was there and is not in what was made.
type RebuildChanges struct {
	Equal   int            `json:"equal"`
	New     map[string]int `json:"new"`
	Changed map[string]int `json:"changed"`
	Gone    map[string]int `json:"gone"`
	Keys    []string       `json:"keys"` // the first that change or go
}

// RebuildState says how far a rebuild is.
type RebuildState struct {
	Running bool      `json:"running"`
	UserID  string    `json:"user_id,omitempty"`
	From    string    `json:"from,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Phase   string    `json:"phase,omitempty"`
	// Swapping says that it can no longer be cancelled: the new graph is taking its place.
	Swapping bool   `json:"swapping"`
	Points   int64  `json:"points,omitempty"`    // read
	OfPoints int64  `json:"of_points,omitempty"` // that the store has
	Pass     int    `json:"pass,omitempty"`
	Seq      uint64 `json:"seq,omitempty"`    // of the stream, read in this pass
	ToSeq    uint64 `json:"to_seq,omitempty"` // the last one to be read
	Events   int    `json:"events,omitempty"` // projected in this pass
	Users    int    `json:"users,omitempty"`  // whose graphs are in memory
	Bytes    int64  `json:"bytes,omitempty"`  // of those
	Written  int    `json:"written,omitempty"`

	Last      *Rebuild `json:"last,omitempty"` // the account of the last one
	LastError string   `json:"last_error,omitempty"`
}

type (
	rebuildInput  struct{ Body *rebuildBody } // nothing to say: the whole graph, from both sources
	rebuildOutput struct{ Body Rebuild }
	rebuildState  struct{ Body RebuildState }
)

func (s *Server) registerRebuild(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "rebuild", Method: http.MethodPost, Path: "/v1/admin/rebuild", Summary: "Make the graph again from event stream and vector store",
		Description: "Searches go on, and events are projected meanwhile but for a moment at the end. The answer comes when it is done; a client that goes before cancels it.",
		Middlewares: huma.Middlewares{patient},
	}, s.rebuildOp)
	huma.Register(api, huma.Operation{
		OperationID: "rebuild-state", Method: http.MethodGet, Path: "/v1/admin/rebuild", Summary: "How far a rebuild is",
	}, s.rebuildStateOp)
}

func (s *Server) rebuildOp(ctx context.Context, in *rebuildInput) (*rebuildOutput, error) {
	var req RebuildRequest
	if in.Body != nil {
		req = RebuildRequest(*in.Body)
	}
	r, err := s.ops.Rebuild(ctx, req)
	if err != nil {
		return nil, s.adminError(err)
	}
	return &rebuildOutput{r}, nil
}

func (s *Server) rebuildStateOp(context.Context, *struct{}) (*rebuildState, error) {
	return &rebuildState{s.ops.RebuildState()}, nil
}
