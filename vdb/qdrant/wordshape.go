package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// errTooOld means a server without a bm25 model that reads its options.
var errTooOld = errors.New("server is too old")

// firstModelVersion is the first server whose own bm25 model obeys its options: 1.15.2 brought the model and ignored them.
var firstModelVersion = serverVersion{1, 15, 3}

// whyNoKeyword says why the collection cannot be searched by words, nil where it can.
func (s *Store) whyNoKeyword(ctx context.Context, collection *pb.CollectionParams) (reason, err error) {
	if s.cfg.Keyword == KeywordOff {
		return fmt.Errorf("%w: keyword search is turned off", vdb.ErrUnsupported), nil
	}
	sparse := collection.GetSparseVectorsConfig().GetMap()[s.cfg.SparseVector]
	switch {
	case sparse == nil:
		return fmt.Errorf("%w: no sparse vector %q (sparse_vector) that keeps the words: a collection that this driver creates has one",
			vdb.ErrUnsupported, s.cfg.SparseVector), nil
	case sparse.GetModifier() != pb.Modifier_Idf:
		return fmt.Errorf("%w: sparse vector %q has the modifier %s: want Idf, without which rare words count no more than frequent ones",
			vdb.ErrUnsupported, s.cfg.SparseVector, sparse.GetModifier()), nil
	case s.cfg.Keyword == KeywordClient:
		return nil, nil
	default:
		return s.whyNoModel(ctx)
	}
}

// whyNoModel asks the server's version. One that cannot be read is given the benefit of the doubt.
func (s *Store) whyNoModel(ctx context.Context) (reason, err error) {
	text, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (string, error) {
		reply, err := s.client.GetQdrantClient().HealthCheck(ctx, &pb.HealthCheckRequest{})
		return reply.GetVersion(), err
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the server's version: %w", err)
	}
	if version, ok := parseServerVersion(text); ok && version.before(firstModelVersion) {
		return fmt.Errorf("%w: %w: qdrant %s has version %s, its %s model needs %s: set keyword to %q, or upgrade the server",
			vdb.ErrUnsupported, errTooOld, s.errs.addr, graphstore.Shorten(text), bm25Model, firstModelVersion, KeywordClient), nil
	}
	return nil, nil
}

// serverVersion is major, minor and patch.
type serverVersion [3]int

func parseServerVersion(text string) (v serverVersion, ok bool) {
	_, err := fmt.Sscanf(strings.TrimPrefix(text, "v"), "%d.%d.%d", &v[0], &v[1], &v[2])
	return v, err == nil
}

func (v serverVersion) before(w serverVersion) bool { return slices.Compare(v[:], w[:]) < 0 }

func (v serverVersion) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
