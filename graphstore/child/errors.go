package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/kithgraph/kith/graphstore"
)

// Errors of the parent's side.
var (
	// ErrChildDied reports that the child ended before it answered. The call may be made again: of an Apply it is not
	// known whether it was committed, and applying the same changes again is right in both cases.
	ErrChildDied = errors.New("store child died")
	// ErrBreakerOpen reports that the child ended too often and is not started for a while. Nothing was tried.
	ErrBreakerOpen = errors.New("store child died too often: pausing")
	// ErrUnanswered reports, together with the error of the caller's context, an Apply that the child neither refused nor
	// confirmed within Config.AnswerWait after the context ended: it may be committed still.
	ErrUnanswered = errors.New("outcome unknown: the store child has not answered yet")
)

// Errors of opening that say the files must be left alone. [Start] returns them at once; when they come up at a restart,
// calls return them while the child is tried again.
var (
	// ErrInUse reports that another process owns the graph; the text says which.
	ErrInUse = errors.New("graph is in use")
	// ErrForeign reports files that are not a graph of this program.
	ErrForeign = errors.New("not a graph of this program")
	// ErrNewerSchema reports a graph that a newer version of this program wrote.
	ErrNewerSchema = errors.New("graph was written by a newer version")
)

// errMachine marks errors of opening that are the machine's and not the file's: they move nothing aside.
var errMachine = errors.New("trouble of the machine")

// Errors names the errors of the store in the child that the parent must be able to tell apart with [errors.Is]. Both
// sides get the same value. Errors of graphstore and of contexts need no mention.
type Errors struct {
	// InUse, Foreign and NewerSchema are the store's errors for what [ErrInUse], [ErrForeign] and [ErrNewerSchema] say.
	// The parent's errors are both. Nil: the store has no such error.
	InUse, Foreign, NewerSchema error
	// Machine lists errors of opening that are no sign of a damaged file, beyond those of the operating system (no space,
	// no permission, no memory, too many files). They are also carried across.
	Machine []error
	// Others lists further errors to carry across; at most 40 with Machine.
	Others []error
}

// maxListed keeps the identities in the bits of one number.
const maxListed = 40

// identity is one thing that an error can be, with all its names.
type identity struct {
	names []error
	also  func(error) bool
}

func (i identity) is(err error) bool {
	for _, name := range i.names {
		if name != nil && errors.Is(err, name) {
			return true
		}
	}
	return i.also != nil && i.also(err)
}

// identities returns what crosses, in an order that both sides share.
func (e Errors) identities() []identity {
	one := func(names ...error) identity { return identity{names: names} }
	all := []identity{
		one(graphstore.ErrBadChange), one(graphstore.ErrDangling), one(graphstore.ErrNoSpace), one(graphstore.ErrClosed),
		one(graphstore.ErrDamaged), one(context.Canceled), one(context.DeadlineExceeded), one(errors.ErrUnsupported),
		one(ErrInUse, e.InUse), one(ErrForeign, e.Foreign), one(ErrNewerSchema, e.NewerSchema),
		{names: append([]error{errMachine}, e.Machine...), also: machineTrouble},
	}
	for _, list := range [][]error{e.Machine, e.Others} {
		for _, err := range list {
			all = append(all, one(err))
		}
	}
	// The first name of the machine's trouble stands for all: those that are listed cross by themselves.
	return all
}

// machineTrouble reports errors of the operating system that say nothing about a file's content.
func machineTrouble(err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		return true
	}
	for _, no := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE,
		syscall.EAGAIN, syscall.EINTR} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// remoteError is an error of the other side: its text, and what it is.
type remoteError struct {
	text string
	is   []error
	from *link // whose other side
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.is }

// answer encodes an outcome: nothing more for nil, else what the error is and its text.
func (e Errors) answer(to *encoder, err error) {
	if err == nil {
		to.byte(0)
		return
	}
	var bits uint64
	for i, id := range e.identities() {
		if id.is(err) {
			bits |= 1 << i
		}
	}
	to.byte(1)
	to.uvarint(bits)
	to.text(strings.ToValidUTF8(err.Error(), "\uFFFD"))
}

// outcome is the inverse of answer. broken says that the bytes are no answer.
func (e Errors) outcome(d *decoder) (outcome, broken error) {
	if d.byte() == 0 {
		return nil, d.err
	}
	bits := d.uvarint()
	remote := &remoteError{text: d.text()}
	if d.err != nil {
		return nil, d.err
	}
	for i, id := range e.identities() {
		if bits&(1<<i) == 0 {
			continue
		}
		for _, name := range id.parentNames() {
			if name != nil {
				remote.is = append(remote.is, name)
			}
		}
	}
	return remote, nil
}

// parentNames returns the names that the parent's error gets: all, except that the machine's trouble is not each of the
// errors that count as such.
func (i identity) parentNames() []error {
	if i.also != nil {
		return i.names[:1]
	}
	return i.names
}

func (e Errors) validate() error {
	if n := len(e.Machine) + len(e.Others); n > maxListed {
		return fmt.Errorf("Errors: %d listed: want at most %d", n, maxListed)
	}
	for _, list := range [][]error{e.Machine, e.Others} {
		for i, err := range list {
			if err == nil {
				return fmt.Errorf("Errors: entry %d is nil", i)
			}
		}
	}
	return nil
}
