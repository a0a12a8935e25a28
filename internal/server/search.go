package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/vdb"
)

// SearchRequest is the body of POST /v1/search.
type SearchRequest struct {
	UserID   string         `json:"user_id" minLength:"1" maxLength:"512" doc:"Whose memory is searched."`
	AgentID  string         `json:"agent_id,omitempty" maxLength:"512" doc:"Only facts of this agent; absent: of all agents."`
	Vector   []float32      `json:"vector,omitempty" maxItems:"65536" doc:"Embedding of the query, of the collection's dimension."`
	Text     string         `json:"text,omitempty" maxLength:"16384" doc:"The question in words. Without a vector it is embedded by the configured endpoint, or searched by keyword where there is none."`
	Mode     string         `json:"mode,omitempty" enum:"dense,hybrid,keyword" doc:"Which search finds the candidates, default dense; hybrid and keyword need text."`
	K        *int           `json:"k,omitempty" minimum:"1" maximum:"200" doc:"Number of results, default 10."`
	Pool     *int           `json:"pool,omitempty" minimum:"1" maximum:"200" doc:"Candidates recalled for ranking, default max(50, 4k), at most 200."`
	Filter   map[string]any `json:"filter,omitempty" doc:"Per field a value or a list of values; for memory_at, created_at, valid_from, valid_to an object {from, to}, half-open."`
	ValidAt  string         `json:"valid_at,omitempty" format:"date-time" doc:"Search what was valid at this time, superseded facts included."`
	Graph    string         `json:"graph,omitempty" enum:"on,off,strict" doc:"Whether the graph ranks; default as configured. strict makes a fault of the graph an error."`
	Speakers []string       `json:"speakers,omitempty" maxItems:"100" doc:"Names or entity ids that tie nothing together in this search: the speakers of the conversation."`
	MinSeq   uint64         `json:"min_seq,omitempty" doc:"Wait, within the graph's budget, until the event with this stream sequence is in the graph; min_seq_applied says whether it was."`
	Explain  Explain        `json:"explain,omitempty"`
}

type searchInput struct{ Body SearchRequest }

type searchOutput struct{ Body SearchResponse }

func (s *Server) register(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "search", Method: http.MethodPost, Path: "/v1/search",
		Summary: "Search one user's memory, ranked with the graph", MaxBodyBytes: maxBodyBytes,
	}, s.searchOp)
	huma.Register(api, huma.Operation{
		OperationID: "stats", Method: http.MethodGet, Path: "/v1/stats", Summary: "Count what the service holds",
	}, s.statsOp)
	huma.Register(api, huma.Operation{
		OperationID: "digest", Method: http.MethodGet, Path: "/v1/digest",
		Summary: "Hash of the graph, equal for equal graphs", Description: "Of one user, or of the whole graph without user_id.",
	}, s.digestOp)
	s.registerAdmin(api)
	s.registerDead(api)
	s.registerForget(api)
	s.registerRebuild(api)
	s.registerBackfills(api)
	s.registerVerify(api)
}

func (s *Server) searchOp(ctx context.Context, in *searchInput) (*searchOutput, error) {
	start := time.Now()
	answer, err := s.answer(ctx, in.Body)
	if err != nil {
		s.cfg.Metrics.searchFailed(err)
		return nil, err
	}
	took := time.Since(start)
	s.cfg.Metrics.search(answer.Rerank, took)
	return &searchOutput{Body: in.Body.response(answer, s.cfg.Settings, took)}, nil
}

// answer searches; errors are those of HTTP.
func (s *Server) answer(ctx context.Context, req SearchRequest) (reader.Answer, error) {
	q, err := req.query()
	if err != nil {
		return reader.Answer{}, huma.Error422UnprocessableEntity(err.Error())
	}
	if s.cfg.SearchTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.cfg.SearchTimeout)
		defer cancel()
	}
	s.searches.Add(1)
	defer s.searches.Add(-1)
	answer, err := s.search.Search(ctx, q)
	if err != nil {
		return reader.Answer{}, s.httpError(err)
	}
	return answer, nil
}

// query translates the request; errors name the field.
func (r SearchRequest) query() (reader.Query, error) {
	space, err := graphstore.NewSpace(r.UserID)
	if err != nil {
		return reader.Query{}, err
	}
	filter, err := parseFilter(r.Filter)
	if err != nil {
		return reader.Query{}, err
	}
	q := reader.Query{
		Space: space, AgentID: r.AgentID, Vector: r.Vector, Text: r.Text, Speakers: r.Speakers, Filter: filter,
		Mode: reader.Mode(r.Mode), MinSeq: r.MinSeq, Graph: reader.GraphUse(r.Graph),
		Explain: r.Explain != ExplainNothing, ExplainAll: r.Explain == ExplainAll,
	}
	if r.K != nil {
		q.K = *r.K
	}
	if r.Pool != nil {
		q.Pool = *r.Pool
	}
	if r.ValidAt != "" {
		var at graphstore.Instant
		if err := at.UnmarshalText([]byte(r.ValidAt)); err != nil {
			return reader.Query{}, fieldError("valid_at", err)
		}
		q.ValidAt = at.Time()
	}
	return q, nil
}

// statusClientGone is what a client would be told that has gone; it does not see it, logs and metrics do.
const statusClientGone = 499

// httpError is the one place that maps the reader's errors to statuses.
func (s *Server) httpError(err error) error {
	switch {
	case errors.Is(err, reader.ErrBadQuery):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, vdb.ErrUnsupported):
		return huma.Error501NotImplemented(err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return huma.Error504GatewayTimeout(err.Error())
	case errors.Is(err, vdb.ErrUnavailable), errors.Is(err, vdb.ErrNoCollection), errors.Is(err, vdb.ErrClosed):
		return huma.Error503ServiceUnavailable(err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(statusClientGone, "client closed the request")
	default:
		s.log.Error("search", "err", err)
		return huma.Error500InternalServerError(err.Error())
	}
}
