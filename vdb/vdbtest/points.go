package vdbtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Points returns n valid points of one space with vectors of dim numbers. Equal arguments give equal points, and only the
// field Space depends on the space: two users made from one seed share every id, vector and content, which is what a
// test of their separation wants. Ids are numbers, UUIDs and texts of several scripts; payloads leave fields out at
// random, among them the state; contents mix words of several languages; times lie in 2026.
func Points(seed uint64, space graphstore.Space, n, dim int) []vdb.Point {
	g := generator{rand.New(rand.NewPCG(seed, 0x6b697468))}
	points := make([]vdb.Point, n)
	for i := range points {
		points[i] = vdb.Point{Space: space, ID: g.id(i), Vector: g.vector(dim), Payload: g.payload(i)}
	}
	return points
}

// Vector returns a random vector of dim numbers in (-1, 1), the same for the same seed.
func Vector(seed uint64, dim int) []float32 {
	return generator{rand.New(rand.NewPCG(seed, 0x766563))}.vector(dim)
}

type generator struct{ *rand.Rand }

var contentWords = strings.Fields(`coffee tea berlin tokyo alice bob project deadline moved likes works paris
	café naïve straße 咖啡 喝咖啡 東京 コーヒー 커피 कॉफ़ी קפה кофе 2026 v2 c++ don't follow-up`)

func (g generator) id(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprint(i + 1)
	case 1:
		var u uuid.UUID
		for b := range u {
			u[b] = byte(g.Uint32())
		}
		return u.String()
	case 2:
		return fmt.Sprintf("msg-%d/α", i)
	default:
		return fmt.Sprintf("事実 %d", i)
	}
}

func (g generator) vector(dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = 2*g.Float32() - 1
	}
	v[g.IntN(dim)] += 1e-3 // never all zero
	return v
}

func (g generator) payload(i int) vdb.Payload {
	p := vdb.Payload{
		Content:   g.content(),
		AgentID:   g.pick("", "agent-a", "agent-b"),
		State:     g.pick("", "active", "superseded", "shadowed"),
		Version:   g.Int64N(4),
		EpisodeID: g.pick("", "ep 1", "ep 2", "第三話"),
		BatchID:   fmt.Sprintf("batch-%d", i/10),
		SourceID:  g.pick("", "chat/1", "doc 'x'"),
		MemoryAt:  g.time(),
		CreatedAt: g.time(),
		ValidFrom: g.time(),
		ValidTo:   g.time(),
	}
	for _, tag := range []string{"work", "旅行", "a b"} {
		if g.IntN(3) == 0 {
			p.Tags = append(p.Tags, tag)
		}
	}
	if g.IntN(2) == 0 {
		p.Extra = map[string]any{"lang": g.pick("en", "zh"), "rank": g.Int64N(3), "pinned": g.IntN(2) == 0, "score": g.Float64()}
	}
	return p
}

func (g generator) content() string {
	words := make([]string, 1+g.IntN(8))
	for i := range words {
		words[i] = contentWords[g.IntN(len(contentWords))]
	}
	return strings.Join(words, " ")
}

func (g generator) pick(values ...string) string { return values[g.IntN(len(values))] }

// time returns no time in a third of the cases, else an hour of 2026.
func (g generator) time() time.Time {
	if g.IntN(3) == 0 {
		return time.Time{}
	}
	return time.Date(2026, 1, 1, g.IntN(8760), 0, 0, 0, time.UTC)
}
