package natsserver

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// logger passes the server's log on and keeps its first fatal message: the server reports that it cannot start only
// there, and its own logger would end the process.
type logger struct {
	log     *slog.Logger
	started atomic.Bool
	fatal   atomic.Pointer[string] // the first one before started
}

var _ natsd.Logger = (*logger)(nil)

func newLogger(log *slog.Logger) *logger {
	return &logger{log: log.With("component", "nats-server")}
}

// Noticef logs at debug level: a start prints thirty of them.
func (l *logger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }

// Warnf logs a warning.
func (l *logger) Warnf(format string, v ...any) { l.log.Warn(fmt.Sprintf(format, v...)) }

// Errorf logs an error.
func (l *logger) Errorf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }

// Debugf logs at debug level.
func (l *logger) Debugf(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }

// Tracef logs at debug level.
func (l *logger) Tracef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }

// Fatalf keeps the message for Start, which returns it, or logs it when the server fails later.
func (l *logger) Fatalf(format string, v ...any) {
	msg := fmt.Sprintf(format, v...)
	if l.started.Load() {
		l.log.Error(msg)
		return
	}
	l.fatal.CompareAndSwap(nil, &msg)
}
