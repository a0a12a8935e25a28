package golden

import (
	"flag"
	"testing"
)

var musique = flag.String("musique", "", "folder of a larger data set in the formats of the sample, to print the table of")

// TestMuSiQue prints the table of an external data set, whatever it says; there is nothing it could fail for.
func TestMuSiQue(t *testing.T) {
	if *musique == "" {
		t.Skip("-musique DIR names the data")
	}
	d, err := readFolder(*musique)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.questions) == 0 {
		t.Fatalf("%s has no questions", *musique)
	}
	all, err := newWorld(t, d).answerAll()
	if err != nil {
		t.Fatal(err)
	}
	text, err := table(all)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d facts\n\n%s", len(d.points), text)
}
