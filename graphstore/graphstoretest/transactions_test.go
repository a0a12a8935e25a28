package graphstoretest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestTransactionsComeBack(t *testing.T) {
	want := [][]graphstore.Change{village(ada), {graphstore.DeleteKey(bob, village(bob)[0].Key())}, village(bob)}
	var kept bytes.Buffer
	w := NewTransactionWriter(&kept)
	for _, changes := range want {
		if err := w.Write(changes); err != nil {
			t.Fatal(err)
		}
	}
	var got [][]graphstore.Change
	for changes, err := range Transactions(&kept) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, changes)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(graphstore.Space{})); diff != "" {
		t.Errorf("transactions (-want +got):\n%s", diff)
	}
	for _, err := range Transactions(bytes.NewReader([]byte("no transactions"))) {
		if err == nil {
			t.Error("no error of a file that is something else")
		}
	}
}
