package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kithgraph/kith/internal/config"
)

// cli is the smallest command line over the configuration.
type cli struct {
	config.Config
	Run struct{} `cmd:"" default:"1"`
}

// parse parses a command line with a configuration file (if not empty) in the environment that the test has set.
func parse(t *testing.T, file string, args ...string) (*cli, *kong.Context, error) {
	t.Helper()
	var c cli
	var opts []kong.Option
	if file != "" {
		path := filepath.Join(t.TempDir(), "kith.json")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := config.FileResolver(path)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, kong.Resolvers(r))
	}
	parser, err := kong.New(&c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := parser.Parse(args)
	return &c, ctx, err
}

func TestPrecedence(t *testing.T) {
	const file = `{"listen": "file:1", "batch-events": 7, "graph-priors": {"causes": 0.5}, "graph-owners": ["me", "moi"], "graph-propagate-beta": 0}`
	t.Setenv("KITH_LISTEN", "env:1")
	t.Setenv("KITH_BATCH_EVENTS", "9")
	c, ctx, err := parse(t, file, "--batch-events=11")
	if err != nil {
		t.Fatal(err)
	}
	if c.Serve.Listen != "env:1" {
		t.Errorf("listen %q: the environment wins over the file", c.Serve.Listen)
	}
	if c.NATS.BatchEvents != 11 {
		t.Errorf("batch-events %d: the command line wins over both", c.NATS.BatchEvents)
	}
	if c.Rerank.Beta == nil || *c.Rerank.Beta != 0 || c.Rerank.Priors["causes"] != .5 || len(*c.Rerank.Owners) != 2 {
		t.Errorf("from the file: %+v", c.Rerank)
	}
	if c.Rerank.CalLo != nil {
		t.Errorf("cal-lo %v: nobody set it", *c.Rerank.CalLo)
	}
	from := map[string]string{}
	for _, s := range config.Effective(ctx) {
		from[s.Flag] = s.Source
	}
	for flag, want := range map[string]string{"listen": "environment", "batch-events": "flag", "graph-priors": "file", "nats-listen": "default", "graph-propagate-beta": "file"} {
		if from[flag] != want {
			t.Errorf("%s comes from %q: want %q", flag, from[flag], want)
		}
	}
}

