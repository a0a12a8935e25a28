package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// A question may be pages long, up to vdb.MaxTextBytes: every one of its words counts, also the last.
func TestKeyword_longText(t *testing.T) {
	st := open(t, filepath.Join(t.TempDir(), "vectors.db"), sqlite.Config{})
	p := point("x", 1, 0)
	p.Payload.Content = "zebra"
	if err := st.Upsert(t.Context(), []vdb.Point{p, point("y", 1, 0)}); err != nil {
		t.Fatal(err)
	}
	for _, words := range []int{10, 300, 1500} {
		var text strings.Builder
		for i := range words {
			fmt.Fprintf(&text, "word%d ", i)
		}
		matches, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: mustSpace("u"), Text: text.String() + "zebra", Limit: 10})
		if err != nil || len(matches) != 1 || matches[0].ID != "x" {
			t.Errorf("%d words: %d matches, error %v, want x", words, len(matches), err)
		}
	}
}
