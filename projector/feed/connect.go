package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	neturl "net/url"
	"time"

	"github.com/nats-io/nats.go"
)

// Defaults of [ConnectConfig].
const (
	DefaultConnectTimeout = 2 * time.Second
	DefaultReconnectWait  = 500 * time.Millisecond
)

// pingInterval finds a peer that is gone without a word in about a minute; the client's own default takes four.
const pingInterval = 20 * time.Second

// ConnectConfig says how to reach a NATS server and whom to tell what happens to the connection.
type ConnectConfig struct {
	// Name shows in the server's list of connections. Defaults to "kith".
	Name string

	// InProcess connects to a server in this process and leaves the URL unused.
	InProcess nats.InProcessConnProvider

	// CredsFile is the path of a NATS credentials file (JWT and seed). User and password, or a token, stand in the URL.
	CredsFile string

	// CAFile is the path of the PEM roots that the server's certificate must lead to; CertFile and KeyFile are those of
	// the client's own certificate and are set together. TLS itself is asked for by a tls:// URL, or by the server.
	CAFile, CertFile, KeyFile string

	// Timeout bounds one attempt to connect to one address. Defaults to [DefaultConnectTimeout].
	Timeout time.Duration

	// ReconnectWait is the time between two attempts, which never end. Defaults to [DefaultReconnectWait].
	ReconnectWait time.Duration

	// OnStatus is told each time the connection comes up or goes down, one call at a time. Defaults to doing nothing.
	OnStatus func(up bool)

	// OnError is told what the connection reports outside of any call, like a slow subscription. Defaults to doing nothing.
	OnError func(error)

	// Logger logs both at warning and info level. Defaults to slog.Default().
	Logger *slog.Logger
}

func (c ConnectConfig) withDefaults() ConnectConfig {
	c.Name = cmp.Or(c.Name, "kith")
	c.Timeout = cmp.Or(c.Timeout, DefaultConnectTimeout)
	c.ReconnectWait = cmp.Or(c.ReconnectWait, DefaultReconnectWait)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.OnStatus == nil {
		c.OnStatus = func(bool) {}
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	return c
}

func (c ConnectConfig) validate(url string) error {
	var errs []error
	if (url == "") == (c.InProcess == nil) {
		errs = append(errs, errors.New("url: want either a URL or an in-process server"))
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		errs = append(errs, fmt.Errorf("cert file %q, key file %q: want both or none", c.CertFile, c.KeyFile))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout %s: want more than 0", c.Timeout))
	}
	if c.ReconnectWait < 0 {
		errs = append(errs, fmt.Errorf("reconnect wait %s: want more than 0", c.ReconnectWait))
	}
	return errors.Join(errs...)
}

// Connect opens a connection that never gives up: when no server answers it returns a connection all the same, which
// connects as soon as one does. It blocks for at most one attempt per address, shortened by the context's deadline. An
// error is a permanent one: a bad configuration, URL or credentials file. The caller closes the connection.
func Connect(ctx context.Context, url string, cfg ConnectConfig) (*nats.Conn, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(url); err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		cfg.Timeout = min(cfg.Timeout, time.Until(deadline))
	}
	nc, err := nats.Connect(url, cfg.options()...)
	var unparsed *neturl.Error
	if errors.As(err, &unparsed) { // it quotes the URL, which may hold a password
		return nil, errors.New("connect to NATS: url: not a URL like nats://user:password@host:4222")
	}
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if !nc.IsConnected() {
		cfg.Logger.Warn("NATS does not answer yet, trying on") // the client keeps no reason for a first attempt
	}
	return nc, nil
}

func (c ConnectConfig) options() []nats.Option {
	opts := []nats.Option{
		nats.Name(c.Name),
		nats.Timeout(c.Timeout),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(c.ReconnectWait),
		nats.PingInterval(pingInterval),
		nats.ConnectHandler(func(nc *nats.Conn) { c.up(nc, "connected to NATS") }),
		nats.ReconnectHandler(func(nc *nats.Conn) { c.up(nc, "connected to NATS again") }),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if nc.IsClosed() { // by its owner
				return
			}
			c.Logger.Warn("connection to NATS lost", "err", err)
			c.OnStatus(false)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.Logger.Warn("NATS connection reports", "err", err)
			c.OnError(err)
		}),
	}
	if c.InProcess != nil {
		opts = append(opts, nats.InProcessServer(c.InProcess))
	}
	if c.CredsFile != "" {
		opts = append(opts, nats.UserCredentials(c.CredsFile))
	}
	if c.CAFile != "" {
		opts = append(opts, nats.RootCAs(c.CAFile))
	}
	if c.CertFile != "" {
		opts = append(opts, nats.ClientCert(c.CertFile, c.KeyFile))
	}
	return opts
}

func (c ConnectConfig) up(nc *nats.Conn, msg string) {
	url := "in process" // where the client names its default address, which nobody was asked at
	if c.InProcess == nil {
		url = nc.ConnectedUrlRedacted()
	}
	c.Logger.Info(msg, "url", url)
	c.OnStatus(true)
}
