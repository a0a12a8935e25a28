package projector

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The defaults are part of the contract: changing one changes every graph.
func TestConfigDefaults(t *testing.T) {
	want := Config{MaxCoOccurs: 10, EdgeMinScore: 0.75, MaxNeighbors: 5,
		EntityTypes: []string{"animal", "concept", "document", "event", "organization", "person", "place", "product", "project", "work"}}
	if diff := cmp.Diff(want, mustNew(t, Config{}).cfg); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if got := (Limits{}).WithDefaults(); got != (Limits{MaxBytes: 1048576, MaxFacts: 1000}) {
		t.Errorf("limits %+v", got)
	}
}

func TestConfigNamesEveryViolation(t *testing.T) {
	_, err := New(Config{MaxCoOccurs: 65, EdgeMinScore: math.NaN(), MaxNeighbors: -1, EntityTypes: []string{"person", "Big One"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"max co-occurs 65: want 1 to 64", "edge min score NaN: want more than 0 and at most 1",
		"max neighbors -1: want 1 to 100", `entity types[1] "Big One": want 1 to 64 of a-z, 0-9 and _`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q: want %q in it", err, part)
		}
	}
	err = Limits{MaxBytes: 1, MaxFacts: -1}.Validate()
	if err == nil || !strings.Contains(err.Error(), "max event bytes 1: want 1024 to") || !strings.Contains(err.Error(), "max facts -1: want 1 to") {
		t.Errorf("limits: %v", err)
	}
	if err := (Limits{}).Validate(); err != nil {
		t.Errorf("zero limits: %v", err)
	}
}

func TestConfigIsNotShared(t *testing.T) {
	types := []string{"person"}
	p := mustNew(t, Config{EntityTypes: types})
	types[0] = "place"
	if typ, _ := p.entityType("person"); typ != "person" || p.cfg.EntityTypes[0] != "person" {
		t.Error("the caller's slice changes the projector")
	}
}

// A count that Add forgets would be lost in every sum.
func TestReportAddsEveryCount(t *testing.T) {
	var one, sum Report
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum.Add(one)
	sum.Add(one)
	got := reflect.ValueOf(sum)
	for i := range got.NumField() {
		if n := got.Field(i).Int(); n != 2*int64(i+1) {
			t.Errorf("%s is %d: want %d", got.Type().Field(i).Name, n, 2*(i+1))
		}
	}
}
