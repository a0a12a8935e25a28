package wire

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Fault makes calls go wrong. The zero Fault does nothing.
type Fault struct {
	// Method is the name of the calls to hit, as in "Query" or "Points/Query". Empty hits every call.
	Method string
	// Times is how many calls are hit before the fault is spent. Zero hits every one until [Server.Heal].
	Times int
	// Delay is waited, or until the caller gives up, before anything else happens.
	Delay time.Duration
	// Drop never answers: the call ends when its caller gives up or the server stops.
	Drop bool
	// Code refuses the call with this status and Message. OK lets it through.
	Code    codes.Code
	Message string
	// RetryAfter, in whole seconds, goes out with a refusal as the server's rate limiter sends it.
	RetryAfter time.Duration
	// After lets the call do its work first and refuses its answer: the caller cannot know that it was done.
	After bool
}

// Inject adds a fault. The oldest fault that fits a call hits it; others wait.
func (s *Server) Inject(f Fault) {
	s.fault.mu.Lock()
	defer s.fault.mu.Unlock()
	s.fault.active = append(s.fault.active, &f)
}

// Heal removes every fault.
func (s *Server) Heal() {
	s.fault.mu.Lock()
	defer s.fault.mu.Unlock()
	s.fault.active = nil
}

// Calls returns how many calls to the method, as in "Query", have arrived since the start, those hit by a fault included.
func (s *Server) Calls(method string) int {
	s.fault.mu.Lock()
	defer s.fault.mu.Unlock()
	return s.fault.calls[method]
}

// faults is the state behind Inject and Calls; mu guards the rest.
type faults struct {
	mu     sync.Mutex
	active []*Fault
	calls  map[string]int
}

func (f *faults) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	hit, ok := f.take(info.FullMethod)
	if !ok {
		return next(ctx, req)
	}
	if hit.Delay > 0 {
		timer := time.NewTimer(hit.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	if hit.Drop {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if hit.Code == codes.OK {
		return next(ctx, req)
	}
	if hit.After {
		if resp, err := next(ctx, req); err != nil {
			return resp, err
		}
	}
	if hit.RetryAfter > 0 {
		seconds := strconv.Itoa(int(hit.RetryAfter / time.Second))
		if err := grpc.SetTrailer(ctx, metadata.Pairs("retry-after", seconds)); err != nil {
			return nil, err
		}
	}
	return nil, status.Error(hit.Code, hit.Message)
}

// take counts the call and returns the fault that hits it.
func (f *faults) take(fullMethod string) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[methodName(fullMethod)]++
	for i, fault := range f.active {
		if !strings.HasSuffix(fullMethod, fault.Method) {
			continue
		}
		hit := *fault
		if fault.Times == 1 {
			f.active = append(f.active[:i:i], f.active[i+1:]...)
		} else if fault.Times > 1 {
			fault.Times--
		}
		return hit, true
	}
	return Fault{}, false
}
