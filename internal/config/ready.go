package config

import "time"

// Ready bounds what the projection may do before readiness names it among what does not work. Searches go on in any case, so
// none of it makes the service unready.
type Ready struct {
	Lag         int64         `name:"ready-lag" env:"KITH_READY_LAG" default:"0" help:"Events that may wait while nothing succeeds for ready-silence."`
	Silence     time.Duration `name:"ready-silence" env:"KITH_READY_SILENCE" default:"1m" help:"How long projection may go without a success while more than ready-lag events wait."`
	ErrorShare  float64       `name:"ready-error-share" env:"KITH_READY_ERROR_SHARE" default:"0.5" help:"Share of the events handled within ready-error-window that may fail, 0 to 1; 1 never complains."`
	ErrorWindow time.Duration `name:"ready-error-window" env:"KITH_READY_ERROR_WINDOW" default:"5m" help:"Time over which that share is taken."`
}
