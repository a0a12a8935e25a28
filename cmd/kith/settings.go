package main

import (
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
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
	for name, prior := range c.Priors {
		t, err := graphstore.ParseRelationType(name)
		if err != nil {
			return s, fmt.Errorf("MEMORY_GRAPH_PRIORS: %w", err)
		}
		s.Priors[t] = prior
	}
	return s, s.Validate()
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

// readerConfig returns the reader's configuration.
func (e *env) readerConfig(sw config.Switches) (reader.Config, error) {
	settings, err := rerankSettings(e.cfg.Rerank)
	if err != nil {
		return reader.Config{}, &usageError{err}
	}
	return reader.Config{Rerank: settings, GraphOff: !sw.Rerank, Budget: graphBudget(e.cfg.Rerank), Logger: e.log}, nil
}
