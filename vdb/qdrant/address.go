package qdrant

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

const (
	defaultPort = 6334
	restPort    = 6333
)

// address is where the server is.
type address struct {
	host string // IPv6 without brackets
	port int
	tls  bool
}

// parseAddress reads http(s)://host[:port] or host[:port].
func parseAddress(text string) (address, error) {
	bad := func(rule string) (address, error) {
		return address{}, fmt.Errorf("url %s: %s: want http(s)://host:port or host:port", graphstore.Shorten(text), rule)
	}
	full := text
	if !strings.Contains(text, "://") {
		full = "http://" + text
	}
	u, err := url.Parse(full)
	switch {
	case err != nil:
		return bad("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("scheme " + graphstore.Shorten(u.Scheme))
	case u.Hostname() == "":
		return bad("no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return bad("more than a host and a port")
	}
	port, err := strconv.Atoi(cmp.Or(u.Port(), strconv.Itoa(defaultPort)))
	if err != nil || port < 1 || port > 65535 {
		return bad("port " + graphstore.Shorten(u.Port()))
	}
	return address{host: u.Hostname(), port: port, tls: u.Scheme == "https"}, nil
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// loopback reports whether the address is this machine by its spelling.
func (a address) loopback() bool {
	if strings.EqualFold(a.host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.IsLoopback()
}

// dialHost is the host as the client wants it, which joins it with the port without a look.
func (a address) dialHost() string {
	if strings.Contains(a.host, ":") {
		return "[" + a.host + "]"
	}
	return a.host
}
