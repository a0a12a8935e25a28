package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/internal/server"
)

func TestUsageErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no command":        {nil, "expected one of"},
		"unknown command":   {[]string{"dance"}, "dance"},
		"unknown flag":      {[]string{"serve", "--loud"}, "--loud"},
		"bad mode":          {[]string{"--memory-mode=expert", "serve"}, "memory-mode"},
		"bad beta":          {[]string{"--graph-propagate-beta=7", "serve"}, "MEMORY_GRAPH_PROPAGATE_BETA"},
		"bad type":          {[]string{"--graph-support-exclude=gossip", "serve"}, "gossip"},
		"bad prior":         {[]string{"--graph-priors=gossip=1", "serve"}, "gossip"},
		"bad budget":        {[]string{"--graph-budget-ms=0", "serve"}, "MEMORY_GRAPH_BUDGET_MS 0: want 1 to 60000"},
		"bad edge score":    {[]string{"--graph-edge-min-score=-1", "serve"}, "MEMORY_GRAPH_EDGE_MIN_SCORE -1"},
		"missing config":    {[]string{"--config=/nowhere/kith.json", "config"}, "/nowhere/kith.json"},
		"search what":       {[]string{"search"}, "--user or --queries"},
		"publish what":      {[]string{"publish"}, "--points"},
		"publish no file":   {[]string{"publish", "/nowhere/events.jsonl"}, "/nowhere/events.jsonl"},
		"rebuild nobody":    {[]string{"rebuild", "--user="}, `--user: "": want`},
		"drop of nobody":    {[]string{"dead", "drop", "--all", "--user="}, `--user: "": want`},
		"drop of no reason": {[]string{"dead", "drop", "--all", "--reason="}, `--reason: "": want`},
		"digest of nobody":  {[]string{"digest", "--user="}, `--user: "": want`},
		"questions of none": {[]string{"calibrate", "--user="}, `--user: "": want`},
		"rebuild long user": {[]string{"rebuild", "--user", strings.Repeat("x", 600)}, "600 bytes"},
		"rebuild from none": {[]string{"rebuild", "--from-log", "--from-store"}, "--from-store"},
		"rebuild neighbors": {[]string{"rebuild", "--from-log", "--no-neighbors"}, "--no-neighbors"},
		"forget nobody":     {[]string{"forget", ""}, `<user>: "": want`},
		"search bad vector": {[]string{"search", "--user=ann", "--vector=/nowhere/v.json"}, "/nowhere/v.json"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--data-dir", t.TempDir(), "--listen=127.0.0.1:0", "--nats-listen=127.0.0.1:0", "--log-level=error"}, tc.args...)
			code, out, errs := kith(t, args...)
			if code != exitUsage || !strings.Contains(errs, tc.want) {
				t.Errorf("%d %s%s: want exit %d and %q", code, out, errs, exitUsage, tc.want)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	if code, out, _ := kith(t, "--help"); code != exitOK || !strings.Contains(out, "serve") || !strings.Contains(out, "QDRANT_URL") {
		t.Errorf("help: %d %s", code, out)
	}
	for _, args := range [][]string{{"help", "verify"}, {"help", "dead", "list"}, {"help"}} {
		_, want, _ := kith(t, append(args[1:], "--help")...)
		if code, out, errs := kith(t, args...); code != exitOK || out != want || out == "" {
			t.Errorf("%v: %d %s%s: want what --help prints", args, code, out, errs)
		}
	}
	if code, _, errs := kith(t, "help", "dance"); code != exitUsage || !strings.Contains(errs, "dance") {
		t.Errorf("help of no command: %d %s", code, errs)
	}
	if code, out, _ := kith(t, "version"); code != exitOK || !strings.HasPrefix(out, "kith ") {
		t.Errorf("version: %d %s", code, out)
	}
}

func TestConfigShowsRulesAndMasks(t *testing.T) {
	t.Setenv("QDRANT_API_KEY", "sesame")
	t.Setenv("MEMORY_MODE", "ultra")
	t.Setenv("MEMORY_GRAPH_PROFILE", "reference")
	code, out, errs := kith(t, "--graph-cal-lo=0.1", "config")
	if code != exitOK {
		t.Fatal(errs)
	}
	if strings.Contains(out, "sesame") || !strings.Contains(out, "***") {
		t.Error("the API key is not masked")
	}
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"graph-cal-lo MEMORY_GRAPH_CAL_LO flag 0.1",
		"graph-sender-floor MEMORY_GRAPH_SENDER_FLOOR profile reference 0", // 0.30 in the default profile
		"graph-propagate-beta MEMORY_GRAPH_PROPAGATE_BETA profile reference 0.15",
		"events are projected: true",
		"searches are reranked: false (default of MEMORY_GRAPH_RERANK_ENABLED while the graph is on is false)",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}

func TestPublishNamesTheLine(t *testing.T) {
	dir := t.TempDir()
	good := `{"specversion": "1.0", "id": "e1", "source": "s", "type": "memory.fact.deleted.v1", "time": "2026-09-01T00:00:00Z", "data": {"user_id": "ann", "fact_id": "f"}}`
	bad := map[string]string{ // what must be said of each
		`{"specversion": "1.0", "id": "e2", `:                                            "line 2",
		strings.Replace(good, "memory.fact.deleted.v1", "memory.fact.danced.v1", 1):      "memory.fact.danced.v1",
		strings.Replace(good, "2026-09-01T00:00:00Z", "2026-09-01T00:00:00", 1):          "time",
		strings.Replace(good, `"ann"`, `""`, 1):                                          "data.user_id",
		strings.Replace(good, `"fact_id": "f"`, `"fact_id": "f\u0000g"`, 1):              "data.fact_id",
		strings.Replace(good, `"fact_id": "f"`, "\"fact_id\": \"f\xff\"", 1):             "UTF-8",
		strings.Replace(good, `"id": "e1"`, `"id": "`+strings.Repeat("x", 2<<20)+`"`, 1): "bytes",
	}
	lines := []string{good}
	var wants []string
	for line, want := range bad {
		if strings.HasSuffix(line, ", ") { // the cut-off one stands second, since its text is about its line
			lines = append([]string{good, line}, lines[1:]...)
		} else {
			lines = append(lines, line)
		}
		wants = append(wants, want)
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "publish", file)
	if code != exitFailed || !strings.Contains(out, "1 stored") || !strings.Contains(errs, "7 lines refused") {
		t.Errorf("%d %s%s: want the good one stored and 7 refused", code, out, errs)
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}

func TestPublishPointsNamesTheLine(t *testing.T) {
	good := `{"user_id": "ann", "id": "p1", "vector": [1, 0], "payload": {"content": "x", "memory_at": "2026-09-01T00:00:00Z", "version": 3, "tags": "one", "mood": "calm"}}`
	lines := []string{
		good,
		strings.Replace(good, `"ann"`, `""`, 1),
		strings.Replace(good, `[1, 0]`, `[]`, 1),
		strings.Replace(good, `[1, 0]`, `[0, 0]`, 1),
		strings.Replace(good, `00:00Z`, `00:00`, 1),
		strings.Replace(good, `"version": 3`, `"version": 1.5`, 1),
		strings.Replace(good, `"tags": "one"`, `"tags": 5`, 1),
		strings.Replace(good, `"mood"`, `"user_id"`, 1),
		strings.Replace(good, `"p1"`, `"p\u0000"`, 1),
		strings.Replace(strings.Replace(good, `[1, 0]`, `[1, 0, 0]`, 1), `"p1"`, `"p2"`, 1), // well formed, but of another dimension
		strings.Replace(good, `"p1"`, `"p3"`, 1),
	}
	wants := []string{"line 2: space", "line 3", "line 4", "payload.memory_at", "payload.version", "payload.tags", "user_id", "line 9", "line 10: ", "3 dimensions, the collection has 2"}
	file := filepath.Join(t.TempDir(), "points.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := kith(t, "--data-dir", t.TempDir(), "--log-level=error", "publish", "--points", file)
	if code != exitFailed || !strings.Contains(out, "stored 2 points") || !strings.Contains(errs, "9 lines refused") {
		t.Errorf("%d %s%s: want 2 stored, 9 refused", code, out, errs)
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}

func TestSearchCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "points.jsonl")
	lines := `{"user_id": "ann", "id": "p1", "vector": [1, 0], "payload": {"content": "red bicycle"}}
{"user_id": "ann", "id": "p2", "vector": [0.6, 0.8], "payload": {"content": "blue boat"}}`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	vector := filepath.Join(t.TempDir(), "v.json")
	if err := os.WriteFile(vector, []byte(`[0.6, 0.8]`), 0o600); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) []string {
		return append([]string{"--data-dir", dir, "--log-level=error"}, args...)
	}
	if code, out, errs := kith(t, on("publish", "--points", file)...); code != exitOK {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"by vector":    {on("search", "--user=ann", "--vector", vector), exitOK, "p2"},
		"by words":     {on("search", "--user=ann", "bicycle"), exitOK, "keyword recall"},
		"json":         {on("search", "--user=ann", "--vector", vector, "--json"), exitOK, `"graph_rerank"`},
		"unknown user": {on("search", "--user=nobody", "--vector", vector), exitOK, "0 results"},
		"k 0":          {on("search", "--user=ann", "--vector", vector, "--k=0"), exitFailed, "k 0: expected number >= 1"},
		"k 10^9":       {on("search", "--user=ann", "--vector", vector, "--k=1000000000"), exitFailed, "k 1000000000: expected number <= 200"},
		"naive time":   {on("search", "--user=ann", "--vector", vector, "--valid-at=2026-09-01T00:00:00"), exitFailed, "valid_at"},
		"nothing":      {on("search", "--user=ann"), exitFailed, "vector, text"},
	} {
		code, out, errs := kith(t, tc.args...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("%s: %d %s%s: want %d and %q", name, code, out, errs, tc.code, tc.want)
		}
	}
}

func TestDemo(t *testing.T) {
	code, out, errs := kith(t, "--log-level=warn", "demo")
	if code != exitOK {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	for _, want := range []string{"stored 323 points", "published 168 write events", "326 facts of 3 users", "recall@5 over 44 questions: plain ", "verdict: "} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}

// The demo never touches what an operator has configured.
func TestDemoLeavesConfiguredStoresAlone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NATS_URL", "nats://"+closedPort(t))
	t.Setenv("QDRANT_URL", "http://"+closedPort(t))
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "demo"); code != exitOK {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v in the data directory", left, err)
	}
	t.Setenv("MEMORY_MODE", "lite")
	if code, _, errs := kith(t, "--data-dir", dir, "demo"); code != exitUsage || !strings.Contains(errs, "MEMORY_MODE=lite") {
		t.Errorf("without a graph: %d %s", code, errs)
	}
}

