package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTime bounds what one scrape waits for the stores.
const scrapeTime = 3 * time.Second

// stateCollector asks at each scrape for what the service knows anyway. Nothing is kept between scrapes, so no number can be
// older than its scrape.
type stateCollector struct{ server *Server }

// state is what a scrape found.
type state struct {
	health   Health
	stats    Stats
	searches int64
	share    float64
	handled  int
}

// storeUp reports whether the graph's store has answered. Without a graph there is none.
func (s *state) storeUp() bool { return s.health.StorePID != 0 && s.stats.Graph.StoreError == "" }

// vectorUp reports whether the vector store has answered.
func (s *state) vectorUp() bool { return s.stats.Vector.Error == "" }

// measure is one number of the state.
type measure struct {
	name, help string
	kind       prometheus.ValueType
	value      func(s *state) float64
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// serviceMeasures are about the service and its projection, and need no store to answer.
var serviceMeasures = []measure{
	{"ready", "1 while searches are answered, 0 while the service stops.", gauge, func(s *state) float64 { return bit(s.health.Ready) }},
	{"degraded_reasons", "Number of things that do not work; GET /readyz names them.", gauge, func(s *state) float64 { return float64(len(s.health.Degraded)) }},
	{"projecting", "1 while events are being taken.", gauge, func(s *state) float64 { return bit(s.health.Projecting) }},
	{"standby", "1 while another service settles the events and this one only keeps up.", gauge, func(s *state) float64 { return bit(s.health.Role == RoleStandby) }},
	{"lag_events", "Events in the stream that are not in the graph yet.", gauge, func(s *state) float64 { return float64(s.health.Pending) }},
	{"applied_sequence", "Stream sequence up to which every event is in the graph or among the dead letters.", gauge, func(s *state) float64 { return float64(s.health.AppliedSeq) }},
	{"last_success_timestamp_seconds", "When projection last finished a cycle without trouble, also with nothing to do, in seconds since 1970; 0 if never.", gauge, func(s *state) float64 { return unix(s.health.LastSuccess) }},
	{"last_error_timestamp_seconds", "When projection last had trouble, which may be over, in seconds since 1970; 0 if never.", gauge, func(s *state) float64 { return unix(s.health.LastErrorAt) }},
	{"error_share", "Share of the events handled within KITH_READY_ERROR_WINDOW that were dead-lettered or given back, 0 to 1.", gauge, func(s *state) float64 { return s.share }},
	{"error_share_events", "Events that error_share is taken of.", gauge, func(s *state) float64 { return float64(s.handled) }},
	{"group_unsettled_events", "Events that the services that stand in for each other have not settled yet, all of them together.", gauge, func(s *state) float64 { return float64(s.health.Unsettled) }},
	{"searches_in_flight", "Searches that are being answered.", gauge, func(s *state) float64 { return float64(s.searches) }},
}

// feedMeasures count what the projection has done.
var feedMeasures = []measure{
	{"undelivered_dead_letters", "Bad events that wait because their dead letters cannot be stored.", gauge, func(s *state) float64 { return float64(s.stats.Feed.Undelivered) }},
	{"caught_dead_letters_total", "Events that the server had given up on without a dead letter, which they then got.", counter, func(s *state) float64 { return float64(s.stats.Feed.Caught) }},
	{"stalls_total", "Times that the consumer was taken up again because it had events and delivered none.", counter, func(s *state) float64 { return float64(s.stats.Feed.Stalls) }},
	{"missing_events", "Events that the stream dropped before they were in the graph, since the service started.", gauge, func(s *state) float64 { return float64(s.stats.Feed.Missing) }},
	{"redeliveries_total", "Deliveries of events that were not the first.", counter, func(s *state) float64 { return float64(s.stats.Feed.Redelivered) }},
	{"unchanged_events_total", "Applied events without effect: repeats, or older than what the graph knows.", counter, func(s *state) float64 { return float64(s.stats.Feed.Unchanged) }},
	{"commits_total", "Transactions of the graph.", counter, func(s *state) float64 { return float64(s.stats.Feed.Commits) }},
	{"batch_limit_events", "Most events in the next transaction.", gauge, func(s *state) float64 { return float64(s.stats.Feed.BatchSize) }},
	{"takeovers_total", "Times that this service began to settle the events in the place of another.", counter, func(s *state) float64 { return float64(s.stats.Feed.Takeovers) }},
}

// graphMeasures are about the graph in memory, and about whether the stores answer.
var graphMeasures = []measure{
	{"graph_loaded", "1 while searches have the graph.", gauge, func(s *state) float64 { return bit(s.health.GraphLoaded) }},
	{"graph_users", "Users with a graph.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Users) }},
	{"graph_facts", "Facts, those among them that are deleted or merely named.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Facts) }},
	{"graph_facts_present", "Facts that are neither deleted nor merely named.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Present) }},
	{"graph_entities", "Entities.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Entities) }},
	{"graph_topics", "Topics.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Topics) }},
	{"graph_schemas", "Schemas, also deleted ones.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Schemas) }},
	{"graph_merges", "Rows of the merge log.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Merges) }},
	{"graph_tombstones", "Tombstones of retracted sources and forgotten users.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Tombstones) }},
	{"graph_edges", "Edges.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Edges) }},
	{"graph_memory_bytes", "Bytes of the users' graphs in memory.", gauge, func(s *state) float64 { return float64(s.stats.Graph.MemoryBytes) }},
	{"graph_memory_limit_bytes", "Bound of graph_memory_bytes; 0 is none.", gauge, func(s *state) float64 { return float64(s.stats.Graph.MemoryLimit) }},
	{"graph_resident_users", "Users whose graph is in memory.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Resident) }},
	{"graph_too_large_users", "Users whose graph alone exceeds the bound: their searches keep the vector order.", gauge, func(s *state) float64 { return float64(s.stats.Graph.TooLarge) }},
	{"graph_evictions_total", "Graphs of users put out of memory.", counter, func(s *state) float64 { return float64(s.stats.Graph.Evictions) }},
	{"graph_reloads_total", "Graphs of users read from the store again.", counter, func(s *state) float64 { return float64(s.stats.Graph.Reloads) }},
	{"store_up", "1 while the graph's store answers.", gauge, func(s *state) float64 { return bit(s.storeUp()) }},
	{"store_restarts_total", "Processes of the store that took over from another.", counter, func(s *state) float64 { return float64(s.stats.Graph.StoreRestarts) }},
	{"store_crashes_total", "Deaths of the store's process.", counter, func(s *state) float64 { return float64(s.stats.Graph.StoreCrashes) }},
	{"store_quarantines_total", "Graphs that could not be trusted and were moved aside.", counter, func(s *state) float64 { return float64(s.stats.Graph.Quarantines) }},
	{"vector_up", "1 while the vector store answers.", gauge, func(s *state) float64 { return bit(s.vectorUp()) }},
}

// storeMeasures are what the graph's store says of itself. They are left out of a scrape in which it does not answer: a number
// that is not known is no 0.
var storeMeasures = []measure{
	{"graph_file_bytes", "Bytes of the graph's file.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Bytes) }},
}

// accountMeasures are what the process of the graph's store takes of the machine, likewise.
var accountMeasures = []measure{
	{"store_memory_bytes", "Resident bytes of the store's process.", gauge, func(s *state) float64 { return float64(s.stats.Graph.StoreBytes) }},
	{"store_leaked_bytes", "Bytes that the store's engine has lost since its process started.", gauge, func(s *state) float64 { return float64(s.stats.Graph.Leaked) }},
}

// vectorMeasures are what the vector store says of itself, likewise.
var vectorMeasures = []measure{
	{"vector_points", "Points in the vector store.", gauge, func(s *state) float64 { return float64(s.stats.Vector.Points) }},
}

// Describe implements [prometheus.Collector] by describing nothing: what is collected depends on what answers.
func (*stateCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	s := c.server
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now := state{health: s.ops.Health(), searches: s.searches.Load()}
	now.share, now.handled = s.cfg.Metrics.ErrorShare()
	send := func(measures []measure) {
		for _, m := range measures {
			desc := prometheus.NewDesc(metricsPrefix+m.name, m.help, nil, nil)
			out <- prometheus.MustNewConstMetric(desc, m.kind, m.value(&now))
		}
	}
	now.stats = s.ops.Stats(ctx)
	send(serviceMeasures)
	send(feedMeasures)
	send(graphMeasures)
	if now.storeUp() {
		send(storeMeasures)
	}
	if now.storeUp() && now.stats.Graph.AccountError == "" {
		send(accountMeasures)
	}
	if now.vectorUp() {
		send(vectorMeasures)
	}
	build := prometheus.NewDesc(metricsPrefix+"build_info", "1, with the version of the service.", []string{"version"}, nil)
	out <- prometheus.MustNewConstMetric(build, gauge, 1, s.cfg.Version)
}

func bit(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
