package graphstore

import (
	"errors"
	"fmt"
)

// ErrNoSpace reports a zero [Space]. It is returned before anything is read or written.
var ErrNoSpace = errors.New("space: user id is empty: every read and write names exactly one user")

// Space is one user's memory space: the unit nothing crosses. The zero Space is not a space; every entry point refuses
// it with [ErrNoSpace], and there is no value that means "all users". Spaces are comparable.
type Space struct{ user string }

// NewSpace returns the space of a user id: 1 to [MaxIDBytes] bytes of valid UTF-8 without control characters.
func NewSpace(userID string) (Space, error) {
	if userID == "" {
		return Space{}, ErrNoSpace
	}
	if err := CheckID(userID); err != nil {
		return Space{}, fmt.Errorf("space: user id %w", err)
	}
	return Space{user: userID}, nil
}

// UserID returns the user id the space was made of; empty only for the zero Space.
func (s Space) UserID() string { return s.user }

// IsZero reports whether s is no space at all.
func (s Space) IsZero() bool { return s.user == "" }

// String returns the user id.
func (s Space) String() string { return s.user }

// MarshalText returns the user id, so that a Space can cross a process or stand in JSON.
func (s Space) MarshalText() ([]byte, error) { return []byte(s.user), nil }

// UnmarshalText is the inverse of [Space.MarshalText]; it validates like [NewSpace].
func (s *Space) UnmarshalText(text []byte) error {
	sp, err := NewSpace(string(text))
	if err != nil {
		return err
	}
	*s = sp
	return nil
}
