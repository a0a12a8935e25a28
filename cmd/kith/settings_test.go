package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
)

// settingsOf returns the reader's configuration of the environment that the test has set.
func settingsOf(t *testing.T) (reader.Config, error) {
	t.Helper()
	var a app
	parser, err := kong.New(&a, kong.Name("kith"), kong.ExplicitGroups(groups()), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"version"}); err != nil {
		return reader.Config{}, err
	}
	return (&env{cfg: a.Config}).readerConfig(a.Memory.Resolve())
}

// rankingSettings are the names an operator sets the ranking by, each with a value that is not its default, what becomes of it, and
// a value that is refused.
var rankingSettings = []struct {
	name, value string
	got         func(reader.Config) any
	want        any
	bad         string
}{
	{"MEMORY_GRAPH_CAL_LO", "0.1", func(c reader.Config) any { return c.Rerank.CalLo }, .1, "-2"},
	{"MEMORY_GRAPH_CAL_HI", "0.7", func(c reader.Config) any { return c.Rerank.CalHi }, .7, "1.5"},
	{"MEMORY_GRAPH_PROPAGATE_BETA", "0", func(c reader.Config) any { return c.Rerank.Beta }, 0., "1.1"},
	{"MEMORY_GRAPH_PROPAGATE_ITERS", "3", func(c reader.Config) any { return c.Rerank.Iterations }, 3, "6"},
	{"MEMORY_GRAPH_SUPPORT_CAP", "2", func(c reader.Config) any { return c.Rerank.SupportCap }, 2., "0"},
	{"MEMORY_GRAPH_SENDER_FLOOR", "0", func(c reader.Config) any { return c.Rerank.SenderFloor }, 0., "NaN"},
	{"MEMORY_GRAPH_SUPPORT_EXCLUDE", "related,causes", func(c reader.Config) any { return c.Rerank.SupportExclude },
		[]graphstore.RelationType{graphstore.Related, graphstore.Causes}, "gossip"},
	{"MEMORY_GRAPH_WMAX", "0.5", func(c reader.Config) any { return c.Rerank.WeightMax }, .5, "2"},
	{"MEMORY_GRAPH_PRIORS", "causes=0.4", func(c reader.Config) any { return c.Rerank.Priors[graphstore.Causes] }, .4, "gossip=1"},
	{"MEMORY_GRAPH_OWNERS", "me,moi", func(c reader.Config) any { return c.Rerank.Owners }, []string{"me", "moi"}, "Me"},
	{"MEMORY_GRAPH_HUB_CAP", "7", func(c reader.Config) any { return c.Rerank.HubCap }, 7, "-1"},
	{"MEMORY_EPISODE_RECALL_ENABLED", "true", func(c reader.Config) any { return c.Rerank.EpisodeRecall }, true, "perhaps"},
	{"MEMORY_EPISODE_RECALL_WEIGHT", "0.2", func(c reader.Config) any { return c.Rerank.EpisodeWeight }, .2, "3"},
	{"MEMORY_GRAPH_BUDGET_MS", "70", func(c reader.Config) any { return c.Budget }, 70 * time.Millisecond, "0"},

	{"MEMORY_GRAPH_RELAX_GAMMA", "0", func(c reader.Config) any { return c.Rerank.Expand.Gamma }, 0., "1.1"},
	{"MEMORY_GRAPH_EXPAND_EPISODE_BONUS", "0.1", func(c reader.Config) any { return c.Rerank.Expand.EpisodeBonus }, .1, "2"},
	{"MEMORY_GRAPH_SEED_FLOOR", "0.6", func(c reader.Config) any { return c.Rerank.Expand.SeedFloor }, .6, "-0.1"},
	{"MEMORY_GRAPH_MAX_SEEDS", "4", func(c reader.Config) any { return c.Rerank.Expand.MaxSeeds }, 4, "51"},
	{"MEMORY_GRAPH_EXPAND_HOPS", "3", func(c reader.Config) any { return c.Rerank.Expand.Hops }, 3, "4"},
	{"MEMORY_GRAPH_HOP_DECAY", "0.5", func(c reader.Config) any { return c.Rerank.Expand.HopDecay }, .5, "1.2"},
	{"MEMORY_GRAPH_FANOUT", "30", func(c reader.Config) any { return c.Rerank.Expand.Fanout }, 30, "201"},
	{"MEMORY_GRAPH_EXPAND_PREFILTER_TOP_N", "60", func(c reader.Config) any { return c.Rerank.Expand.PrefilterTopN }, 60, "0"},
	{"MEMORY_GRAPH_MAX_EXPAND", "0", func(c reader.Config) any { return c.Rerank.Expand.MaxExpand }, 0, "-1"},
	{"MEMORY_GRAPH_MAX_PER_SEED", "2", func(c reader.Config) any { return c.Rerank.Expand.MaxPerSeed }, 2, "0"},
	{"MEMORY_GRAPH_SEED_SIM_DELTA", "0.33", func(c reader.Config) any { return []float64{c.Rerank.Expand.DeltaMerge, c.Rerank.Expand.DeltaSeparate} },
		[]float64{.33, .33}, "1.01"},
	{"MEMORY_GRAPH_SEED_SIM_DELTAS", "causes=0.5", func(c reader.Config) any { return c.Rerank.Expand.DeltaByType },
		map[graphstore.RelationType]float64{graphstore.Causes: .5}, "causes=5"},
	{"MEMORY_GRAPH_ADMIT_FLOOR", "0.2", func(c reader.Config) any { return c.Rerank.Expand.AdmitFloor }, .2, "-1"},
	{"MEMORY_GRAPH_EXPAND_MERGE_SEED", "false", func(c reader.Config) any { return c.Rerank.Expand.MergeSeed }, false, "2"},
	{"MEMORY_GRAPH_EXTRA_SHARE", "0.5", func(c reader.Config) any { return c.Rerank.Expand.ExtraShare }, .5, "1.5"},
	{"MEMORY_GRAPH_QUOTAS", "related=9", func(c reader.Config) any { return c.Rerank.Expand.Quotas[graphstore.Related] }, 9, "related=-1"},

	{"MEMORY_GRAPH_PATH_ENABLED", "false", func(c reader.Config) any { return c.Rerank.Paths.Enabled }, false, "2"},
	{"MEMORY_GRAPH_PATH_HIGH_FLOOR", "0.6", func(c reader.Config) any { return c.Rerank.Paths.HighFloor }, .6, "2"},
	{"MEMORY_GRAPH_PATH_MAX", "5", func(c reader.Config) any { return c.Rerank.Paths.Max }, 5, "0"},
	{"MEMORY_GRAPH_PATH_PER_NODE", "2", func(c reader.Config) any { return c.Rerank.Paths.PerNode }, 2, "0"},

	{"MEMORY_GRAPH_HYBRID_DENSE_WEIGHT", "0.6", func(c reader.Config) any { return c.Hybrid.DenseWeight }, .6, "0"},
	{"MEMORY_GRAPH_HYBRID_KEYWORD_HALF", "3", func(c reader.Config) any { return c.Hybrid.KeywordHalf }, 3., "0"},
}

