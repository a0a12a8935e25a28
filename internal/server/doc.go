// Package server is kith's HTTP interface: search, health, and what operators ask of a running service.
//
// It listens on loopback and knows no users of its own: whoever reaches the port may ask for any memory. Put
// authentication in front of it before binding it elsewhere.
package server
