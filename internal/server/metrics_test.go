package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/vdb"
)

// scrape returns the series of GET /metrics by name and labels, and checks that each has a help text and a type.
func scrape(t *testing.T, s *Server) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	series, helped, typed := map[string]float64{}, map[string]bool{}, map[string]bool{}
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			helped[name] = help != ""
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			typed[name] = true
			continue
		}
		space := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		series[line[:space]] = value
		family, _, _ := strings.Cut(line[:space], "{")
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(family, suffix); typed[base] {
				family = base
			}
		}
		if !helped[family] || !typed[family] {
			t.Errorf("%s has no help or no type", family)
		}
	}
	return series
}

func wantSeries(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %v (there: %v), want %v", name, v, ok, value)
		}
	}
}

func TestMetricsOfTheState(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 500_000_000, time.UTC)
	s := New(nil, operator{health: Health{
		Ready: true, GraphLoaded: true, Projecting: true, Pending: 42, AppliedSeq: 1000, LastSuccess: at, Role: RoleStandby, Degraded: []string{"a", "b"},
	}}, Config{Version: "v1", Logger: quiet()})
	wantSeries(t, scrape(t, s), map[string]float64{
		"kith_ready": 1, "kith_graph_loaded": 1, "kith_projecting": 1, "kith_standby": 1, "kith_lag_events": 42, "kith_applied_sequence": 1000,
		"kith_degraded_reasons": 2, "kith_graph_users": 3, "kith_graph_schemas": 4, "kith_graph_merges": 5,
		"kith_graph_tombstones": 6, "kith_last_error_timestamp_seconds": 0, `kith_build_info{version="v1"}`: 1,
		"kith_last_success_timestamp_seconds": 1_796_040_000.5, // date -d '2026-11-30 12:00:00.5 UTC' +%s.%N
	})
}

// TestMeasuresOfAStoreThatDoesNotAnswerAreLeftOut: 0 points, or 0 bytes, would be an answer.
func TestMeasuresOfAStoreThatDoesNotAnswerAreLeftOut(t *testing.T) {
	ofStore := map[string]float64{"kith_graph_file_bytes": 100}
	ofAccount := map[string]float64{"kith_store_memory_bytes": 200, "kith_store_leaked_bytes": 300}
	ofVectors := map[string]float64{"kith_vector_points": 400}
	for name, c := range map[string]struct {
		pid                                   int
		storeError, accountError, vectorError string
		store, account, vectors               bool
	}{
		"all answer":      {7, "", "", "", true, true, true},
		"no child":        {0, "", "", "", false, false, true},
		"child away":      {7, "restarting", "", "", false, false, true},
		"not measured":    {7, "", "no /proc", "", true, false, true},
		"no vector store": {7, "", "", "connection refused", true, true, false},
		"neither":         {0, "restarting", "", "connection refused", false, false, false},
	} {
		stats := Stats{
			Graph:  GraphStats{Users: 3, Bytes: 100, StoreBytes: 200, Leaked: 300, StoreCrashes: 5, StoreError: c.storeError, AccountError: c.accountError},
			Vector: VectorStats{Points: 400, Error: c.vectorError},
		}
		got := scrape(t, New(nil, operator{health: Health{StorePID: c.pid}, stats: &stats}, Config{Logger: quiet()}))
		wantSeries(t, got, map[string]float64{
			"kith_graph_users": 3, "kith_store_crashes_total": 5, "kith_store_up": bit(c.store), "kith_vector_up": bit(c.vectors),
		})
		for _, of := range []struct {
			want  map[string]float64
			there bool
		}{{ofStore, c.store}, {ofAccount, c.account}, {ofVectors, c.vectors}} {
			if of.there {
				wantSeries(t, got, of.want)
				continue
			}
			for series := range of.want {
				if v, there := got[series]; there {
					t.Errorf("%s: %s is %v, want it left out", name, series, v)
				}
			}
		}
	}
}

