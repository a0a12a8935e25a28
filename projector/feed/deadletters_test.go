package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func newDead(t testing.TB, js jetstream.JetStream) *DeadLetters {
	t.Helper()
	d, err := NewDeadLetters(js, DeadLettersConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// storeLetter stores a dead letter of a user as the feed would, and returns its number.
func storeLetter(t testing.TB, js jetstream.JetStream, user string, reason Reason, seq uint64) uint64 {
	t.Helper()
	payload := factsEvent(fmt.Sprint("e", seq), user, 1, "f")
	l := DeadLetter{
		Reason: reason, FirstError: "first", LastError: "last", Stream: EventStream, Sequence: seq, Deliveries: 1, FactIndex: -1,
		Subject: projector.Subject(user, projector.TypeFactsWritten), Received: time.Now(), Payload: payload,
	}
	subject := readLoosely(payload).deadSubject(l.Subject)
	return publishRaw(t, js, subject, payload, l.header())
}

// numbers returns the numbers of all letters of a listing, page by page.
func numbers(t testing.TB, d *DeadLetters, q DeadQuery) []uint64 {
	t.Helper()
	got := []uint64{}
	for {
		page, err := d.List(testContext(t), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Letters) > max(q.Limit, 1) && q.Limit > 0 {
			t.Fatalf("%d letters on a page of %d", len(page.Letters), q.Limit)
		}
		for _, l := range page.Letters {
			got = append(got, l.Number)
		}
		if page.Next == 0 {
			return got
		}
		q.After = page.Next
	}
}

// TestListIsTheStreamFiltered compares listings with the stream itself: a known mix of letters, gaps and foreign messages.
func TestListIsTheStreamFiltered(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d := newDead(t, js)
	type row struct {
		number uint64
		user   string
		reason Reason
	}
	var rows []row
	users, kinds := []string{"ada", "bob", "eve"}, []Reason{ReasonBadEvent, ReasonPlan}
	for i := range 150 {
		r := row{user: users[i%3], reason: kinds[i/3%2]}
		r.number = storeLetter(t, js, r.user, r.reason, uint64(i+1))
		rows = append(rows, r)
		if i%50 == 49 {
			rows = append(rows, row{number: publishRaw(t, js, "memory.dead.x", []byte("noise"), nil), reason: ReasonForeign})
		}
	}
	kept := rows[:0]
	for i, r := range rows { // a long gap, and holes
		if (i > 50 && i < 120) || i%7 == 0 {
			if err := d.Drop(ctx, r.number); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kept = append(kept, r)
	}
	at := func(number uint64) time.Time {
		l, err := d.Get(ctx, number)
		if err != nil {
			t.Fatal(err)
		}
		return l.Stored
	}
	from, to := at(kept[20].number), at(kept[70].number)
	for name, c := range map[string]struct {
		filter DeadFilter
		means  func(i int, r row) bool
	}{
		"all":         {DeadFilter{}, func(int, row) bool { return true }},
		"a user":      {DeadFilter{UserID: "bob"}, func(_ int, r row) bool { return r.user == "bob" }},
		"a reason":    {DeadFilter{Reason: ReasonPlan}, func(_ int, r row) bool { return r.reason == ReasonPlan }},
		"both":        {DeadFilter{UserID: "eve", Reason: ReasonPlan}, func(_ int, r row) bool { return r.user == "eve" && r.reason == ReasonPlan }},
		"foreign":     {DeadFilter{Reason: ReasonForeign}, func(_ int, r row) bool { return r.reason == ReasonForeign }},
		"a type":      {DeadFilter{Type: "memory.facts.written.v1"}, func(_ int, r row) bool { return r.user != "" }},
		"other type":  {DeadFilter{Type: "memory.fact.deleted.v1"}, func(int, row) bool { return false }},
		"nobody":      {DeadFilter{UserID: "zoe"}, func(int, row) bool { return false }},
		"half-open":   {DeadFilter{From: from, To: to}, func(i int, _ row) bool { return i >= 20 && i < 70 }},
		"from":        {DeadFilter{From: from}, func(i int, _ row) bool { return i >= 20 }},
		"to":          {DeadFilter{To: to}, func(i int, _ row) bool { return i < 70 }},
		"user in one": {DeadFilter{UserID: "ada", From: from, To: to}, func(i int, r row) bool { return r.user == "ada" && i >= 20 && i < 70 }},
	} {
		want := []uint64{}
		for i, r := range kept {
			if c.means(i, r) {
				want = append(want, r.number)
			}
		}
		for _, limit := range []int{1, 7, 1000} {
			if limit == 1 && len(want) > 60 {
				continue
			}
			if got := numbers(t, d, DeadQuery{Filter: c.filter, Oldest: true, Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("%s, oldest first, by %d: %v, want %v", name, limit, got, want)
			}
			newest := slices.Clone(want)
			slices.Reverse(newest)
			if got := numbers(t, d, DeadQuery{Filter: c.filter, Limit: limit}); !slices.Equal(got, newest) {
				t.Errorf("%s, newest first, by %d: %v, want %v", name, limit, got, newest)
			}
		}
	}
	if page, err := d.List(ctx, DeadQuery{Limit: 1}); err != nil || page.Stored != uint64(len(kept)) || page.Letters[0].Payload != nil || page.Letters[0].Size == 0 {
		t.Errorf("page %+v, %v: want %d stored, and a size in the place of the payload", page, err, len(kept))
	}
}

// TestForeignMessagesAreListedAndHarmNothing puts in everything that is no dead letter of kith's.
func TestForeignMessagesAreListedAndHarmNothing(t *testing.T) {
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprintf("direct %t", direct), func(t *testing.T) {
			ctx, js := testContext(t), newJS(t)
			stream, err := js.Stream(ctx, DeadStream)
			if err != nil {
				t.Fatal(err)
			}
			cfg := stream.CachedInfo().Config
			cfg.AllowDirect = direct
			if _, err := js.UpdateStream(ctx, cfg); err != nil {
				t.Fatal(err)
			}
			d := newDead(t, js)
			forged := func(key, value string) nats.Header {
				h := DeadLetter{Reason: ReasonPlan, Stream: EventStream, Sequence: 1, Subject: "memory.events.x", Received: time.Unix(1, 0), FactIndex: -1}.header()
				h.Del(jetstream.MsgIDHeader)
				h.Set(key, value)
				return h
			}
			ada := "memory.dead." + tokenA + ".facts.written.v1"
			var foreign []uint64
			for _, m := range []*nats.Msg{
				{Subject: ada, Data: []byte("no headers")},
				{Subject: ada, Header: nats.Header{"Status": {"404"}}},
				{Subject: ada, Header: nats.Header{"Status": {"409"}, "Description": {"Consumer Deleted"}}},
				{Subject: ada, Header: forged(HeaderSequence, "-1")},
				{Subject: ada, Header: forged(HeaderSequence, "99999999999999999999")},
				{Subject: ada, Header: forged(HeaderReason, "because")},
				{Subject: ada, Header: forged(HeaderReceived, "yesterday")},
				{Subject: ada, Header: forged(HeaderFactIndex, "one")},
				{Subject: "memory.dead.x", Header: forged("X", "y")},
				{Subject: "memory.dead.not-a-token.facts.written.v1", Header: forged("X", "y")},
			} {
				foreign = append(foreign, publishRaw(t, js, m.Subject, m.Data, m.Header))
			}
			foreign = append(foreign, publishMalformed(t, js, DeadStream, ada))
			good := storeLetter(t, js, userA, ReasonPlan, 7)
			if got, want := numbers(t, d, DeadQuery{Oldest: true}), append(slices.Clone(foreign), good); !slices.Equal(got, want) {
				t.Fatalf("listed %v, want %v", got, want)
			}
			if got := numbers(t, d, DeadQuery{Filter: DeadFilter{Reason: ReasonForeign}, Oldest: true}); !slices.Equal(got, foreign) {
				t.Errorf("foreign %v, want %v", got, foreign)
			}
			for _, number := range foreign {
				if l, err := d.Get(ctx, number); err != nil || l.Foreign == nil {
					t.Errorf("message %d: %+v, %v: want it to be foreign", number, l, err)
				}
				if _, err := d.Replay(ctx, number, nil); !errors.Is(err, ErrNotReplayable) {
					t.Errorf("replay of %d: %v, want a refusal", number, err)
				}
				if err := d.Drop(ctx, number); err != nil {
					t.Errorf("drop of %d: %v", number, err)
				}
			}
			if got := numbers(t, d, DeadQuery{}); !slices.Equal(got, []uint64{good}) {
				t.Errorf("left are %v, want %d alone", got, good)
			}
		})
	}
}

// publishMalformed stores a message whose headers nobody can read, as a broken client would, and returns its number.
func publishMalformed(t testing.TB, js jetstream.JetStream, name, subject string) uint64 {
	t.Helper()
	stream, err := js.Stream(testContext(t), name)
	if err != nil {
		t.Fatal(err)
	}
	before := stream.CachedInfo().State.LastSeq
	conn := dialRaw(t, js.Conn().ConnectedAddr())
	header := "NATS/1.0\r\nno colon here\r\n\r\n"
	fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"headers\":true}\r\nHPUB %s %d %d\r\n%sx\r\nPING\r\n", subject, len(header), len(header)+1, header)
	readUntil(t, conn, "PONG")
	last := before + 1
	eventually(t, "it is stored", func() bool { // some time after the server has read it
		info, err := stream.Info(testContext(t))
		return err == nil && info.State.LastSeq == last
	})
	if _, err := stream.GetMsg(testContext(t), last); err == nil {
		t.Fatal("the client can read the headers: the test does not test what it should")
	}
	return last
}

func TestQuestionsThatBreakARule(t *testing.T) {
	d := newDead(t, newJS(t))
	now := time.Now()
	for want, q := range map[string]DeadQuery{
		"limit -1: want 1 to 1000":   {Limit: -1},
		"limit 1001":                 {Limit: 1001},
		`reason "gossip"`:            {Filter: DeadFilter{Reason: "gossip"}},
		"user ":                      {Filter: DeadFilter{UserID: "a\x00b"}},
		`type "memory.*.v1"`:         {Filter: DeadFilter{Type: "memory.*.v1"}},
		`type "memory.>"`:            {Filter: DeadFilter{Type: "memory.>"}},
		`type "memory.facts..v1"`:    {Filter: DeadFilter{Type: "memory.facts..v1"}},
		`type "facts.written.v1"`:    {Filter: DeadFilter{Type: "facts.written.v1"}},
		`type "memory.facts\r\nPUB"`: {Filter: DeadFilter{Type: "memory.facts\r\nPUB"}},
		"want from before to":        {Filter: DeadFilter{From: now, To: now}},
	} {
		if _, err := d.List(testContext(t), q); !errors.Is(err, ErrBadFilter) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want a bad filter that says %q", q, err, want)
		}
	}
	for _, dry := range []bool{true, false} {
		if _, err := d.DropMatching(testContext(t), DeadFilter{}, dry); !errors.Is(err, ErrBadFilter) {
			t.Errorf("drop all of everything: %v", err)
		}
		if _, err := d.ReplayMatching(testContext(t), DeadFilter{}, dry); !errors.Is(err, ErrBadFilter) {
			t.Errorf("replay all of everything: %v", err)
		}
	}
}

