package reader

import (
	"sync"
	"time"
)

// troubleQuiet is how long the graph stage must not have failed for an episode of trouble to be over. While only some
// searches fail, others succeed in between; each of those would otherwise be an end and a new beginning.
const troubleQuiet = 10 * time.Second

// trouble logs each episode of failures of one thing once at its start and once at its end.
type trouble struct {
	sync.Mutex
	what   string    // that fails
	then   string    // what searches do meanwhile
	since  time.Time // zero: no trouble
	last   time.Time // the latest failure
	failed int
	why    string
}

func (t *trouble) begin(r *Reader, stage string, err error) {
	t.Lock()
	defer t.Unlock()
	now := r.clock()
	t.failed++
	t.last, t.why = now, (&stageError{stage, err}).Error()
	if t.since.IsZero() {
		t.since = now
		r.log.Warn(t.what+" fails; searches "+t.then, "stage", stage, "err", err)
	}
}

func (t *trouble) end(r *Reader) {
	t.Lock()
	defer t.Unlock()
	now := r.clock()
	if t.since.IsZero() || now.Sub(t.last) < troubleQuiet {
		return
	}
	r.log.Info(t.what+" works again", "failed_searches", t.failed, "took", now.Sub(t.since))
	t.since, t.failed, t.why = time.Time{}, 0, ""
}

// Trouble says why searches were answered without the graph lately: the latest failure of the graph stage while an episode
// of trouble lasts, else nothing. An episode ends with a success ten seconds or more after the latest failure.
func (r *Reader) Trouble() string {
	r.trouble.Lock()
	defer r.trouble.Unlock()
	return r.trouble.why
}
