// Package archtest keeps the import directions of the project: the table below is the architecture.
package archtest

import (
	"errors"
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kithgraph/kith"

// mayImport is, for each package that has code, what it may import of ours.
var mayImport = map[string][]string{
	"graphstore":                {},
	"graphstore/kuzu":           {"graphstore"},
	"graphstore/child":          {"graphstore"},
	"graphstore/live":           {"graphstore"},
	"graphstore/graphstoretest": {"graphstore"},
	"projector":                 {"graphstore"},
	"projector/projectortest":   {"projector", "graphstore"},
	"projector/feed":            {"projector", "graphstore"},
	"vdb":                       {"graphstore"},
	"vdb/qdrant":                {"vdb", "graphstore"},
	"vdb/sqlite":                {"vdb", "graphstore"},
	"vdb/vdbtest":               {"vdb", "graphstore"},
	"vdb/vdbtest/wire":          {"vdb", "graphstore"},
	"rerank":                    {"graphstore"},
	"embed":                     {},
	"backfill":                  {"vdb", "projector", "graphstore"},
	"reader":                    {"vdb", "rerank", "graphstore"},
	"internal/calibrate":        {"internal/eval", "rerank", "vdb", "graphstore"},
	"internal/canary":           {},
	"internal/config":           {},
	"internal/eval":             {},
	"internal/eventcheck":       {"internal/eventdoc", "projector", "graphstore"},
	"internal/eventdoc":         {"projector", "projector/feed", "graphstore"},
	"internal/eventdoc/gen":     {"internal/eventdoc"},
	"internal/golden":           {},
	"internal/natsserver":       {},
	"internal/sample":           {},
	"internal/archtest":         {},
	"internal/server":           {"backfill", "internal/canary", "reader", "projector", "vdb", "rerank", "graphstore"},
	"examples/searchapi":        {"embed", "graphstore/kuzu", "graphstore/live", "reader", "rerank", "vdb/qdrant"},
	"cmd/kith":                  {"*"},
}

// only lists outside packages with the folders that may import them, in tests too.
var only = map[string][]string{
	"github.com/kuzudb/go-kuzu":   {"graphstore/kuzu"},
	"github.com/qdrant/go-client": {"vdb/qdrant", "vdb/vdbtest/wire"},
	"github.com/nats-io/nats.go":  {"projector/feed", "internal/server", "internal/natsserver", "cmd/kith"},
}

// topLevel is every name that may stand in the root folder, dotfiles apart.
var topLevel = []string{
	"go.mod", "go.sum", "Makefile", "README.md", "cmd", "projector", "rerank", "reader", "vdb", "graphstore", "backfill", "docs", "embed", "examples",
	"internal", "LICENSE", "CHANGELOG.md", "compose.yaml", "Dockerfile", "bin", "kith-data",
}

func TestImportDirections(t *testing.T) {
	packages := packagesIn(t, filepath.Join("..", ".."))
	if len(packages) < 10 {
		t.Fatalf("found %d packages: the walk is broken", len(packages))
	}
	for dir, pkg := range packages {
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("%s: not in the table of packages", dir)
			continue
		}
		for _, imp := range pkg.Imports {
			ours, isOurs := strings.CutPrefix(imp, module+"/")
			if isOurs && !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s: allowed are %v", dir, ours, allowed)
			}
		}
		checkOutside(t, dir, slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports))
	}
	for dir := range mayImport {
		if _, ok := packages[dir]; !ok {
			t.Errorf("%s is in the table but has no code", dir)
		}
	}
}

func checkOutside(t *testing.T, dir string, imports []string) {
	t.Helper()
	for outside, homes := range only {
		for _, imp := range imports {
			if (imp == outside || strings.HasPrefix(imp, outside+"/")) && !slices.Contains(homes, dir) {
				t.Errorf("%s imports %s: only %v may", dir, imp, homes)
			}
		}
	}
}

func TestTopLevelNames(t *testing.T) {
	entries, err := filepath.Glob(filepath.Join("..", "..", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := filepath.Base(e); !strings.HasPrefix(name, ".") && !slices.Contains(topLevel, name) {
			t.Errorf("%s does not belong in the root folder", name)
		}
	}
}

// packagesIn reads the Go packages under root with go/build: it sees the files as they are, where a test that asks the
// go command would be answered from the test cache.
func packagesIn(t *testing.T, root string) map[string]*build.Package {
	t.Helper()
	found := map[string]*build.Package{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		pkg, err := build.ImportDir(path, 0)
		var none *build.NoGoError
		if errors.As(err, &none) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(rel)] = pkg
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
