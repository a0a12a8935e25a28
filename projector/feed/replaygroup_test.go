package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Users of a pass come group by group, and by id within one.
func TestReplayYieldsByGroup(t *testing.T) {
	js := newJS(t)
	for u := range 10 {
		publish(t, js, numbered(fmt.Sprint("user ", u), 1)...)
	}
	even := func(user string) int { return 1 - int(user[len(user)-1]-'0')%2 } // odd ones first
	r := newReplay(t, js, ReplayConfig{Group: even})
	var got []string
	if _, err := r.All(testContext(t), extent(t, r), func(u *ReplayedUser) error {
		got = append(got, strings.TrimPrefix(u.Space.UserID(), "user "))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1", "3", "5", "7", "9", "0", "2", "4", "6", "8"}; !slices.Equal(got, want) {
		t.Errorf("users %v, want %v", got, want)
	}
}

// What was skipped is not read, and what came after it is.
func TestUserReplaySkips(t *testing.T) {
	js := newJS(t)
	events := numbered(userA, 5)
	publish(t, js, events[:3]...)
	r := newReplay(t, js, ReplayConfig{})
	u := r.User(space(t, userA))
	u.Skip(extent(t, r))
	for _, want := range []int{0, 2} {
		if err := u.Read(testContext(t), extent(t, r)); err != nil {
			t.Fatal(err)
		}
		user, out := u.Result()
		if user.Snapshot.Facts() != want || user.Events != want || out.Gapped != 0 {
			t.Errorf("%d facts of %d events, %d missing: want %d and none", user.Snapshot.Facts(), user.Events, out.Gapped, want)
		}
		if want == 0 {
			publish(t, js, events[3:]...)
		}
	}
}
