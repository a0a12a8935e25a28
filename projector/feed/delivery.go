package feed

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// delivery is one delivery of one message on its way through the feed.
type delivery struct {
	msg      jetstream.Msg
	seq      uint64 // in the stream
	count    int    // deliveries of the message so far, this one included
	received time.Time
	pending  uint64 // messages behind it that have not been delivered

	id       string // of the event; empty if it cannot be read
	event    projector.Event
	rejected []projector.Rejected

	settled atomic.Bool // read by keepAlive
}

func newDelivery(msg jetstream.Msg) (*delivery, *jetstream.MsgMetadata, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return nil, nil, fmt.Errorf("read metadata of message on %s: %w", msg.Subject(), err)
	}
	return &delivery{
		msg: msg, seq: meta.Sequence.Stream, count: int(meta.NumDelivered), received: meta.Timestamp, pending: meta.NumPending,
	}, meta, nil
}

// decode reads the event; the error is permanent.
func (d *delivery) decode(limits projector.Limits) error {
	ev, rejected, err := projector.Decode(d.msg.Data(), limits)
	if err != nil {
		d.id = readLoosely(d.msg.Data()).id()
		return err
	}
	d.id, d.event, d.rejected = ev.ID, ev, rejected
	return projector.CheckSubject(d.msg.Subject(), ev)
}

// Traceparent returns the W3C trace context header of a message, whatever its case: NATS headers keep the case of the
// producer, and producers in some languages write it in lower case.
func Traceparent(h nats.Header) string {
	if v := h.Get("traceparent"); v != "" {
		return v
	}
	return h.Get("Traceparent")
}
