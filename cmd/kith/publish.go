package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/projector/feed"
)

const (
	publishTimeout   = 10 * time.Second // until the streams are known to be there
	publishChunk     = 4096             // most events read ahead of their acknowledgements,
	publishBytes     = 16 << 20         // and most bytes of them
	maxShownProblems = 20               // lines refused that are printed one by one
)

type publishCmd struct {
	Files  []string `arg:"" optional:"" name:"file" help:"JSON lines, pretty-printed events or an array of them; - reads standard input."`
	Points string   `placeholder:"FILE" help:"JSON lines of points {user_id, id, vector, payload} to store in the vector store first, as a memory system would; without a vector, payload.content is embedded (KITH_EMBED_URL)."`
}

// Run stores the points, then publishes the events. A line that is refused does not stop the others; the command then
// fails and names the line, the field and the rule.
func (c publishCmd) Run(e *env) (err error) {
	if len(c.Files) == 0 && c.Points == "" {
		return &usageError{errors.New("publish: want a file of events, --points, or both")}
	}
	var problems problems
	defer func() { err = firstError(err, problems.report(e)) }()
	if c.Points != "" {
		if err := c.storePoints(e, &problems); err != nil {
			return err
		}
	}
	if len(c.Files) > 0 {
		return c.publishEvents(e, &problems)
	}
	return nil
}

func (c publishCmd) storePoints(e *env, problems *problems) (err error) {
	store, err := e.openVectors()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	embedder, err := e.newEmbedder(store, e.cfg.Embed.PassagePrefix)
	if err != nil {
		return err
	}
	defer embedder.close()
	start := time.Now()
	l := pointLoader{e: e, store: store, embedder: embedder, file: c.Points, problems: problems}
	if err := eachLine(c.Points, l.add); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	e.printf("stored %d points in %s (%s)\n", l.stored, e.vectorsName(), since(start))
	return nil
}

func (e *env) vectorsName() string {
	if e.cfg.Qdrant.URL == "" {
		return vectorPath(e.cfg)
	}
	return config.MaskURLs(e.cfg.Qdrant.URL) + ", collection " + e.cfg.Qdrant.Collection
}

func (c publishCmd) publishEvents(e *env, problems *problems) (err error) {
	js, via, done, err := e.openStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	p, err := e.newPublisher(e.ctx, js)
	if err != nil {
		return err
	}
	defer p.Close()
	start := time.Now()
	var total publishReport
	for _, file := range c.Files {
		if err := publishFile(e.ctx, p, file, &total, problems); err != nil {
			return err
		}
	}
	e.printf("published through %s: %s (%s)\n", via, total, since(start))
	return nil
}

// openStream connects to the event stream: to the configured NATS, to the running service's embedded one, or to one
// started for this command, whose events wait in the data directory for the next service.
func (e *env) openStream() (js jetstream.JetStream, via string, done func() error, err error) {
	url := e.cfg.NATS.URL
	connection := e.connectConfig("kith publish")
	done = func() error { return nil }
	via = "NATS at " + config.MaskURLs(url)
	if url == "" {
		running, ok, err := e.running()
		if err != nil {
			return nil, "", nil, err
		}
		if ok && running.NATS != "" {
			url = running.NATS
			via = "the embedded NATS server of the running service"
		} else if ok {
			return nil, "", nil, &usageError{fmt.Errorf("the running service (pid %d) takes its events from a NATS server of its own: set NATS_URL to the same", running.PID)}
		} else {
			srv, err := startNATS(e, "")
			if err != nil {
				return nil, "", nil, err
			}
			connection.InProcess, done = srv, srv.Shutdown
			via = "the stream in " + natsDir(e.cfg) + ", for the next service to project"
		}
	}
	conn, err := feed.Connect(e.ctx, url, connection)
	if err != nil {
		return nil, "", nil, errors.Join(&usageError{err}, done())
	}
	shutdown := done
	done = func() error { conn.Close(); return shutdown() }
	js, err = jetstream.New(conn)
	if err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("open JetStream: %w", err), done())
	}
	return js, via, done, nil
}

// newPublisher makes sure of the streams and returns a publisher. An unreachable server is an error after publishTimeout.
func (e *env) newPublisher(ctx context.Context, js jetstream.JetStream) (*feed.Publisher, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := feed.EnsureStreams(ctx, js, e.streamsConfig()); err != nil {
		return nil, fmt.Errorf("prepare to publish: %w", err)
	}
	return feed.NewPublisher(js, feed.PublisherConfig{})
}

// publishReport counts what became of published events.
type publishReport struct{ stored, repeated, refused int }

func (r publishReport) String() string {
	text := fmt.Sprintf("%d stored", r.stored)
	if r.repeated > 0 {
		text += fmt.Sprintf(", %d the stream had already", r.repeated)
	}
	if r.refused > 0 {
		text += fmt.Sprintf(", %d refused", r.refused)
	}
	return text
}

// publishAll publishes events that are all meant to be good.
func publishAll(ctx context.Context, p *feed.Publisher, events [][]byte) (publishReport, error) {
	defer p.Close()
	results, err := p.PublishBatch(ctx, slices.Values(events))
	var r publishReport
	r.count(results)
	return r, err
}

func (r *publishReport) count(results []feed.Result) {
	for _, x := range results {
		switch {
		case x.Err != nil:
			r.refused++
		case x.Duplicate:
			r.repeated++
		default:
			r.stored++
		}
	}
}

// publishFile publishes a file in chunks, so that a large one needs no more memory than a small one.
func publishFile(ctx context.Context, p *feed.Publisher, file string, total *publishReport, problems *problems) error {
	var chunk [][]byte
	var numbers []int
	size := 0
	flush := func() error {
		results, _ := p.PublishBatch(ctx, slices.Values(chunk)) // each result carries its error
		total.count(results)
		for i, r := range results {
			if r.Err != nil {
				problems.add(file, numbers[i], r.Err)
			}
		}
		chunk, numbers, size = nil, nil, 0
		return ctx.Err()
	}
	err := eachEvent(file, func(n int, line []byte) error {
		chunk, numbers, size = append(chunk, slices.Clone(line)), append(numbers, n), size+len(line)
		if len(chunk) == publishChunk || size >= publishBytes {
			return flush()
		}
		return nil
	})
	if err != nil || len(chunk) == 0 {
		return err
	}
	return flush()
}

// problems are the lines that were refused.
type problems struct {
	shown []string
	n     int
}

func (p *problems) add(file string, line int, err error) {
	p.n++
	if len(p.shown) < maxShownProblems {
		p.shown = append(p.shown, fmt.Sprintf("%s line %d: %v", file, line, err))
	}
}

func (p *problems) report(e *env) error {
	if p.n == 0 {
		return nil
	}
	for _, text := range p.shown {
		e.printf("%s\n", text)
	}
	if p.n > len(p.shown) {
		e.printf("and %d more\n", p.n-len(p.shown))
	}
	return fmt.Errorf("%d lines refused", p.n)
}
