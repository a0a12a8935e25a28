package main

import "github.com/kithgraph/kith/projector/feed"

// standbyConfig says which group of services this one belongs to, if any.
func (e *env) standbyConfig() feed.StandbyConfig {
	s := e.cfg.Standby
	if !s.On {
		return feed.StandbyConfig{}
	}
	return feed.StandbyConfig{Group: s.Group, TTL: s.TTL}
}
