package embed

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// endpoint is where requests go. Its String is for errors and logs: without user, password and query.
type endpoint struct {
	address        string // to ask at, without user and password
	shown          string
	user, password string
	plain          bool // can be read on the way
}

func (e endpoint) String() string { return e.shown }

// parseEndpoint reads a URL; its errors show no more of it than scheme and host, since any other part may be a secret.
func parseEndpoint(text string) (endpoint, error) {
	if text == "" {
		return endpoint{}, errors.New("url is empty: want http(s)://host:port")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return endpoint{}, errors.New("url: not a URL: want http(s)://host:port")
	case u.Scheme != "http" && u.Scheme != "https":
		return endpoint{}, fmt.Errorf("url: scheme %q: want http(s)://host:port", shorten(u.Scheme))
	case u.Hostname() == "":
		return endpoint{}, errors.New("url: no host: want http(s)://host:port")
	case u.Fragment != "":
		return endpoint{}, fmt.Errorf("url of %s: a part after #: want none", u.Host)
	}
	var e endpoint
	if u.User != nil {
		e.user = u.User.Username()
		e.password, _ = u.User.Password()
		u.User = nil
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case path == "":
		u.Path = "/v1/embeddings"
	case !strings.HasSuffix(path, "/embeddings"):
		u.Path = path + "/embeddings"
	}
	u.RawPath = ""
	e.address = u.String()
	e.plain = u.Scheme == "http" && !loopback(u.Hostname())
	u.RawQuery, u.ForceQuery = "", false
	e.shown = u.String()
	return e, nil
}

// loopback reports whether the host is this machine by its spelling.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && ip.IsLoopback())
}
