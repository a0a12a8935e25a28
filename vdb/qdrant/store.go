package qdrant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

var _ vdb.Store = (*Store)(nil)

// driverName is vdb.Info.Driver.
const driverName = "qdrant"

// Store is one collection. All methods are safe for concurrent use.
type Store struct {
	cfg    Config
	errs   errorMap
	fields fieldMap
	words  wording
	client *pb.Client
	log    *slog.Logger
	gate   gate
	// shape is what the collection looks like, nil when it is to be asked: before the first use, and after the server has
	// said something that does not go with it.
	shape atomic.Pointer[shape]

	stopVersionCheck context.CancelFunc
	versionCheck     sync.WaitGroup
	unreadable       sync.Once // the warning of points that match but are no facts
}

// New returns a store without asking the server: one that is down is vdb.ErrUnavailable at the first call and is found
// when it is back. The error joins everything that is wrong with the configuration.
func New(cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	addr, addrErr := parseAddress(cfg.URL)
	fields, fieldsErr := newFieldMap(cfg.Fields)
	if err := errors.Join(addrErr, fieldsErr, cfg.validate()); err != nil {
		return nil, fmt.Errorf("configure qdrant: %w", err)
	}
	client, err := dial(cfg, addr)
	if err != nil {
		return nil, fmt.Errorf("configure qdrant: %w", err)
	}
	s := &Store{
		cfg:    cfg,
		errs:   errorMap{addr: addr, collection: cfg.Collection, vectorName: cfg.VectorName, sparseVector: cfg.SparseVector, maxBytes: cfg.MaxMessageBytes},
		fields: fields,
		words:  clientWords{},
		client: client,
		log:    cfg.Logger.With("component", "vdb/qdrant", "addr", addr.String(), "collection", cfg.Collection),
	}
	if cfg.Keyword == KeywordServer {
		s.words = newServerWords(cfg)
	}
	if addr.port == restPort {
		s.log.Warn(restHint)
	}
	if cfg.APIKey != "" && !addr.tls && !addr.loopback() {
		s.log.Warn("the api key is sent without TLS to another machine: use an https url")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stopVersionCheck = cancel
	s.versionCheck.Go(func() { s.checkVersion(ctx) })
	return s, nil
}

// Close waits for the calls in flight, each of which ends within its timeout, and closes the connections.
func (s *Store) Close() error {
	s.stopVersionCheck()
	if !s.gate.close() {
		return nil
	}
	s.versionCheck.Wait()
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close qdrant: %w", err)
	}
	return nil
}
