package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/rerank"
)

type configCmd struct{}

// Run prints every setting with its value, secrets masked, and which rule gave it.
func (configCmd) Run(e *env) error {
	sw := e.cfg.Memory.Resolve()
	inForce, err := e.inForce(sw)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tENVIRONMENT\tFROM\tVALUE")
	for _, s := range config.Effective(e.kong) {
		from := s.Source
		if v, ok := inForce[s.Flag]; ok && s.Value == "" {
			s.Value, from = v.text, v.rule
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Flag, s.Env, from, s.Value)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	e.printf("\nevents are projected: %v (%s)\nsearches are reranked: %v (%s)\n", sw.Write, sw.WriteRule, sw.Rerank, sw.RerankRule)
	for _, w := range sw.Warnings {
		e.printf("warning: %s\n", w)
	}
	return nil
}

// value is a setting in force that nobody set, and the rule that gave it.
type value struct{ text, rule string }

// inForce returns the values of the optional settings that have no default of their own.
func (e *env) inForce(sw config.Switches) (map[string]value, error) {
	s, err := rerankSettings(e.cfg.Rerank)
	if err != nil {
		return nil, &usageError{err}
	}
	budget := graphBudget(e.cfg.Rerank)
	profile := "profile " + e.cfg.Rerank.Profile
	var excluded []string
	for _, t := range s.SupportExclude {
		excluded = append(excluded, t.String())
	}
	h := hybrid(e.cfg.Rerank.Hybrid)
	out := map[string]value{
		"memory-mode":               {"not set", "default"},
		"enable-graph":              {"not set", "default"},
		"project":                   {fmt.Sprint(sw.Write), "the rule below"},
		"graph-write":               {fmt.Sprint(sw.Write), "the rule below"},
		"graph-rerank-enabled":      {fmt.Sprint(sw.Rerank), "the rule below"},
		"graph-co-occurs-max-batch": {fmt.Sprint(projector.DefaultMaxCoOccurs), "default"},
		"graph-edge-min-score":      {fmt.Sprint(projector.DefaultEdgeMinScore), "default"},
		"graph-support-exclude":     {strings.Join(excluded, ","), profile},
		"graph-priors":              {byType(s.Priors), profile},
		"graph-owners":              {strings.Join(s.Owners, ","), profile},
		"graph-budget-ms":           {fmt.Sprint(budget.Milliseconds()), "default"},
		"graph-hybrid-dense-weight": {fmt.Sprint(h.DenseWeight), "default"},
		"graph-hybrid-keyword-half": {fmt.Sprint(h.KeywordHalf), "default"},
		"episode-recall-enabled":    {fmt.Sprint(s.EpisodeRecall), profile},
	}
	x, p := s.Expand, s.Paths
	for flag, v := range map[string]any{
		"graph-cal-lo": s.CalLo, "graph-cal-hi": s.CalHi, "graph-propagate-beta": s.Beta, "graph-propagate-iters": s.Iterations,
		"graph-support-cap": s.SupportCap, "graph-sender-floor": s.SenderFloor, "graph-wmax": s.WeightMax,
		"graph-hub-cap": s.HubCap, "episode-recall-weight": s.EpisodeWeight,
		"graph-relax-gamma": x.Gamma, "graph-expand-episode-bonus": x.EpisodeBonus,
		"graph-seed-floor": x.SeedFloor, "graph-max-seeds": x.MaxSeeds, "graph-expand-hops": x.Hops, "graph-hop-decay": x.HopDecay,
		"graph-fanout": x.Fanout, "graph-expand-prefilter-top-n": x.PrefilterTopN, "graph-max-expand": x.MaxExpand,
		"graph-max-per-seed": x.MaxPerSeed, "graph-admit-floor": x.AdmitFloor, "graph-quotas": byType(x.Quotas),
		"graph-expand-merge-seed": x.MergeSeed, "graph-extra-share": x.ExtraShare, "graph-seed-sim-deltas": "none",
		"graph-path-enabled": p.Enabled, "graph-path-high-floor": p.HighFloor, "graph-path-max": p.Max, "graph-path-per-node": p.PerNode,
	} {
		out[flag] = value{fmt.Sprint(v), profile}
	}
	out["graph-seed-sim-delta"] = simDelta(x, profile)
	return out, nil
}

// simDelta returns the width of the gate, which depends on where added facts go.
func simDelta(x rerank.ExpandSettings, profile string) value {
	if x.MergeSeed {
		return value{fmt.Sprint(x.DeltaMerge), profile + " (merge)"}
	}
	return value{fmt.Sprint(x.DeltaSeparate), profile + " (separate)"}
}

// byType writes a table of one value per type in the order of the types.
func byType[T any](table map[graphstore.RelationType]T) string {
	var items []string
	for _, t := range graphstore.RelationTypes() {
		if v, ok := table[t]; ok {
			items = append(items, fmt.Sprintf("%s=%v", t, v))
		}
	}
	return strings.Join(items, ",")
}
