package backfill

// Resumable reports whether the run, when it has ended, left a checkpoint of its own that a request of the same range can resume.
func (r *Run) Resumable() bool {
	cp, err := r.r.b.files.read(r.r.req)
	return err == nil && cp.Report.ID == r.Report().ID
}
