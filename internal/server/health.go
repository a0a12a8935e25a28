package server

import (
	"net/http"
	"time"
)

// Health is the state of the service.
type Health struct {
	// Ready is false while the service cannot do its job at all. A graph that is late or broken is not that: searches
	// are answered without it, and Degraded says so.
	Ready bool `json:"ready"`
	// Degraded lists what does not work, one text each; empty when all does.
	Degraded []string `json:"degraded"`

	GraphLoaded bool      `json:"graph_loaded"`
	StorePID    int       `json:"store_pid"`             // of the process that has the graph's file; 0 while there is none
	Projecting  bool      `json:"projecting"`            // events are being taken
	Projection  string    `json:"projection"`            // what makes it so: a setting, or that it ended
	Role        string    `json:"role,omitempty"`        // RoleActive or RoleStandby, where services stand in for each other
	Unsettled   uint64    `json:"unsettled,omitempty"`   // events that they have not settled yet, all of them together
	Pending     uint64    `json:"pending"`               // events of the stream that are not projected yet
	AppliedSeq  uint64    `json:"applied_seq"`           // every event up to this stream sequence is projected
	LastSuccess time.Time `json:"last_success,omitzero"` // the projector last finished a cycle without trouble, also with nothing to do
	LastError   string    `json:"last_error,omitempty"`  // its latest trouble, which may be over
	LastErrorAt time.Time `json:"last_error_at,omitzero"`
	Dead        uint64    `json:"dead"`       // events dead-lettered since start
	DeadFacts   uint64    `json:"dead_facts"` // single facts dead-lettered since start

	// ErrorShare is the share of the events handled lately (KITH_READY_ERROR_WINDOW) that were dead-lettered or given back, 0
	// to 1, and Handled how many were handled.
	ErrorShare float64 `json:"error_share"`
	Handled    int     `json:"handled"`
}

// Roles of services that stand in for each other.
const (
	RoleActive  = "active"  // settles the events
	RoleStandby = "standby" // keeps its graph up to date
)

// Stats counts what the service holds.
type Stats struct {
	Graph  GraphStats  `json:"graph"`
	Vector VectorStats `json:"vector"`
	Feed   FeedStats   `json:"feed"`
}

// GraphStats counts the live graph.
type GraphStats struct {
	Users    int `json:"users"`
	Facts    int `json:"facts"`
	Present  int `json:"present"` // neither deleted nor merely named
	Entities int `json:"entities"`
	Topics   int `json:"topics"`
	Edges    int `json:"edges"`

	Schemas    int `json:"schemas"`    // also deleted ones
	Refs       int `json:"refs"`       // evidence of schemas that is no fact of the graph
	Merges     int `json:"merges"`     // rows of the merge log
	Tombstones int `json:"tombstones"` // of retracted sources and forgotten users

	Bytes  int64 `json:"bytes"`  // of the graph's file
	Leaked int64 `json:"leaked"` // bytes of memory that the graph's engine has lost since its process started

	Resident    int   `json:"resident"`     // users whose graph is in memory
	MemoryBytes int64 `json:"memory_bytes"` // of the graphs in memory
	MemoryLimit int64 `json:"memory_limit"` // 0: none
	Evictions   int   `json:"evictions"`    // graphs of users put out of memory since the start
	Reloads     int   `json:"reloads"`      // graphs of users read from the store since the start
	TooLarge    int   `json:"too_large"`    // users whose graph alone exceeds the limit: their searches keep the vector order

	StoreError    string `json:"store_error,omitempty"`   // why the store could not be asked: bytes, leaked and store_bytes are not known
	AccountError  string `json:"account_error,omitempty"` // why the store's process could not be measured: leaked and store_bytes are not known
	StorePID      int    `json:"store_pid"`               // of the store's process; 0 while there is none
	StoreBytes    int64  `json:"store_bytes"`             // its resident memory
	StoreRestarts int    `json:"store_restarts"`          // processes that took over from another
	StoreCrashes  int    `json:"store_crashes"`
	Quarantines   int    `json:"quarantines"` // graphs that were moved aside
}

// VectorStats describes the vector store.
type VectorStats struct {
	Driver     string `json:"driver"`
	Collection string `json:"collection"`
	Dimension  int    `json:"dimension"`
	Points     int64  `json:"points"`
	Error      string `json:"error,omitempty"`
}

// FeedStats counts events since the service started.
type FeedStats struct {
	Applied     uint64 `json:"applied"`     // committed and acknowledged
	Unchanged   uint64 `json:"unchanged"`   // of these, without effect: repeats, or older than what the graph knows
	Withdrawn   uint64 `json:"withdrawn"`   // writes of facts that came after their source had been retracted
	Forgotten   uint64 `json:"forgotten"`   // of the applied, those that came after their user had been forgotten
	Dead        uint64 `json:"dead"`        // dead-lettered
	DeadFacts   uint64 `json:"dead_facts"`  // bad facts of applied events, dead-lettered
	Redelivered uint64 `json:"redelivered"` // deliveries that were not the first
	Returned    uint64 `json:"returned"`    // given back because of trouble
	Commits     uint64 `json:"commits"`     // graph transactions
	Rewound     uint64 `json:"rewound"`     // times that events were taken again because the graph had gone back
	BatchSize   int    `json:"batch_size"`  // most events in the next transaction
	Pending     uint64 `json:"pending"`     // not projected yet
	Undelivered int    `json:"undelivered"` // bad events that wait because their dead letters cannot be stored
	Caught      uint64 `json:"caught"`      // of dead, events on which the server had given up
	Stalls      uint64 `json:"stalls"`      // times that the consumer was taken up again because it had events and delivered none
	Missing     uint64 `json:"missing"`     // dropped by the stream before they were taken
	Takeovers   uint64 `json:"takeovers"`   // times that this service became the active one

	AdvisoryTrouble string `json:"advisory_trouble,omitempty"` // why it is not heard on what the server gives up
}

// livez answers as long as the process can.
func (s *Server) livez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "alive", "version": s.cfg.Version, "instance": s.ops.Instance()})
}

// readyz answers 200 when searches can be served, degraded or not, else 503.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	h := s.ops.Health()
	if h.Degraded == nil {
		h.Degraded = []string{}
	}
	status := http.StatusOK
	if !h.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, h)
}
