package feed

import (
	"net"
	"sync"
	"testing"
)

// gate is a connection to a server that can be held up, as that of a frozen process is: nothing is lost, nothing arrives.
type gate struct {
	listener net.Listener
	target   string
	work     sync.WaitGroup

	mu    sync.Mutex
	cond  *sync.Cond
	shut  bool
	ended bool
	conns []net.Conn
}

func newGate(t testing.TB, target string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, target: target}
	g.cond = sync.NewCond(&g.mu)
	g.work.Go(g.accept)
	t.Cleanup(g.close)
	return g
}

func (g *gate) url() string { return "nats://" + g.listener.Addr().String() }

func (g *gate) accept() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", g.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, in, out)
		g.mu.Unlock()
		g.work.Go(func() { g.pipe(in, out) })
		g.work.Go(func() { g.pipe(out, in) })
	}
}

func (g *gate) pipe(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		g.mu.Lock()
		for g.shut && !g.ended {
			g.cond.Wait()
		}
		g.mu.Unlock()
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	g.cond.Broadcast()
}

func (g *gate) freeze() { g.set(true) }
func (g *gate) thaw()   { g.set(false) }

func (g *gate) close() {
	_ = g.listener.Close()
	g.mu.Lock()
	g.ended = true
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.cond.Broadcast()
	g.mu.Unlock()
	g.work.Wait()
}