// recall@5 by hand: of three answers the graph order has one second and one sixth, the plain order none: 1/3 and 0.
func TestVerdictOfRecallAtFive(t *testing.T) {
	var out strings.Builder
	done := []comparison{{
		query: knownQuery{Answers: []string{"x", "y", "z"}},
		plain: server.SearchResponse{Results: results("a", "b", "c", "d", "e", "x")},
		graph: server.SearchResponse{Results: results("a", "x", "b", "c", "d", "y", "e")},
	}}
	if err := printVerdict(&env{stdout: &out}, done); err != nil || !strings.Contains(out.String(), "plain 0.000, graph 0.333 (+0.333,") {
		t.Errorf("%v: %s", err, &out)
	}
}

// The interval of differences that are all equal is that value; of mixed signs it straddles zero.
func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		diffs []float64
		want  string
	}{
		{[]float64{.5, .5, .5, .5}, "helps here"},
		{[]float64{-.5, -.5, -.5, -.5}, "harms"},
		{[]float64{0, 0, 0}, "changes nothing"},
		{[]float64{1, -1, 1, -1, 1, -1}, "within chance"},
	} {
		d, err := eval.Compare(tc.diffs, make([]float64, len(tc.diffs)))
		if got := verdict(d); err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%v: %q, %v: want %q", tc.diffs, got, err, tc.want)
		}
	}
}
