package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
)

// rerankSettings returns the profile's settings with the operator's overrides. Errors name the setting.
func rerankSettings(c config.Rerank) (rerank.Settings, error) {
	s, err := rerank.ProfileSettings(rerank.Profile(c.Profile))
	if err != nil {
		return s, err
	}
	override(&s.CalLo, c.CalLo)
	override(&s.CalHi, c.CalHi)
	override(&s.Beta, c.Beta)
	override(&s.Iterations, c.Iters)
	override(&s.SupportCap, c.SupportCap)
	override(&s.SenderFloor, c.SenderFloor)
	override(&s.WeightMax, c.WMax)
	override(&s.HubCap, c.HubCap)
	override(&s.EpisodeRecall, c.EpisodeRecall)
	override(&s.EpisodeWeight, c.EpisodeWeight)
	override(&s.Owners, c.Owners)
	if c.SupportExclude != nil {
		s.SupportExclude = nil
		for _, name := range *c.SupportExclude {
			t, err := graphstore.ParseRelationType(name)
			if err != nil {
				return s, fmt.Errorf("MEMORY_GRAPH_SUPPORT_EXCLUDE: %w", err)
			}
			s.SupportExclude = append(s.SupportExclude, t)
		}
	}
	overridePaths(&s.Paths, c.Paths)
	if err := errors.Join(overrideTypes("MEMORY_GRAPH_PRIORS", &s.Priors, c.Priors), overrideExpand(&s.Expand, c.Expand)); err != nil {
		return s, err
	}
	return s, s.Validate()
}

func overrideExpand(s *rerank.ExpandSettings, c config.Expand) error {
	override(&s.Gamma, c.Gamma)
	override(&s.EpisodeBonus, c.EpisodeBonus)
	override(&s.SeedFloor, c.SeedFloor)
	override(&s.MaxSeeds, c.MaxSeeds)
	override(&s.Hops, c.Hops)
	override(&s.HopDecay, c.HopDecay)
	override(&s.Fanout, c.Fanout)
	override(&s.PrefilterTopN, c.PrefilterTopN)
	override(&s.MaxExpand, c.MaxExpand)
	override(&s.MaxPerSeed, c.MaxPerSeed)
	override(&s.DeltaMerge, c.SimDelta)
	override(&s.DeltaSeparate, c.SimDelta)
	override(&s.AdmitFloor, c.AdmitFloor)
	override(&s.MergeSeed, c.MergeSeed)
	override(&s.ExtraShare, c.ExtraShare)
	return errors.Join(
		overrideTypes("MEMORY_GRAPH_SEED_SIM_DELTAS", &s.DeltaByType, c.SimDeltas),
		overrideTypes("MEMORY_GRAPH_QUOTAS", &s.Quotas, c.Quotas),
	)
}

func overridePaths(s *rerank.PathSettings, c config.Paths) {
	override(&s.Enabled, c.Enabled)
	override(&s.HighFloor, c.HighFloor)
	override(&s.Max, c.Max)
	override(&s.PerNode, c.PerNode)
}

// overrideTypes puts the values of some types into a table; the others stay.
func overrideTypes[T any](name string, into *map[graphstore.RelationType]T, values map[string]T) error {
	for key, v := range values {
		t, err := graphstore.ParseRelationType(key)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if *into == nil {
			*into = map[graphstore.RelationType]T{}
		}
		(*into)[t] = v
	}
	return nil
}

func override[T any](into *T, value *T) {
	if value != nil {
		*into = *value
	}
}

// graphBudget returns the longest time a search waits for the graph.
func graphBudget(c config.Rerank) time.Duration {
	if c.BudgetMS == nil {
		return reader.DefaultBudget
	}
	return time.Duration(*c.BudgetMS) * time.Millisecond
}

// hybrid returns how the channels of a hybrid search are fused.
func hybrid(c config.Hybrid) reader.Hybrid {
	h := reader.Hybrid{DenseWeight: reader.DefaultDenseWeight, KeywordHalf: reader.DefaultKeywordHalf}
	override(&h.DenseWeight, c.DenseWeight)
	override(&h.KeywordHalf, c.KeywordHalf)
	return h
}

// readerConfig returns the reader's configuration.
func (e *env) readerConfig(sw config.Switches) (reader.Config, error) {
	settings, err := rerankSettings(e.cfg.Rerank)
	if err != nil {
		return reader.Config{}, &usageError{err}
	}
	return reader.Config{
		Rerank: settings, Hybrid: hybrid(e.cfg.Rerank.Hybrid), GraphOff: !sw.Rerank, Budget: graphBudget(e.cfg.Rerank), Logger: e.log,
	}, nil
}

// explained returns the numbers that explanations are made of.
func explained(c reader.Config) server.Settings {
	r := c.Rerank
	return server.Settings{
		CalLo: r.CalLo, CalHi: r.CalHi, Beta: r.Beta, SupportCap: r.SupportCap, Gamma: r.Expand.Gamma, HopDecay: r.Expand.HopDecay,
		DenseWeight: c.Hybrid.DenseWeight, KeywordHalf: c.Hybrid.KeywordHalf,
	}
}
