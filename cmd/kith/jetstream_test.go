package main

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// jetStreamOf connects to the NATS server of the service that runs on a data directory. The caller closes the connection.
func jetStreamOf(t *testing.T, dir string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	r, ok, err := readRunFile(dir)
	if err != nil || !ok {
		t.Fatalf("service file: %v %v", ok, err)
	}
	nc, err := nats.Connect(r.NATS)
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		t.Fatal(err)
	}
	return nc, js
}
