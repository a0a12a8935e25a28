package vdbtest

import (
	"slices"
	"testing"

	"github.com/kithgraph/kith/vdb"
)

// Features says what a store can do beyond the part of the contract that all stores share.
type Features struct {
	Keyword bool // Keyword and Hybrid work; else they must return vdb.ErrUnsupported
	// OtherWords says that words are not those of vdb.Tokenize: which texts match is then not checked. Separate words of
	// ASCII letters must be words all the same.
	OtherWords bool
	Durable    bool // points outlive Close; needs Harness.Reopen
}

// Harness is how [Exercise] reaches a driver.
type Harness struct {
	// Name begins the name of every subtest.
	Name string
	// Open returns a fresh, empty store for vectors of dim numbers. The suite closes it; whatever else must go is
	// registered with t.Cleanup.
	Open func(t *testing.T, dim int) vdb.Store
	// Reopen closes the store and returns a new handle on the same points; nil when they do not outlive Close.
	Reopen   func(t *testing.T, store vdb.Store) vdb.Store
	Features Features
}

// part is one subtest of the suite.
type part struct {
	name string
	run  func(e *env)
}

// Exercise checks a driver against every sentence of the contract, as subtests of t. It fails when the harness is
// incomplete and when no subtest ran, so that a filter or a rename cannot leave a driver unchecked unnoticed.
func Exercise(t *testing.T, h Harness) {
	t.Helper()
	if h.Name == "" || h.Open == nil || (h.Features.Durable && h.Reopen == nil) {
		t.Fatal("vdbtest: the harness needs Name, Open and, for a durable store, Reopen")
	}
	parts := slices.Concat(infoParts, upsertParts, payloadParts, idParts, tenantParts, eraseParts, searchParts, manyParts, filterParts, lookupParts,
		scrollParts, lifecycleParts, randomParts)
	parts = append(parts, h.Features.wordParts()...)
	if h.Features.Durable {
		parts = append(parts, durableParts...)
	}
	ran := 0
	for _, p := range parts {
		t.Run(h.Name+"/"+p.name, func(t *testing.T) {
			ran++
			p.run(&env{T: t, h: h})
		})
	}
	if ran == 0 {
		t.Errorf("vdbtest: no subtest of the %s store ran", h.Name)
	}
}

// wordParts are the subtests of searches by words.
func (f Features) wordParts() []part {
	switch {
	case !f.Keyword:
		return slices.Concat(noKeywordParts, noHybridParts)
	case f.OtherWords:
		return slices.Concat(keywordParts, hybridParts)
	default:
		return slices.Concat(keywordParts, tokenizeParts, hybridParts, spellingParts)
	}
}