// Every name takes effect, alone, and is refused under its own name when its value is out of range.
func TestRankingSettings(t *testing.T) {
	def, err := settingsOf(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range rankingSettings {
		t.Run(s.name, func(t *testing.T) {
			if cmp.Equal(s.got(def), s.want) {
				t.Fatalf("the default is %v too: the case shows nothing", s.want)
			}
			t.Setenv(s.name, s.value)
			cfg, err := settingsOf(t)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.got(cfg); !cmp.Equal(got, s.want) {
				t.Errorf("%s: %v, want %v", s.value, got, s.want)
			}
			t.Setenv(s.name, s.bad)
			if _, err := settingsOf(t); err == nil || !strings.Contains(err.Error(), s.name) {
				t.Errorf("%s: %v: want a refusal that names the setting", s.bad, err)
			}
		})
	}
}

// Settings of one type leave the other types at their defaults.
func TestSettingsOfOneType(t *testing.T) {
	t.Setenv("MEMORY_GRAPH_QUOTAS", "causes=1")
	cfg, err := settingsOf(t)
	if err != nil {
		t.Fatal(err)
	}
	if q := cfg.Rerank.Expand.Quotas; q[graphstore.Causes] != 1 || q[graphstore.SameSeries] != 5 || len(q) != 11 {
		t.Errorf("%v: want causes 1, the other ten as they were", q)
	}
}

// kith config shows each of them with the rule that gave its value.
func TestConfigShowsTheRanking(t *testing.T) {
	t.Setenv("MEMORY_GRAPH_RELAX_GAMMA", "0.25")
	t.Setenv("MEMORY_GRAPH_EXPAND_MERGE_SEED", "false")
	code, out, errs := kith(t, "config")
	if code != exitOK {
		t.Fatal(errs)
	}
	lines := map[string]string{}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 2 {
			lines[fields[1]] = strings.Join(fields[2:], " ")
		}
	}
	for _, s := range rankingSettings {
		if got := lines[s.name]; got == "" || got == "default" {
			t.Errorf("%s: %q: want a value and where it comes from", s.name, got)
		}
	}
	for name, want := range map[string]string{
		"MEMORY_GRAPH_RELAX_GAMMA":         "environment 0.25",
		"MEMORY_GRAPH_SEED_SIM_DELTA":      "profile default (separate) 0.4",
		"MEMORY_GRAPH_HYBRID_DENSE_WEIGHT": "default 0.7",
		"MEMORY_GRAPH_PATH_PER_NODE":       "profile default 3",
	} {
		if lines[name] != want {
			t.Errorf("%s: %q, want %q", name, lines[name], want)
		}
	}
}