// TestNoStreamIsNoEmptyList: an error never becomes an empty list.
func TestNoStreamIsNoEmptyList(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d := newDead(t, js)
	if err := js.DeleteStream(ctx, DeadStream); err != nil {
		t.Fatal(err)
	}
	if page, err := d.List(ctx, DeadQuery{}); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("list without a stream: %+v, %v", page, err)
	}
	if _, err := d.Get(ctx, 1); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("get without a stream: %v", err)
	}
	if _, err := d.DropUser(ctx, userA); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("drop a user's without a stream: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := d.List(gone, DeadQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("list with a context that has ended: %v", err)
	}
}

func TestDropUser(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	d := newDead(t, js)
	for i := range 30 {
		storeLetter(t, js, []string{"ada", "bob", "adam"}[i%3], ReasonPlan, uint64(i+1))
	}
	if n, err := d.DropUser(ctx, "ada"); n != 10 || err != nil {
		t.Errorf("dropped %d, %v, want 10", n, err)
	}
	if n, err := d.DropUser(ctx, "ada"); n != 0 || err != nil {
		t.Errorf("dropped %d more, %v", n, err)
	}
	if got := numbers(t, d, DeadQuery{}); len(got) != 20 {
		t.Errorf("%d left, want those of the two others", len(got))
	}
	if _, err := d.DropUser(ctx, ""); !errors.Is(err, ErrBadFilter) {
		t.Errorf("no user: %v", err)
	}
}

// TestListAfterTheHighestNumber: there is none after it, also none by an overflow.
func TestListAfterTheHighestNumber(t *testing.T) {
	js := newJS(t)
	d := newDead(t, js)
	storeLetter(t, js, userA, ReasonPlan, 1)
	for _, after := range []uint64{1, 2, math.MaxUint64 - 1, math.MaxUint64} {
		page, err := d.List(testContext(t), DeadQuery{Oldest: true, After: after})
		if err != nil || len(page.Letters) != 0 || page.Next != 0 || page.Stored != 1 {
			t.Errorf("after %d: %+v, %v, want an empty page of the one letter stored", after, page, err)
		}
	}
	if got := numbers(t, d, DeadQuery{After: math.MaxUint64}); !slices.Equal(got, []uint64{1}) {
		t.Errorf("newest first, below the highest number: %v, want the one letter", got)
	}
}
