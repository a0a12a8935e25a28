package feed

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Several services with a graph each may follow one stream and stand in for each other: they form a group. What makes that
// hot and exact:
//
//  1. A standby projects. It reads the stream through a consumer of its own, which vanishes with it, from its graph's mark
//     on, and commits like any feed. Its graph is as new as that of the active one, and searches on it are as good.
//  2. The durable consumer says what the group has settled: acknowledged, or stored as a dead letter. Only the active one
//     settles. The server decides who that is: the consumer is pinned, and gives messages to one client until that has been
//     silent for the TTL.
//  3. Who is given a message has become the active one. It first catches up, through its own consumer, with all that the
//     durable one has ever delivered, for those before may have settled any of it; then it pulls from the durable one.
//  4. What is bad a standby leaves to the active one: it waits, in nobody's way, until the durable consumer's floor has
//     passed it. So a mark means the same everywhere: in the graph, or among the dead letters.
//  5. Dead letters are stored by who was pinned less than a TTL ago. One that was frozen finds the time passed, and after
//     that its pin refused, and stands by. What it still acknowledges others have read by themselves.
//
// Rejected: to replay from the mark at the takeover, which makes the standby cold: it would have to project for as long as it
// lay idle before its searches are right. To share one graph: an embedded file has one owner. To elect by a key in a bucket,
// with a lease of our own: the server's pin decides where the messages go, so no second truth about it can arise.

// DefaultStandbyTTL is how long the active one may be silent by default.
const DefaultStandbyTTL = 5 * time.Second

// StandbyConfig makes a feed one of a group.
type StandbyConfig struct {
	// Group is the name of the group: 1 to 16 of A-Z a-z 0-9 _ - = /. Feeds of one group share the durable consumer; each has
	// a graph of its own, and a GraphID. Defaults to "", no group.
	Group string

	// TTL is how long the server waits for a word of the active one before it gives messages to another: 100 ms or more. A
	// feed speaks up three times in it, also while it works, so it only has to outlast a bad connection or a frozen process. The
	// latest feed to start decides for the group. Defaults to [DefaultStandbyTTL].
	TTL time.Duration
}

func (c StandbyConfig) withDefaults() StandbyConfig {
	c.TTL = cmp.Or(c.TTL, DefaultStandbyTTL)
	return c
}

var groupName = regexp.MustCompile(`^[a-zA-Z0-9/_=-]{1,16}$`) // the server's own rule

func (c StandbyConfig) validate(graphID string) error {
	var errs []error
	if c.Group != "" && !groupName.MatchString(c.Group) {
		errs = append(errs, fmt.Errorf("standby group %q: want 1 to 16 of A-Z a-z 0-9 _ - = /", c.Group))
	}
	if c.Group != "" && graphID == "" {
		errs = append(errs, fmt.Errorf("standby group %q without a graph id: want both or no group", c.Group))
	}
	if c.TTL < 100*time.Millisecond {
		errs = append(errs, fmt.Errorf("standby ttl %s: want 100ms or more", c.TTL))
	}
	return errors.Join(errs...)
}

// Role is what a feed is in its group.
type Role string

// The roles.
const (
	RoleNone    Role = ""        // it has no group
	RoleActive  Role = "active"  // it settles the events
	RoleStandby Role = "standby" // it keeps its graph up to date; so do all in a group in which nothing has happened yet
)

// groupPrefix begins the binding of a consumer that belongs to a group, where otherwise the id of a graph stands.
const groupPrefix = "group:"

// grouped reports whether the feed is one of a group.
func (f *Feed) grouped() bool { return f.cfg.Standby.Group != "" }

// binding is whom the durable consumer belongs to.
func (f *Feed) binding() string {
	if f.grouped() {
		return groupPrefix + f.cfg.Standby.Group
	}
	return f.cfg.GraphID
}

// group is what is known of the group; it is read by anyone.
type group struct {
	active    atomic.Bool
	pin       atomic.Pointer[string] // of the feed, while it is the active one
	floor     atomic.Uint64          // every event up to here is settled
	unsettled atomic.Uint64          // events that are not, delivered or not
	left      atomic.Int64           // events that this feed, standing by, leaves to the active one
	follows   atomic.Pointer[string] // name of the consumer that the feed pulls from
}

func (g *group) role(grouped bool) Role {
	switch {
	case !grouped:
		return RoleNone
	case g.active.Load():
		return RoleActive
	default:
		return RoleStandby
	}
}

// isPinned reports whether the durable consumer was pinned to the feed, and has been since it took over, when the server said this.
func (g *group) isPinned(info *jetstream.ConsumerInfo) bool {
	pin := g.pin.Load()
	return pin != nil && pinnedTo(info) == *pin
}

// observe takes in what the server says of the durable consumer.
func (g *group) observe(info *jetstream.ConsumerInfo) {
	g.floor.Store(info.AckFloor.Stream)
	g.unsettled.Store(info.NumPending + uint64(max(info.NumAckPending, 0)))
}

// following returns the name of the consumer that the feed pulls from.
func (f *Feed) following() string {
	if name := f.group.follows.Load(); name != nil {
		return *name
	}
	return Durable
}

// errNoPins is about servers that know no pinned consumers.
var errNoPins = errors.New("NATS server is older than 2.11 and cannot pin a consumer to one service: want a later one, or no standby (KITH_STANDBY)")

// pinned gives a consumer's settings the policy of a group, or none.
func (f *Feed) pinned(cfg jetstream.ConsumerConfig) jetstream.ConsumerConfig {
	if f.grouped() {
		cfg.PriorityPolicy, cfg.PriorityGroups, cfg.PinnedTTL = jetstream.PriorityPolicyPinned, []string{f.cfg.Standby.Group}, f.cfg.Standby.TTL
	}
	return cfg
}
