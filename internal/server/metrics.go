package server

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kithgraph/kith/reader"
)

// metricsPrefix begins the name of every metric of ours.
const metricsPrefix = "kith_"

// Outcomes of an event, as labels and as what the error share is made of.
const (
	EventApplied  = "applied"  // committed and acknowledged
	EventDead     = "dead"     // dead-lettered
	EventReturned = "returned" // given back because of trouble, to come again
)

// Metrics counts what happens in one service, in a registry of its own. What the service knows anyway, like the size of the
// graph, is not counted here but asked for at each scrape. Labels have few values, all of them from the code: event types of
// the contract, reasons, stages, outcomes; never a user, an id or the text of an error. Its methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	events   *prometheus.CounterVec
	delay    prometheus.Histogram
	batches  *prometheus.HistogramVec
	sizes    prometheus.Histogram
	dead     *prometheus.CounterVec
	retakes  *prometheus.CounterVec
	searches *prometheus.CounterVec
	degraded *prometheus.CounterVec
	times    *prometheus.HistogramVec
	types    typeLabels
	window   *errorWindow
	verify   verifyMetrics
}

// NewMetrics returns metrics that have counted nothing. The error share is that of the last window, 1 second or more.
func NewMetrics(window time.Duration) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		window:   newErrorWindow(max(window, time.Second), time.Now),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + "events_total",
			Help: "Deliveries of events by event type and outcome: applied, dead (dead-lettered), returned (to come again)."}, []string{"type", "outcome"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{Name: metricsPrefix + "event_delay_seconds",
			Help:    "Time from an event's arrival in the stream until it was in the graph, in seconds.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 60, 300, 1800, 3600, 86400}}),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: metricsPrefix + "batch_duration_seconds",
			Help:    "Time to plan and commit one batch of events, in seconds, by outcome: committed, failed.",
			Buckets: []float64{.003, .01, .03, .1, .3, 1, 3, 10, 30}}, []string{"outcome"}),
		sizes: prometheus.NewHistogram(prometheus.HistogramOpts{Name: metricsPrefix + "batch_events",
			Help: "Events in one batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 7)}),
		dead: prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + "dead_letters_total",
			Help: "Dead letters stored, of events and of single facts, by reason."}, []string{"reason"}),
		retakes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + "consumer_retakes_total",
			Help: "Times that the consumer was made or taken up again, by cause: rebuilt (it was gone, another graph's, or stood still), rewound (the graph had gone back)."},
			[]string{"cause"}),
		searches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + "searches_total",
			Help: "Searches by outcome: ok, bad_query, unsupported, timeout, unavailable, canceled, error; requests that break the schema are not among them."}, []string{"outcome"}),
		degraded: prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + "searches_degraded_total",
			Help: "Searches answered with less than the graph was asked for, in the order of the stages before, by reason: the stage that failed."}, []string{"reason"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: metricsPrefix + "search_duration_seconds",
			Help:    "Time of a search that was answered, in seconds, by what the graph did: ok, disabled, degraded.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10}}, []string{"graph"}),
	}
	m.registry.MustRegister(m.events, m.delay, m.batches, m.sizes, m.dead, m.retakes, m.searches, m.degraded, m.times,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.verify = newVerifyMetrics(m.registry)
	m.zero()
	return m
}

// zero makes the series that alerts are about present from the start: an increase from nothing is none to Prometheus.
func (m *Metrics) zero() {
	for _, stage := range reader.Stages() {
		m.degraded.WithLabelValues(stage)
	}
	for _, cause := range []string{RetakeRebuilt, RetakeRewound} {
		m.retakes.WithLabelValues(cause)
	}
	for _, outcome := range []string{"ok", "bad_query", "unsupported", "timeout", "unavailable", "canceled", "error"} {
		m.searches.WithLabelValues(outcome)
	}
}

// Causes of a retake of the consumer.
const (
	RetakeRebuilt = "rebuilt"
	RetakeRewound = "rewound"
)

// CountEvent counts a delivery of an event: its type, empty if it could not be read; its outcome; and the time since it
// arrived in the stream.
func (m *Metrics) CountEvent(typ, outcome string, delay time.Duration) {
	typ = m.types.label(typ)
	m.events.WithLabelValues(typ, outcome).Inc()
	m.window.add(outcome != EventApplied)
	if outcome == EventApplied {
		m.delay.Observe(delay.Seconds())
	}
}

// CountBatch counts an attempt to commit events together.
func (m *Metrics) CountBatch(events int, took time.Duration, committed bool) {
	outcome := "failed"
	if committed {
		outcome = "committed"
	}
	m.batches.WithLabelValues(outcome).Observe(took.Seconds())
	m.sizes.Observe(float64(events))
}

// CountDead counts a dead letter.
func (m *Metrics) CountDead(reason string) { m.dead.WithLabelValues(reason).Inc() }

// ExpectDead makes the series of these reasons present from the start.
func (m *Metrics) ExpectDead(reasons ...string) {
	for _, r := range reasons {
		m.dead.WithLabelValues(r)
	}
}

// CountRetake counts a consumer that was taken up again, for one of the causes above.
func (m *Metrics) CountRetake(cause string) { m.retakes.WithLabelValues(cause).Inc() }

// ErrorShare returns the share of the events handled within the window that were not applied, 0 to 1, and how many were
// handled.
func (m *Metrics) ErrorShare() (share float64, events int) { return m.window.share() }

// search counts a search that was answered.
func (m *Metrics) search(r reader.Rerank, took time.Duration) {
	m.searches.WithLabelValues("ok").Inc()
	m.times.WithLabelValues(string(r.Status)).Observe(took.Seconds())
	if r.Status == reader.StatusDegraded {
		m.degraded.WithLabelValues(r.Stage).Inc()
	}
}

// searchFailed counts a search that was not answered, by the status that was given instead.
func (m *Metrics) searchFailed(err error) {
	outcome := "error"
	var status huma.StatusError
	if errors.As(err, &status) {
		switch status.GetStatus() {
		case http.StatusUnprocessableEntity:
			outcome = "bad_query"
		case http.StatusNotImplemented:
			outcome = "unsupported"
		case http.StatusGatewayTimeout:
			outcome = "timeout"
		case http.StatusServiceUnavailable:
			outcome = "unavailable"
		case statusClientGone:
			outcome = "canceled"
		}
	}
	m.searches.WithLabelValues(outcome).Inc()
}

// handler answers scrapes. What cannot be asked for in time is left out.
func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// maxTypes bounds how many event types get a series of their own. The contract has fewer.
const maxTypes = 32

// typeLabels are the event types that have been seen.
type typeLabels struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (l *typeLabels) label(typ string) string {
	if typ == "" {
		return "unreadable"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[typ] {
		if len(l.seen) == maxTypes {
			return "other"
		}
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[typ] = true
	}
	return typ
}
