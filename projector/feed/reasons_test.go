package feed

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestReasonsAreAllThereAre compares the list with the constants in the source.
func TestReasonsAreAllThereAre(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "deadletter.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Reason" {
			declared = append(declared, spec.Values[0].(*ast.BasicLit).Value)
		}
		return false
	})
	var listed []string
	for _, r := range Reasons() {
		listed = append(listed, `"`+string(r)+`"`)
	}
	if len(declared) == 0 || !slices.Equal(listed, declared) {
		t.Errorf("listed %v, declared %v", listed, declared)
	}
	Reasons()[0] = "scribbled over"
	if Reasons()[0] != ReasonBadEvent {
		t.Error("a caller can change the list")
	}
}
