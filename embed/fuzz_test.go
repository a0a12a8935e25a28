package embed

import (
	"encoding/json"
	"math"
	"testing"
)

// Whatever an endpoint answers: no panic; and where two texts get vectors, the answer read by a general JSON decoder has the
// same numbers at the places that its indexes say.
func FuzzDecodeAnswer(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		const n = 2
		vectors, _, err := decodeAnswer(body, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Fatalf("%d vectors: want %d", len(vectors), n)
		}
		for _, v := range vectors {
			if v == nil || len(v) > MaxDimension {
				t.Fatalf("a vector of %d elements", len(v))
			}
			if v.check() == nil {
				checkDirection(t, v)
			}
		}
		var general struct {
			Data []struct {
				Index     *int
				Embedding any
			}
		}
		if err := json.Unmarshal(body, &general); err != nil {
			t.Fatalf("not JSON, but taken: %v", err)
		}
		for i, item := range general.Data {
			at := i
			if item.Index != nil {
				at = *item.Index
			}
			if numbers, ok := item.Embedding.([]any); ok {
				compareNumbers(t, vectors[at], numbers)
			}
		}
	})
}

// checkDirection wants a length that can be divided by.
func checkDirection(t *testing.T, v vector) {
	t.Helper()
	var sum float64
	for _, x := range v {
		sum += math.Abs(float64(x))
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		t.Fatalf("%v passes the check", v)
	}
}

func compareNumbers(t *testing.T, v vector, numbers []any) {
	t.Helper()
	if len(v) != len(numbers) {
		t.Fatalf("%d elements: want %d", len(v), len(numbers))
	}
	for i, x := range numbers {
		f, ok := x.(float64)
		// The general decoder rounds twice, to 64 bits and to 32: the last bit may differ.
		if want := float32(f); !ok || v[i] != want && v[i] != math.Nextafter32(want, float32(math.Inf(1))) && v[i] != math.Nextafter32(want, float32(math.Inf(-1))) {
			t.Fatalf("[%d] is %v: want %v", i, v[i], x)
		}
	}
}