func TestMetricsOfEvents(t *testing.T) {
	m := NewMetrics(time.Hour)
	s := New(nil, operator{}, Config{Metrics: m, Logger: quiet()})
	for range 3 {
		m.CountEvent("memory.facts.written.v1", EventApplied, 2*time.Second)
	}
	m.CountEvent("", EventDead, time.Second)
	m.CountDead("bad_event")
	m.CountBatch(3, 40*time.Millisecond, true)
	m.CountBatch(5, time.Second, false)
	m.CountRetake(RetakeRewound)
	wantSeries(t, scrape(t, s), map[string]float64{
		`kith_events_total{outcome="applied",type="memory.facts.written.v1"}`: 3,
		`kith_events_total{outcome="dead",type="unreadable"}`:                 1,
		`kith_dead_letters_total{reason="bad_event"}`:                         1,
		`kith_event_delay_seconds_sum`:                                        6, // the applied ones alone
		`kith_event_delay_seconds_bucket{le="1"}`:                             0,
		`kith_event_delay_seconds_bucket{le="3"}`:                             3,
		`kith_batch_duration_seconds_count{outcome="committed"}`:              1,
		`kith_batch_duration_seconds_count{outcome="failed"}`:                 1,
		`kith_batch_events_sum`:                                               8,
		`kith_consumer_retakes_total{cause="rewound"}`:                        1,
		`kith_consumer_retakes_total{cause="rebuilt"}`:                        0,
		`kith_error_share`:                                                    .25, // one of four
		`kith_error_share_events`:                                             4,
	})
}

// Whatever the types of events are, the number of series stays small.
func TestEventTypesAreBounded(t *testing.T) {
	m := NewMetrics(time.Hour)
	s := New(nil, operator{}, Config{Metrics: m, Logger: quiet()})
	for i := range 1000 {
		m.CountEvent(fmt.Sprint("type", i), EventApplied, 0)
	}
	types := 0
	got := scrape(t, s)
	for name := range got {
		if strings.HasPrefix(name, "kith_events_total{") {
			types++
		}
	}
	if types != maxTypes+1 || got[`kith_events_total{outcome="applied",type="other"}`] != 1000-maxTypes {
		t.Errorf("%d series, %v others: want %d and %d", types, got[`kith_events_total{outcome="applied",type="other"}`], maxTypes+1, 1000-maxTypes)
	}
}

type fixedSearch struct {
	answer reader.Answer
	err    error
}

func (f fixedSearch) Search(context.Context, reader.Query) (reader.Answer, error) {
	return f.answer, f.err
}

func TestMetricsOfSearches(t *testing.T) {
	const query = `{"user_id": "ada", "vector": [1, 0]}`
	for name, c := range map[string]struct {
		search fixedSearch
		body   string
		want   map[string]float64
	}{
		"ranked": {fixedSearch{answer: reader.Answer{Rerank: reader.Rerank{Status: reader.StatusOK}}}, query, map[string]float64{
			`kith_searches_total{outcome="ok"}`: 1, `kith_search_duration_seconds_count{graph="ok"}`: 1, `kith_searches_degraded_total{reason="view"}`: 0}},
		"degraded": {fixedSearch{answer: reader.Answer{Rerank: reader.Rerank{Status: reader.StatusDegraded, Stage: reader.StageView, Reason: "graph of ada is too large"}}}, query,
			map[string]float64{`kith_searches_total{outcome="ok"}`: 1, `kith_searches_degraded_total{reason="view"}`: 1, `kith_search_duration_seconds_count{graph="degraded"}`: 1}},
		"bad filter":  {fixedSearch{}, `{"user_id": "ada", "vector": [1, 0], "filter": {"memory_at": {"from": "yesterday"}}}`, map[string]float64{`kith_searches_total{outcome="bad_query"}`: 1}},
		"store down":  {fixedSearch{err: vdb.ErrUnavailable}, query, map[string]float64{`kith_searches_total{outcome="unavailable"}`: 1, `kith_searches_total{outcome="ok"}`: 0}},
		"out of time": {fixedSearch{err: context.DeadlineExceeded}, query, map[string]float64{`kith_searches_total{outcome="timeout"}`: 1}},
		"client gone": {fixedSearch{err: context.Canceled}, query, map[string]float64{`kith_searches_total{outcome="canceled"}`: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(c.search, operator{}, Config{Logger: quiet()})
			post(s, c.body)
			got := scrape(t, s)
			wantSeries(t, got, c.want)
			for series := range got {
				if strings.Contains(series, "ada") {
					t.Errorf("%s names a user", series)
				}
			}
		})
	}
}

func TestErrorShareForgets(t *testing.T) {
	now := time.Unix(1_780_000_000, 0)
	w := newErrorWindow(5*time.Minute, func() time.Time { return now })
	check := func(wantShare float64, wantEvents int) {
		t.Helper()
		if share, events := w.share(); share != wantShare || events != wantEvents {
			t.Errorf("share %v of %d, want %v of %d", share, events, wantShare, wantEvents)
		}
	}
	check(0, 0)
	w.add(true)
	w.add(true)
	now = now.Add(3 * time.Minute)
	w.add(false)
	w.add(true)
	check(.75, 4)
	now = now.Add(3 * time.Minute) // the first two are six minutes old
	check(.5, 2)
	now = now.Add(10 * time.Minute)
	check(0, 0)
	w.add(false) // in a slot that was used before
	check(0, 1)
}
