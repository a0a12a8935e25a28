package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kithgraph/kith/backfill"
)

// verifyMetrics are those of the last verification that was not of one named user; of one with a sample they are of what that looked at.
// Without one there are no series: what is not known is no 0.
type verifyMetrics struct {
	coverage *prometheus.GaugeVec
	drift    *prometheus.GaugeVec
	at       *prometheus.GaugeVec
}

func newVerifyMetrics(registry *prometheus.Registry) verifyMetrics {
	m := verifyMetrics{
		coverage: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + "verify_coverage_ratio",
			Help: "Share of the points that have a node in the graph, 0 to 1, at the last verification that was not of one named user."}, nil),
		drift: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + "verify_drift",
			Help: "What that verification found, before any repair, by kind of drift."}, []string{"kind"}),
		at: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + "verify_last_timestamp_seconds",
			Help: "When that verification ended, in seconds since 1970."}, nil),
	}
	registry.MustRegister(m.coverage, m.drift, m.at)
	return m
}

// CountVerify takes in a verification that ended then without an error. One of a named user says nothing of the graph.
func (m *Metrics) CountVerify(v backfill.VerifyReport, at time.Time) {
	if v.Request.UserID != "" {
		return
	}
	m.verify.coverage.WithLabelValues().Set(v.Coverage)
	for kind, n := range v.Drift {
		m.verify.drift.WithLabelValues(kind).Set(float64(n))
	}
	m.verify.at.WithLabelValues().Set(unix(at))
}
