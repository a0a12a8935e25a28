package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the table of the document anew")

const (
	folder   = "testdata/golden"
	document = "../../docs/golden.md"
)

// tolerance is how far a number may be from the golden one: its last digit, which another processor may round differently.
const tolerance = 1.5e-6

// TestSample asks the sample's questions once and looks at the answers from several sides.
func TestSample(t *testing.T) {
	d, err := readSample()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, d)
	all, err := w.answerAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, *world, []answers){
		"golden files":                                     goldenFiles,
		"plain is the order of all cosines":                plainIsTheOrderOfAllCosines,
		"arms are the four calls by hand":                  armsAreTheFourCallsByHand,
		"explanations sum up":                              explanationsSumUp,
		"relabelling keeps the shape":                      relabellingKeepsTheShape,
		"equal items are equal":                            equalItemsAreEqual,
		"relabelled is not better where connections count": relabelledIsNotBetter,
	} {
		t.Run(name, func(t *testing.T) { test(t, w, all) })
	}
}

func goldenFiles(t *testing.T, _ *world, all []answers) {
	files := map[string]string{}
	for i := range all {
		files[all[i].question.ID+".txt"] = all[i].file()
	}
	var err error
	if files["table.txt"], err = table(all); err != nil {
		t.Fatal(err)
	}
	block, err := groups(all)[0].table()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := errors.Join(writeFiles(files), writeDocument(block)); err != nil {
			t.Fatal(err)
		}
	}
	compareFiles(t, files)
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if _, inDoc, _, err := cutDocument(string(text)); err != nil || different(inDoc, block) != "" {
		t.Errorf("%s does not show the table (%v): %s", document, err, different(inDoc, block))
	}
}

func writeFiles(files map[string]string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compareFiles(t *testing.T, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			t.Errorf("%s is of no question", e.Name())
		}
	}
	for name, got := range files {
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%v (go test ./internal/golden -update writes it)", err)
		} else if diff := different(string(want), got); diff != "" {
			t.Errorf("%s changed: read whether that is meant, then accept it with -update\n%s", name, diff)
		}
	}
}

// different returns the first line in which two texts differ, nothing if they do not: numbers with a point may be
// [tolerance] apart.
func different(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("line %d is new: %s", i+1, b[i])
		case i >= len(b):
			return fmt.Sprintf("line %d is gone: %s", i+1, a[i])
		case !slices.EqualFunc(strings.Fields(a[i]), strings.Fields(b[i]), sameField):
			return fmt.Sprintf("line %d\n  golden %s\n  now    %s", i+1, a[i], b[i])
		}
	}
	return ""
}

func sameField(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && strings.Contains(a, ".") && strings.Contains(b, ".") && closeTo(x, y, tolerance)
}

// closeTo is how far two numbers may be apart that were summed up in another order.
func closeTo(a, b, within float64) bool { return math.Abs(a-b) <= within }

func TestDifferent(t *testing.T) {
	for _, tc := range []struct {
		want, got string
		same      bool
	}{
		{"a 0.500001 b\n", "a 0.500000 b\n", true},
		{"a 0.500002 b\n", "a 0.500000 b\n", false},
		{"a  b", "a b", true},
		{"1 a", "2 a", false},     // a place is no measured number
		{"a\nb", "a", false},      // a line is gone
		{"a", "a\nb", false},      // a line is new
		{"a b", "a", false},       // a field is gone
		{"3.1 a", "3.2 a", false}, // the place of an attached fact
	} {
		if diff := different(tc.want, tc.got); (diff == "") != tc.same {
			t.Errorf("%q, %q: %q: want them the same: %v", tc.want, tc.got, diff, tc.same)
		}
	}
}

// The document's table stands between two comments.
const (
	tableBegins = "<!-- table of the sample: written by go test ./internal/golden -update -->\n```\n"
	tableEnds   = "```\n<!-- end of the table -->\n"
)

func cutDocument(text string) (before, table, after string, err error) {
	before, rest, begins := strings.Cut(text, tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", "", "", errors.New("the comments around the table are not there")
	}
	return before, table, after, nil
}

func writeDocument(block string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, _, after, err := cutDocument(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(before+tableBegins+block+tableEnds+after), 0o644)
}
