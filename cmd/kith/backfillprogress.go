package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/kithgraph/kith/internal/server"
)

// backfillProgress shows how far a backfill is: a bar on a terminal, else a line every few seconds.
type backfillProgress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: lines
	next time.Time                // of the next line
}

func (e *env) newBackfillProgress() *backfillProgress {
	p := &backfillProgress{w: e.stderr, next: time.Now().Add(firstWord)}
	if file, ok := e.stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(file), progressbar.OptionSetDescription("backfill"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("points"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(askEvery), progressbar.OptionFullWidth())
	}
	return p
}

// at shows how far it is now.
func (p *backfillProgress) at(b server.Backfill) {
	r := b.Report
	if p.bar != nil {
		// The store may have counted fewer points than there are by now.
		p.bar.ChangeMax64(max(r.Total, r.Scanned, 1))
		p.bar.Describe("backfill: " + r.Phase)
		_ = p.bar.Set64(r.Scanned) // a terminal that is gone is nothing to stop for
		return
	}
	if now := time.Now(); b.Running && now.After(p.next) {
		p.next = now.Add(nextWord)
		fmt.Fprintln(p.w, backfillLine(b))
	}
}

// end ends the bar's line.
func (p *backfillProgress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.w)
	}
}

// backfillLine is one line of progress.
func backfillLine(b server.Backfill) string {
	r := b.Report
	line := fmt.Sprintf("%6s  %s: %d of %d points, %d facts changed", millis(r.TookMS).Round(time.Second), r.Phase, r.Scanned, r.Total, r.Changed)
	if b.Rate > 0 {
		line += fmt.Sprintf(", %.0f a second", b.Rate)
	}
	if b.LeftMS > 0 {
		line += fmt.Sprintf(", %s left", millis(b.LeftMS).Round(time.Second))
	}
	return line
}
