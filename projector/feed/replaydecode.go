package feed

import (
	"github.com/kithgraph/kith/projector"
)

// decoded is a message of a user who is wanted.
type decoded struct {
	seq      uint64
	id       string // of the event; empty if it cannot be read
	user     string // likewise
	event    projector.Event
	rejected []projector.Rejected
	err      error // it is a bad event
}

// decode reads a message if it is of a user who is wanted. Whose a good event is its payload decides; an event on the
// subject of another user is bad, so one on the subject of somebody who is not wanted need not be read to know that.
func (p *projection) decode(m stored) (decoded, bool) {
	named, _, ok := projector.ParseSubject(m.subject)
	if ok && !p.wants(named) {
		return decoded{}, false
	}
	d := decoded{seq: m.seq, user: named}
	ev, rejected, err := projector.Decode(m.data, p.cfg.Limits)
	if err == nil {
		d.id, d.event, d.rejected = ev.ID, ev, rejected
		err = projector.CheckSubject(m.subject, ev)
	} else {
		d.id = readLoosely(m.data).id()
	}
	d.err = err
	switch {
	case ok:
		return d, true
	case err != nil:
		return d, p.nobodys
	}
	d.user = ev.Space.UserID()
	return d, p.wants(d.user)
}

// factKeys are the keys of the dead letters of the bad facts.
func (d *decoded) factKeys() []deadKey {
	keys := make([]deadKey, len(d.rejected))
	for i, r := range d.rejected {
		keys[i] = deadKey{d.seq, r.Index}
	}
	return keys
}
