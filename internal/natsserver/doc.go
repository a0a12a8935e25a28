// Package natsserver runs a NATS server with JetStream inside this process, so that events can be kept and consumed with
// nothing else installed.
//
// The server is for one machine: it listens on loopback only, or on no port at all. Whoever needs users, TLS or a cluster
// runs a NATS server of their own and gives its URL instead.
//
// What a crash costs: an acknowledged message is in the operating system's page cache at once and on the disk within
// [Config.SyncInterval]. The end of this process loses nothing; a power failure loses at most that interval, or nothing
// with [Config.SyncAlways].
package natsserver
