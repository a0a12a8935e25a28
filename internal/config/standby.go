package config

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Standby makes several services with a graph each take turns at one stream.
type Standby struct {
	On    bool          `name:"standby" env:"KITH_STANDBY" help:"Services with this setting, a data directory each and the same NATS server stand in for each other: all keep their graph up to date, one settles the events."`
	Group string        `name:"standby-group" env:"KITH_STANDBY_GROUP" default:"kith" help:"Name of those that do: 1 to 16 of A-Z a-z 0-9 _ - = /."`
	TTL   time.Duration `name:"standby-ttl" env:"KITH_STANDBY_TTL" default:"5s" help:"How long the active one may be silent until another takes over."`
}

// groupName is what a NATS server takes for the name of a priority group.
var groupName = regexp.MustCompile(`^[a-zA-Z0-9/_=-]{1,16}$`)

func (s Standby) validate(natsURL string) error {
	errs := []error{between("KITH_STANDBY_TTL", s.TTL, time.Second, 10*time.Minute)}
	if !groupName.MatchString(s.Group) {
		errs = append(errs, fmt.Errorf("KITH_STANDBY_GROUP %q: want 1 to 16 of A-Z a-z 0-9 _ - = /", s.Group))
	}
	if s.On && natsURL == "" {
		errs = append(errs, errors.New("KITH_STANDBY true without NATS_URL: want a NATS server of its own: the embedded one dies with its service"))
	}
	return errors.Join(errs...)
}
