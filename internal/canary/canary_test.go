package canary_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/internal/canary"
)

// The forms, spelled out by hand.
func TestFindsEveryForm(t *testing.T) {
	f := canary.NewFinder([]canary.Canary{
		{Kind: "name", Text: `Zoë <"Big"> 咖啡 🍕`}, {Kind: "id", Text: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, {Kind: "given", Text: "Asha"},
	})
	for name, tc := range map[string]struct {
		data   string
		canary int
		offset int
	}{
		"as it is":                     {`xx Zoë <"Big"> 咖啡 🍕 yy`, 0, 3},
		"JSON":                         {`{"n":"Zoë <\"Big\"> 咖啡 🍕"}`, 0, 6},
		"JSON of Go":                   {`{"n":"Zoë \u003c\"Big\"\u003e 咖啡 🍕"}`, 0, 6},
		"JSON of Python":               {`{"n": "Zo\u00eb <\"Big\"> \u5496\u5561 \ud83c\udf55"}`, 0, 7},
		"UUID":                         {`id=6ba7b810-9dad-11d1-80b4-00c04fd430c8`, 1, 3},
		"UUID as bytes":                {"\x00\x01\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8\xff", 1, 2},
		"shorter than a word of bytes": {`Natasha and Asha`, 2, 12},
		"at the very end, eight bytes": {`.......Asha`, 2, 7},
	} {
		var got [][2]int
		f.Find([]byte(tc.data), func(c, offset, _ int) bool { got = append(got, [2]int{c, offset}); return true })
		if diff := cmp.Diff([][2]int{{tc.canary, tc.offset}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, data := range []string{"", "Zoë", `Zoë <"Big"> 咖啡`, "6ba7b810-9dad-11d1-80b4-00c04fd430c9", "ASHA"} {
		f.Find([]byte(data), func(c, offset, _ int) bool { t.Errorf("%q: found %d at %d", data, c, offset); return true })
	}
}

// Many texts in random bytes against one bytes.Index each.
func TestFindsAsIndexDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab"[rng.IntN(2)]
		}
		return string(b)
	}
	data := []byte(letters(20_000))
	var all []canary.Canary
	want := map[[2]int]bool{}
	for i := range 300 {
		text := letters(4 + rng.IntN(14)) // the short ones are there many times, the long ones seldom
		all = append(all, canary.Canary{Text: text})
		for from := 0; ; from++ {
			at := bytes.Index(data[from:], []byte(text))
			if at < 0 {
				break
			}
			from += at
			want[[2]int{i, from}] = true
		}
	}
	got := map[[2]int]bool{}
	canary.NewFinder(all).Find(data, func(c, offset, length int) bool {
		if length != len(all[c].Text) || got[[2]int{c, offset}] {
			t.Errorf("%q at %d: length %d, or twice", all[c].Text, offset, length)
		}
		got[[2]int{c, offset}] = true
		return true
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetTakesPieces(t *testing.T) {
	s := canary.NewSet(3)
	s.Add("name", "seven b")
	s.Add("name", "  eight by ")
	s.Add("name", "eight by")
	s.Add("other", "eight by") // is known
	s.Add("text", "0123456789012345678901234567890123456789")
	s.Add("many", "the first")
	s.Add("many", "the second")
	s.Add("many", "the third")
	s.Add("many", "the fourth")
	want := []canary.Canary{
		{Kind: "many", Text: "the first"}, {Kind: "many", Text: "the second"}, {Kind: "many", Text: "the third"},
		{Kind: "name", Text: "eight by"},
		// 40 digits: the first 24, 24 around the middle (from 8), the last 24 (from 16).
		{Kind: "text", Text: "012345678901234567890123"}, {Kind: "text", Text: "678901234567890123456789"}, {Kind: "text", Text: "890123456789012345678901"},
	}
	if diff := cmp.Diff(want, s.Canaries()); diff != "" || s.Left() != 1 || s.Len() != len(want) {
		t.Errorf("%d left, %d there (-want +got):\n%s", s.Left(), s.Len(), diff)
	}
	if _, err := canary.Given([]string{"Asha", "abc"}); err == nil || !strings.Contains(err.Error(), "abc") {
		t.Errorf("%v: want abc named", err)
	}
}

// A text across the border of two chunks is found once, at its place; so is one in the part that chunks share.
func TestSearchAcrossChunks(t *testing.T) {
	const chunk = 4 << 20
	dir := t.TempDir()
	places := []int{0, 1000, chunk - 30, chunk - 19, chunk - 10, chunk, chunk + 1000, 2*chunk - 1}
	for i, place := range places {
		data := bytes.Repeat([]byte{'.'}, 2*chunk+100)
		copy(data[place:], "canary-of-20-letters")
		path := filepath.Join(dir, fmt.Sprint(i%2), fmt.Sprint("file-", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := canary.NewFinder([]canary.Canary{{Kind: "k", Text: "canary-of-20-letters"}, {Kind: "k", Text: "no such canary, and longer than the other one"}})
	got, err := f.Search(dir, func(path string) string { return "class " + path[:1] })
	if err != nil {
		t.Fatal(err)
	}
	offsets := map[string]int64{}
	for i, h := range got.Hits {
		if h.Class != fmt.Sprint("class ", i) || h.Count != 4 || len(h.Places) != canary.MaxPlaces || h.Text != "canary-of-20-letters" {
			t.Errorf("%+v: want 4 in class %d and the first places of them", h, i)
		}
		for _, p := range h.Places {
			offsets[filepath.Base(p.File)] += p.Offset // a hit twice would be at twice the place
		}
	}
	listed := 0
	for i, place := range places {
		at, ok := offsets[fmt.Sprint("file-", i)]
		if ok && at != int64(place) {
			t.Errorf("file %d: found at %d, want %d", i, at, place)
		}
		if ok {
			listed++
		}
	}
	if len(got.Hits) != 2 || listed != 2*canary.MaxPlaces {
		t.Errorf("%d hits, %d places: want 2 and %d", len(got.Hits), listed, 2*canary.MaxPlaces)
	}
	const size = 2*chunk + 100
	want := []canary.Class{{Class: "class 0", Files: 4, Bytes: 4 * size}, {Class: "class 1", Files: 4, Bytes: 4 * size}}
	if diff := cmp.Diff(want, got.Classes); diff != "" || got.Files != 8 || got.Bytes != 8*size || got.Canaries != 2 {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	if _, err := f.Search(filepath.Join(dir, "nothing"), func(string) string { return "" }); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

func BenchmarkFind(b *testing.B) {
	var all []canary.Canary
	for i := range 50_000 {
		all = append(all, canary.Canary{Text: fmt.Sprintf("canary number %d of many", i*7919)})
	}
	f := canary.NewFinder(all)
	data := make([]byte, 8<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f.Find(data, func(int, int, int) bool { return true })
	}
}
