package feed

import "github.com/kithgraph/kith/projector"

// warnOfErasure says once per type and run that somebody asked for an erasure that this version does not carry out. The
// event is acknowledged like all deferred ones, and nothing else would tell.
func (f *Feed) warnOfErasure(d *delivery) {
	typ := d.event.Type()
	if (typ != projector.TypeUserForgotten && typ != projector.TypeSourceRetracted) || f.loop.erasures[typ] {
		return
	}
	f.loop.erasures[typ] = true
	f.log.Warn("events ask for an erasure that this version does not carry out: nothing is erased from the graph, the events are "+
		"acknowledged and kept in the stream; said once per type", "type", typ, "stream", EventStream, "event", d.event.ID, "sequence", d.seq)
}
