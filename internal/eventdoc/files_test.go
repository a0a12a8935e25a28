package eventdoc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/projector"
)

const docsDir = "../../docs/schema"

// The files that are checked in are those that the types make.
func TestFilesAreUpToDate(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files) {
		t.Errorf("%d files in %s: want %d", len(entries), docsDir, len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docsDir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date: run go generate ./internal/eventdoc (-generated +checked in):\n%.2000s", name, diff)
		}
	}
}

func TestContractHasEveryType(t *testing.T) {
	var got []projector.Type
	for _, e := range contract() {
		got = append(got, e.data.Type())
	}
	if diff := cmp.Diff(projector.Types(), got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
