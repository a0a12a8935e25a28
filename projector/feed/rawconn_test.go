package feed

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// rawConn speaks the protocol of NATS itself: no client library sends what is malformed.
type rawConn struct {
	net.Conn
	lines *bufio.Reader
}

func dialRaw(t testing.TB, addr string) *rawConn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &rawConn{conn, bufio.NewReader(conn)}
}

// readUntil reads lines until one begins like this.
func readUntil(t testing.TB, conn *rawConn, prefix string) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := conn.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("read until %s: %v", prefix, err)
		}
		if strings.HasPrefix(line, prefix) {
			return
		}
	}
}
