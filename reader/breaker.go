package reader

import (
	"errors"

	"github.com/sony/gobreaker/v2"
)

type breaker = gobreaker.TwoStepCircuitBreaker[struct{}]

// breakers has one for each group of stages, so that a vector store which is too slow for a second call does not cost the
// first order. The embeddings endpoint has another.
type breakers struct{ support, expand, paths, embed *breaker }

func newBreakers(cfg Config) breakers {
	one := func(name string) *breaker {
		return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name:        name,
			Timeout:     cfg.BreakerPause,
			IsExcluded:  func(err error) bool { return errors.Is(err, errNotItsFault) },
			ReadyToTrip: func(c gobreaker.Counts) bool { return int(c.ConsecutiveFailures) >= cfg.BreakerFailures },
		})
	}
	return breakers{one(StageSupport), one(StageVectors), one(StagePaths), one("embed")}
}
