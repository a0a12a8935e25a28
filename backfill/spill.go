package backfill

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// Of a spill: what a fact is taken to need in memory, and how many parts there may be.
const (
	spilledFactBytes = 1 << 10
	maxParts         = 256
)

// A piece is its length, its checksum (CRC-32C) and a gob of facts.
const pieceHead = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamagedFacts reports files that are not as they were written.
var errDamagedFacts = errors.New("the facts that were kept are damaged: without resume it begins at the first point")

// spill keeps facts in files until all are there, dealt out by user: a store yields points in the order of its own, a graph is made
// user by user. A part is read back at a time.
type spill struct {
	dir   string
	files []*os.File
}

// spilled is a fact with its user.
type spilled struct {
	User string
	Fact projector.StoredFact
}

// parts returns how many parts so many facts are dealt out to, for one of them to fit into half of the memory.
func parts(facts, memory int64) int {
	return int(min(max(2*facts*spilledFactBytes/memory, 1)+1, maxParts))
}

// openSpill opens the files, cut to the sizes that were noted: what is behind them is of a page that will come again.
func openSpill(dir string, sizes []int64) (*spill, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of facts: %w", err)
	}
	s := &spill{dir: dir}
	for i, size := range sizes {
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("part-%03d", i)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open file of facts: %w", err), s.close())
		}
		s.files = append(s.files, file)
		info, err := file.Stat()
		if err == nil && info.Size() < size {
			err = fmt.Errorf("%w: %s has %d bytes, the checkpoint says %d", errDamagedFacts, file.Name(), info.Size(), size)
		}
		if err == nil {
			err = file.Truncate(size)
		}
		if err == nil {
			_, err = file.Seek(size, io.SeekStart)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("take up file of facts: %w", err), s.close())
		}
	}
	return s, nil
}

// partOf returns the part that a user's facts are in.
func (s *spill) partOf(user string) int {
	h := fnv.New32a()
	h.Write([]byte(user)) // never fails
	return int(h.Sum32()) % len(s.files)
}

// add writes facts, in one piece for each part.
func (s *spill) add(facts []fact) error {
	pieces := make([][]spilled, len(s.files))
	for i := range facts {
		user := facts[i].point.Space.UserID()
		n := s.partOf(user)
		pieces[n] = append(pieces[n], spilled{user, facts[i].stored})
	}
	for i, piece := range pieces {
		if len(piece) == 0 {
			continue
		}
		var b bytes.Buffer
		b.Write(make([]byte, pieceHead))
		if err := gob.NewEncoder(&b).Encode(piece); err != nil {
			return fmt.Errorf("write facts: %w", err)
		}
		body := b.Bytes()[pieceHead:]
		binary.LittleEndian.PutUint32(b.Bytes(), uint32(len(body)))
		binary.LittleEndian.PutUint32(b.Bytes()[4:], crc32.Checksum(body, castagnoli))
		if _, err := s.files[i].Write(b.Bytes()); err != nil {
			return fmt.Errorf("write facts: %w", err)
		}
	}
	return nil
}

// sizes makes what was written durable and returns how much that is.
func (s *spill) sizes() ([]int64, error) {
	sizes := make([]int64, len(s.files))
	for i, file := range s.files {
		if err := file.Sync(); err != nil {
			return nil, fmt.Errorf("write facts: %w", err)
		}
		at, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, fmt.Errorf("write facts: %w", err)
		}
		sizes[i] = at
	}
	return sizes, nil
}

// read returns the facts of a part by user, in the order of the users' ids and, of one user, in that in which they were added.
func (s *spill) read(part int) ([]userFacts, error) {
	file := s.files[part]
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	in := bufio.NewReaderSize(file, 1<<20)
	at := map[string]int{}
	var users []userFacts
	for {
		piece, err := readPiece(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read facts of %s: %w", file.Name(), err)
		}
		for _, f := range piece {
			n, ok := at[f.User]
			if !ok {
				space, err := graphstore.NewSpace(f.User)
				if err != nil {
					return nil, fmt.Errorf("read facts of %s: %w", file.Name(), err)
				}
				n = len(users)
				at[f.User] = n
				users = append(users, userFacts{space: space})
			}
			users[n].facts = append(users[n].facts, f.Fact)
		}
	}
	slices.SortFunc(users, func(a, b userFacts) int { return bytes.Compare([]byte(a.space.UserID()), []byte(b.space.UserID())) })
	return users, nil
}

// readPiece reads one piece; [io.EOF] if there is none.
func readPiece(in io.Reader) ([]spilled, error) {
	var head [pieceHead]byte
	switch n, err := io.ReadFull(in, head[:]); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: the last piece is cut off", errDamagedFacts)
	case err != nil:
		return nil, err
	}
	var body bytes.Buffer
	size := int64(binary.LittleEndian.Uint32(head[:]))
	switch n, err := io.Copy(&body, io.LimitReader(in, size)); {
	case err != nil:
		return nil, err
	case n < size:
		return nil, fmt.Errorf("%w: a piece of %d bytes has %d", errDamagedFacts, size, n)
	}
	if sum := binary.LittleEndian.Uint32(head[4:]); sum != crc32.Checksum(body.Bytes(), castagnoli) {
		return nil, fmt.Errorf("%w: a piece of %d bytes has not its checksum", errDamagedFacts, size)
	}
	var piece []spilled
	if err := gob.NewDecoder(&body).Decode(&piece); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamagedFacts, err)
	}
	return piece, nil
}

func (s *spill) close() error {
	var errs []error
	for _, file := range s.files {
		errs = append(errs, file.Close())
	}
	s.files = nil
	return errors.Join(errs...)
}
