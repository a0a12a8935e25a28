package main

import "errors"

// scope is the value of a flag that narrows a command down, as to one user. Given and empty it is a mistake, as of a shell's variable that
// is not set, and must not widen the command to everything.
type scope string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *scope) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New(`"": want at least one character, or leave the flag out`)
	}
	*s = scope(text)
	return nil
}
