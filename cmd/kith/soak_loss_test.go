package main

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// lossyServer is a NATS server whose clients lose acknowledgements on their way to it: one in every.
type lossyServer struct {
	nats.InProcessConnProvider
	every int64 // 0: none
	seen  atomic.Int64
	lost  atomic.Int64

	mu struct {
		sync.Mutex
		conns []net.Conn
	}
}

// InProcessConn implements [nats.InProcessConnProvider].
func (s *lossyServer) InProcessConn() (net.Conn, error) {
	conn, err := s.InProcessConnProvider.InProcessConn()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.conns = append(s.mu.conns, conn)
	return &lossyConn{Conn: conn, server: s}, nil
}

// cut breaks all connections.
func (s *lossyServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.mu.conns {
		_ = c.Close() // it may be closed already
	}
	s.mu.conns = nil
}

// lossyConn reads the protocol of a client and leaves some of its messages out.
type lossyConn struct {
	net.Conn
	server *lossyServer
	rest   []byte // of an operation that is not complete yet
}

const ackSubject = "$JS.ACK."

// Write implements [net.Conn].
func (c *lossyConn) Write(b []byte) (int, error) {
	c.rest = append(c.rest, b...)
	out := make([]byte, 0, len(c.rest))
	for {
		op, whole := firstOperation(c.rest)
		if !whole {
			break
		}
		if !c.server.loses(op) {
			out = append(out, op...)
		}
		c.rest = c.rest[len(op):]
	}
	if len(out) > 0 {
		if _, err := c.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (s *lossyServer) loses(op []byte) bool {
	if s.every == 0 || !bytes.HasPrefix(op, []byte("PUB "+ackSubject)) || !bytes.HasSuffix(op, []byte("\r\n+ACK\r\n")) {
		return false
	}
	if s.seen.Add(1)%s.every != 0 {
		return false
	}
	s.lost.Add(1)
	return true
}

// firstOperation returns the first operation of the protocol: a line, after PUB and HPUB with the payload whose length is its
// last word.
func firstOperation(b []byte) (op []byte, whole bool) {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 {
		return nil, false
	}
	line, size := string(b[:end]), end+2
	if strings.HasPrefix(line, "PUB ") || strings.HasPrefix(line, "HPUB ") {
		words := strings.Fields(line)
		payload, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return b, true // no protocol that this knows: all of it
		}
		size += payload + 2
	}
	if len(b) < size {
		return nil, false
	}
	return b[:size], true
}
