package embed

import (
	"context"
	"sync"
	"time"
)

// call is one text that is being asked for, by one caller or several.
type call struct {
	text    string
	done    chan struct{} // closed when vector or err is set
	vector  []float32
	err     error
	settled bool   // of whoever runs the batch
	waiting int    // callers; under the queue's lock
	batch   *batch // set once
}

// batch is the texts of one request. It gathers while it is the queue's open one; once sent, its calls do not change.
type batch struct {
	calls   []*call
	bytes   int
	waiting int // callers over all calls; under the queue's lock
	timer   *time.Timer
	cancel  context.CancelCauseFunc // nil until sent
}

// queue gathers calls into batches.
//
// Invariants, under its lock:
//  1. Every call in calls is in the open batch or in a running one, and its done is open.
//  2. A batch that nobody waits for is neither open nor in calls: it was dropped, or is cancelled and will have no answers.
type queue struct {
	sync.Mutex
	calls   map[string]*call // by text
	open    *batch           // nil while none gathers
	running map[*batch]struct{}
	closed  bool
}

// join makes the caller wait for texts, each with those who do already or in the open batch; now sends that batch instead of
// leaving it to gather. The caller then waits for each call, or leaves it.
func (c *Client) join(now bool, texts ...string) ([]*call, error) {
	q := &c.queue
	q.Lock()
	defer q.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	calls := make([]*call, len(texts))
	for i, text := range texts {
		calls[i] = c.joinLocked(text)
	}
	if now && q.open != nil {
		c.sendLocked(q.open)
	}
	return calls, nil
}

func (c *Client) joinLocked(text string) *call {
	q := &c.queue
	if k, ok := q.calls[text]; ok {
		k.waiting++
		k.batch.waiting++
		return k
	}
	k := &call{text: text, done: make(chan struct{}), waiting: 1}
	if v, ok := c.cache.get(text); ok { // answered since the caller looked
		k.vector = v
		close(k.done)
		return k
	}
	if b := q.open; b != nil && b.bytes+len(text) > c.cfg.MaxBatchBytes {
		c.sendLocked(b)
	}
	if q.open == nil {
		b := &batch{}
		b.timer = time.AfterFunc(c.cfg.Window, func() { c.send(b) })
		q.open = b
	}
	b := q.open
	k.batch, q.calls[text] = b, k
	b.calls, b.bytes, b.waiting = append(b.calls, k), b.bytes+len(text), b.waiting+1
	if len(b.calls) >= c.cfg.MaxBatch || b.bytes >= c.cfg.MaxBatchBytes {
		c.sendLocked(b)
	}
	return k
}

// send sends the batch unless that has happened.
func (c *Client) send(b *batch) {
	c.queue.Lock()
	defer c.queue.Unlock()
	if c.queue.open == b {
		c.sendLocked(b)
	}
}

func (c *Client) sendLocked(b *batch) {
	b.timer.Stop()
	c.queue.open = nil
	ctx, cancel := context.WithCancelCause(context.Background())
	b.cancel = cancel
	c.queue.running[b] = struct{}{}
	c.work.Go(func() { c.run(ctx, b) })
}

// leave takes back a join. A text that nobody waits for any more is not asked for, if it can still be left out, and a request
// that nobody waits for is ended.
func (c *Client) leave(k *call) {
	q := &c.queue
	q.Lock()
	defer q.Unlock()
	b := k.batch
	if b == nil || q.calls[k.text] != k { // answered meanwhile
		return
	}
	k.waiting--
	b.waiting--
	switch {
	case b.waiting == 0:
		for _, k := range b.calls {
			delete(q.calls, k.text)
		}
		if b.cancel != nil {
			b.cancel(context.Canceled)
			return
		}
		b.timer.Stop()
		q.open = nil
	case k.waiting == 0 && b.cancel == nil:
		b.remove(k)
		delete(q.calls, k.text)
	}
}

// remove takes a call out of a batch that is not sent.
func (b *batch) remove(k *call) {
	for i, other := range b.calls {
		if other == k {
			b.calls = append(b.calls[:i], b.calls[i+1:]...)
			b.bytes -= len(k.text)
			return
		}
	}
}

// settle gives a call its answer.
func (c *Client) settle(k *call, vector []float32, err error) {
	k.settled = true
	k.vector, k.err = vector, err
	if err == nil {
		c.cache.put(k.text, vector) // before the call goes, so that nobody finds neither
	}
	c.queue.Lock()
	if c.queue.calls[k.text] == k {
		delete(c.queue.calls, k.text)
		k.batch.waiting -= k.waiting
	}
	c.queue.Unlock()
	close(k.done)
}

// closeQueue refuses further calls, and those that have gathered, and ends the requests under way.
func (c *Client) closeQueue() {
	q := &c.queue
	q.Lock()
	b := q.open
	q.closed, q.open = true, nil
	for running := range q.running {
		running.cancel(ErrClosed)
	}
	if b == nil {
		q.Unlock()
		return
	}
	b.timer.Stop()
	for _, k := range b.calls { // nobody can leave them after this
		delete(q.calls, k.text)
	}
	q.Unlock()
	c.settleAll(b.calls, ErrClosed)
}
