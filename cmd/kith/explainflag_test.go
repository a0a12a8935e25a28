package main

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kithgraph/kith/internal/server"
)

func TestExplainFlag(t *testing.T) {
	parse := func(args ...string) (searchCmd, error) {
		var a struct {
			Search searchCmd `cmd:""`
		}
		parser, err := kong.New(&a, kong.Writers(io.Discard, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(append([]string{"search", "--user=ann"}, args...))
		return a.Search, err
	}
	for arg, want := range map[string]server.Explain{
		"--k=3": server.ExplainNothing, "--explain": server.ExplainResults, "--explain=true": server.ExplainResults,
		"--explain=false": server.ExplainNothing, "--explain=all": server.ExplainAll,
	} {
		c, err := parse(arg, "some words")
		if err != nil || server.Explain(c.Explain) != want || c.Text != "some words" {
			t.Errorf("%s: %q of %q, %v: want %q", arg, c.Explain, c.Text, err, want)
		}
	}
	if _, err := parse("--explain=much"); err == nil || !strings.Contains(err.Error(), `--explain: "much": want no value, true, false or all`) {
		t.Errorf("%v: want the flag, the value and the rule", err)
	}
	c, err := parse("--mode=hybrid", "--min-seq=12", "words")
	if req, _ := c.request(); err != nil || req.Mode != "hybrid" || req.MinSeq != 12 || req.Text != "words" {
		t.Errorf("%+v, %v", c, err)
	}
}