func TestBadSettingsNameThemselves(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		args []string
		want string
	}{
		"unknown key":    {file: `{"lisen": "x"}`, want: "unknown settings: lisen"},
		"not an object":  {file: `[1]`, want: "JSON object"},
		"cut off":        {file: `{"listen": `, want: "kith.json"},
		"two documents":  {file: `{} {}`, want: "text after"},
		"wrong kind":     {file: `{"batch-events": "many"}`, want: "batch-events"},
		"number as text": {file: `{"listen": 5}`, want: "listen"},
		"list as text":   {file: `{"data-dir": ["a"]}`, want: "data-dir"},
		"text as list":   {file: `{"graph-owners": {"a": 1}}`, want: "graph-owners"},
		"null":           {file: `{"batch-events": null}`, want: "batch-events"},
		"mode":           {args: []string{"--memory-mode=expert"}, want: "memory-mode"},
		"profile":        {args: []string{"--graph-profile=best"}, want: "graph-profile"},
		"number":         {args: []string{"--graph-propagate-beta=much"}, want: "graph-propagate-beta"},
	} {
		if _, _, err := parse(t, tc.file, tc.args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v: want %q", name, err, tc.want)
		}
	}
	if _, err := config.FileResolver(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Setenv("QDRANT_API_KEY", "sesame")
	t.Setenv("NATS_URL", "nats://ann:s3cret@one:4222,nats://t0ken@two:4222,nats://three:4222")
	_, ctx, err := parse(t, "")
	if err != nil {
		t.Fatal(err)
	}
	var seen int
	for _, s := range config.Effective(ctx) {
		for _, secret := range []string{"sesame", "s3cret", "t0ken"} {
			if strings.Contains(s.Value, secret) {
				t.Errorf("%s shows %q", s.Flag, secret)
			}
		}
		switch s.Flag {
		case "qdrant-api-key":
			seen++
			if s.Value != "***" {
				t.Errorf("api key: %q", s.Value)
			}
		case "nats-url":
			seen++
			if want := "nats://ann:***@one:4222,nats://***@two:4222,nats://three:4222"; s.Value != want {
				t.Errorf("url: %q, want %q", s.Value, want)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d of 2 secrets listed", seen)
	}
}

func TestMaskURLs(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"nats://host:4222":                 "nats://host:4222",
		"admin:sesame@nats.internal:4222":  "admin:***@nats.internal:4222",
		"t0ken@host":                       "***@host",
		"nats://ann:p@ss:w/rd@host:4222":   "nats://ann:***@host:4222",
		"tls://a:b@one, tls://c:d@two:422": "tls://a:***@one,tls://c:***@two:422",
		"http://key@qdrant:6334":           "http://***@qdrant:6334",
	} {
		if got := config.MaskURLs(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A value that is set and wrong is refused under the name it was set by, also 0 where a default stands for "not set".
func TestValidate(t *testing.T) {
	if _, _, err := parse(t, ""); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for args, want := range map[string]string{
		"--batch-events=0":              "KITH_BATCH_EVENTS 0: want 1 to 10000",
		"--batch-tick=0s":               "KITH_BATCH_TICK 0s",
		"--drain-timeout=0s":            "KITH_DRAIN_TIMEOUT 0s",
		"--graph-co-occurs-max-batch=0": "MEMORY_GRAPH_CO_OCCURS_MAX_BATCH 0: want 1 to 64",
		"--graph-edge-min-score=0":      "MEMORY_GRAPH_EDGE_MIN_SCORE 0",
		"--graph-edge-min-score=NaN":    "MEMORY_GRAPH_EDGE_MIN_SCORE NaN",
		"--graph-budget-ms=0":           "MEMORY_GRAPH_BUDGET_MS 0: want 1 to 60000",
		"--stream-max-bytes=-1":         "KITH_STREAM_MAX_BYTES -1: want 0 for no limit",
		"--stream-max-bytes=1":          "KITH_STREAM_MAX_BYTES 1",
		"--stream-max-age=1ns":          "KITH_STREAM_MAX_AGE 1ns",
		"--listen=":                     "KITH_LISTEN",
		"--listen=:7411":                "KITH_LISTEN",
		"--nats-cert=/tls/cert.pem":     "NATS_CERT",
		"--ready-lag=-1":                "KITH_READY_LAG -1: want 0 to",
		"--ready-silence=0s":            "KITH_READY_SILENCE 0s: want 1s to 24h0m0s",
		"--ready-error-share=1.5":       "KITH_READY_ERROR_SHARE 1.5: want 0 to 1",
		"--ready-error-share=NaN":       "KITH_READY_ERROR_SHARE NaN",
		"--ready-error-window=1s":       "KITH_READY_ERROR_WINDOW 1s: want 10s to 1h0m0s",
		"--standby":                     "KITH_STANDBY true without NATS_URL",
		"--standby-ttl=1ms":             "KITH_STANDBY_TTL 1ms: want 1s to 10m0s",
		"--standby-group=a.b":           `KITH_STANDBY_GROUP "a.b"`,
		"--standby-group=":              `KITH_STANDBY_GROUP ""`,
		"--embed-model=m":               `KITH_EMBED_MODEL "m" without KITH_EMBED_URL`,
		"--embed-key=sesame":            "KITH_EMBED_KEY without KITH_EMBED_URL",
		"--embed-url=http://host":       "KITH_EMBED_URL without KITH_EMBED_MODEL",
		"--embed-url=host:8080":         "KITH_EMBED_URL: want http(s)://host:port",
		"--embed-dimension=-1":          "KITH_EMBED_DIMENSION -1: want 0 to 65536",
		"--embed-timeout=0s":            "KITH_EMBED_TIMEOUT 0s: want 1ms to 10m0s",
	} {
		if _, _, err := parse(t, "", args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", args, err, want)
		}
	}
}

// The settings of the embeddings endpoint depend on each other; errors show none of its secrets.
func TestValidateEmbed(t *testing.T) {
	endpoint := []string{"--embed-url=https://me:sesame@host/v1", "--embed-model=m", "--embed-key=sesame"}
	if _, _, err := parse(t, "", endpoint...); err != nil {
		t.Errorf("good: %v", err)
	}
	for arg, want := range map[string]string{
		"--embed-shorten":               "KITH_EMBED_SHORTEN true with KITH_EMBED_DIMENSION 0",
		"--embed-timeout=10s":           "KITH_EMBED_TIMEOUT 10s: want less than KITH_SEARCH_TIMEOUT, 10s",
		"--search-timeout=5s":           "KITH_EMBED_TIMEOUT 5s: want less than KITH_SEARCH_TIMEOUT, 5s",
		"--embed-url=ftp://sesame@host": "KITH_EMBED_URL: want http(s)",
	} {
		_, _, err := parse(t, "", append(endpoint, arg)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v: want %q", arg, err, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// The table of the mode rules: nothing set means on; one setting brings the defaults of the others back.
func TestSwitches(t *testing.T) {
	on, off := ptr(true), ptr(false)
	for name, tc := range map[string]struct {
		m             config.Memory
		write, rerank bool
		warnings      int
	}{
		"nothing set":              {config.Memory{}, true, true, 0},
		"lite":                     {config.Memory{Mode: ptr("lite")}, false, false, 0},
		"lite beats enable":        {config.Memory{Mode: ptr("lite"), EnableGraph: on}, false, false, 0},
		"pro":                      {config.Memory{Mode: ptr("pro")}, false, false, 0},
		"pro, enabled":             {config.Memory{Mode: ptr("pro"), EnableGraph: on}, true, false, 0},
		"ultra":                    {config.Memory{Mode: ptr("ultra")}, true, false, 0},
		"ultra beats enable":       {config.Memory{Mode: ptr("ultra"), EnableGraph: off}, true, false, 0},
		"ultra, rerank":            {config.Memory{Mode: ptr("ultra"), Rerank: on}, true, true, 0},
		"ultra, no write":          {config.Memory{Mode: ptr("ultra"), Write: off, Rerank: on}, false, true, 0},
		"enabled":                  {config.Memory{EnableGraph: on}, true, false, 0},
		"enabled, rerank":          {config.Memory{EnableGraph: on, Rerank: on}, true, true, 0},
		"rerank alone":             {config.Memory{Rerank: on}, false, false, 1},
		"write and rerank alone":   {config.Memory{Write: on, Rerank: on}, false, false, 2},
		"write switched off alone": {config.Memory{Write: off}, false, false, 0},
		"project off alone":        {config.Memory{Project: off}, false, true, 0},
		"project on alone":         {config.Memory{Project: on}, true, true, 0},
		"ultra, project off":       {config.Memory{Mode: ptr("ultra"), Project: off, Rerank: on}, false, true, 0},
		"lite, project off":        {config.Memory{Mode: ptr("lite"), Project: off}, false, false, 0},
		"lite, project on":         {config.Memory{Mode: ptr("lite"), Project: on}, false, false, 1},
		"ultra, write says off":    {config.Memory{Mode: ptr("ultra"), Write: off, Project: on, Rerank: on}, false, true, 1},
		"ultra, project says off":  {config.Memory{Mode: ptr("ultra"), Write: on, Project: off, Rerank: on}, false, true, 0},
	} {
		s := tc.m.Resolve()
		if s.Write != tc.write || s.Rerank != tc.rerank || len(s.Warnings) != tc.warnings || s.WriteRule == "" || s.RerankRule == "" {
			t.Errorf("%s: %+v: want write %v, rerank %v, %d warnings", name, s, tc.write, tc.rerank, tc.warnings)
		}
		if paused := strings.Contains(name, "project off alone") || strings.Contains(name, "ultra, no write") || strings.Contains(name, "ultra, project off") ||
			strings.Contains(name, "says off"); s.Paused != paused {
			t.Errorf("%s: paused %v, want %v: the graph is on and not written", name, s.Paused, paused)
		}
	}
}
