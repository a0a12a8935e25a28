package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// process is one child, from its start to its last trace.
type process struct {
	*link
	cmd      *exec.Cmd
	pid      int
	client   *plugin.Client
	kill     context.CancelFunc // at once; may be called at any time, any number of times
	lifeline *os.File           // closing it ends the child after the transaction in hand
	dir      string             // of the socket
	output   *output
	blame    atomic.Pointer[string] // why this process killed it
	damage   atomic.Pointer[string] // why its graph is not to be opened again
	since    time.Time
	noted    chan struct{} // closed when the supervisor has taken note of the end

	untrusted atomic.Bool // takes no applies until somebody has looked at its head

	graph    string       // the id of the graph that it opened
	file     fileID       // of the graph, as it was opened
	patience patience     // with its applies
	loads    atomic.Int64 // in flight, also those that the end of the process cut off
	loaded   sync.Once    // the first load has ended, and the memory was measured
	needs    atomic.Int64 // the memory that it was measured to take without having leaked much; 0: not known yet
}

// spawn starts a child up to where it can be talked to. It has not opened anything yet.
func spawn(ctx context.Context, cfg Config) (_ *process, err error) {
	p := &process{output: &output{to: cfg.Stderr}, noted: make(chan struct{})}
	life, kill := context.WithCancel(context.Background())
	p.kill = kill
	defer func() {
		if err != nil {
			p.release()
			if p.client != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w (%s)", err, p.obituary())
			}
		}
	}()
	stop := context.AfterFunc(ctx, kill)
	defer stop()
	if p.dir, err = os.MkdirTemp(cfg.SocketDir, "kith-"); err != nil { // with mode 0700
		return nil, fmt.Errorf("directory of the socket: %w", err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the child: %w", err)
	}
	defer theirs.Close()
	p.lifeline = ours
	p.cmd = exec.CommandContext(life, cfg.Command[0], cfg.Command[1:]...)
	p.cmd.Env = append(append(os.Environ(), cfg.Env...), plugin.EnvUnixSocketDir+"="+p.dir)
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.client = plugin.NewClient(clientConfig(cfg, p))
	if err := p.connect(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	if !stop() {
		return nil, ctx.Err()
	}
	return p, nil
}

func clientConfig(cfg Config, p *process) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  handshake(),
		Plugins:          plugin.PluginSet{pluginName: &bridge{errors: cfg.Errors}},
		Cmd:              p.cmd,
		SkipHostEnv:      true, // it is in cmd.Env already, where it does not override ours
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     cfg.StartTimeout,
		Stderr:           p.output,
		SyncStdout:       p.output,
		SyncStderr:       p.output,
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  []grpc.DialOption{grpc.WithStaticStreamWindowSize(windowBytes)},
	}
}

// connect starts the process and shakes hands with it.
func (p *process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return firstLine{err}
	}
	raw, err := protocol.Dispense(pluginName)
	if err != nil {
		return err
	}
	p.link, p.pid, p.since = raw.(*link), p.cmd.Process.Pid, time.Now()
	return nil
}

// firstLine is an error of go-plugin without the guesses that follow its first line.
type firstLine struct{ error }

func (e firstLine) Error() string {
	first, _, _ := strings.Cut(e.error.Error(), "\n")
	return first
}

func (e firstLine) Unwrap() error { return e.error }

// stop lets the process end by itself, which it does when its store is closed, and kills it after a while.
func (p *process) stop(limit time.Duration) {
	timer := time.AfterFunc(limit, p.kill)
	defer timer.Stop()
	p.client.Kill() // asks first
	p.release()
}

// release kills the process if it lives and takes away everything that was made for it. It returns when the process has
// ended and was reaped.
func (p *process) release() {
	p.kill()
	if p.link != nil {
		<-p.ended
	}
	if p.client != nil {
		p.client.Kill()
	}
	if p.lifeline != nil {
		_ = p.lifeline.Close()
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) // a socket without a listener, at worst
	}
}

// condemn kills the process for a reason.
func (p *process) condemn(why string) {
	p.blame.CompareAndSwap(nil, &why)
	p.kill()
}

// condemnGraph kills the process because of its graph, which is to be moved aside.
func (p *process) condemnGraph(why string) {
	p.damage.CompareAndSwap(nil, &why)
	p.condemn(why)
}

// diedLoading reports whether an ended process died of itself while it was loaded from. SIGKILL is what others send: the
// system that runs out of memory, an operator, and this program.
func (p *process) diedLoading() bool {
	if p.loads.Load() == 0 || p.blame.Load() != nil || !p.client.Exited() || p.cmd.ProcessState == nil {
		return false
	}
	status, is := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return is && !(status.Signaled() && status.Signal() == syscall.SIGKILL)
}

// obituary says how an ended process ended.
func (p *process) obituary() string {
	state := "ended"
	if why := p.blame.Load(); why != nil {
		return "killed by its parent: " + *why
	}
	if p.cmd != nil && p.client.Exited() && p.cmd.ProcessState != nil { // Exited orders the read after the wait
		state = p.cmd.ProcessState.String()
	}
	if last := p.output.why(); last != "" {
		return state + ": " + last
	}
	return state
}
