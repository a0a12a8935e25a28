package projector

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// wording is how facts speak of one entity or topic: the spellings of its name, other names, and hard ids. As the
// detail of one mention it holds what that fact says; summed over mentions it gives what the node shows.
type wording struct {
	spellings map[string]struct{}
	aliases   map[string]struct{} // declared ones
	ids       map[graphstore.HardID]struct{}
}

func newWording() wording {
	return wording{map[string]struct{}{}, map[string]struct{}{}, map[graphstore.HardID]struct{}{}}
}

func (w wording) add(o wording) {
	maps.Copy(w.spellings, o.spellings)
	maps.Copy(w.aliases, o.aliases)
	maps.Copy(w.ids, o.ids)
}

// covers reports whether w says everything that o says; a name that o declares as an alias may be a spelling in w.
func (w wording) covers(o wording) bool {
	for s := range o.spellings {
		if _, ok := w.spellings[s]; !ok {
			return false
		}
	}
	for a := range o.aliases {
		_, spelled := w.spellings[a]
		if _, ok := w.aliases[a]; !ok && !spelled {
			return false
		}
	}
	for id := range o.ids {
		if _, ok := w.ids[id]; !ok {
			return false
		}
	}
	return true
}

// name returns the bytewise smallest spelling, or "" if there is none.
func (w wording) name() string {
	if len(w.spellings) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(w.spellings)))
}

// others returns every name but [wording.name], sorted; nil if there is none.
func (w wording) others() []string {
	all := maps.Clone(w.aliases)
	maps.Copy(all, w.spellings)
	delete(all, w.name())
	return slices.Sorted(maps.Keys(all))
}

// hardIDs returns the hard ids, sorted; nil if there are none.
func (w wording) hardIDs() []graphstore.HardID {
	return slices.SortedFunc(maps.Keys(w.ids), compareHardID)
}

// mentionDetail is the stored form of one mention's wording.
type mentionDetail struct {
	Name    string              `json:"name"`
	Aliases []string            `json:"aliases,omitempty"` // sorted, distinct, without the name
	IDs     map[string][]string `json:"ids,omitempty"`     // values by kind, sorted, distinct
}

// detail returns the canonical stored form: equal wordings give equal text.
func (w wording) detail() string {
	d := mentionDetail{Name: w.name(), Aliases: w.others()}
	for _, id := range w.hardIDs() {
		if d.IDs == nil {
			d.IDs = map[string][]string{}
		}
		d.IDs[id.Kind] = append(d.IDs[id.Kind], id.Value)
	}
	text, _ := json.Marshal(d) // sorts map keys; strings in slices and maps always encode
	return string(text)
}

// wordingOf returns the wording of one tie to an entity or topic.
func wordingOf(e graphstore.Edge) (wording, error) {
	w := newWording()
	if e.Type == graphstore.TaggedWith {
		w.spellings[e.Detail] = struct{}{}
		return w, nil
	}
	var d mentionDetail
	if err := json.Unmarshal([]byte(e.Detail), &d); err != nil {
		return w, fmt.Errorf("read detail %s of %s: %w", graphstore.Shorten(e.Detail), e.Key(), err)
	}
	w.spellings[d.Name] = struct{}{}
	for _, a := range d.Aliases {
		w.aliases[a] = struct{}{}
	}
	for kind, values := range d.IDs {
		for _, v := range values {
			w.ids[graphstore.HardID{Kind: kind, Value: v}] = struct{}{}
		}
	}
	return w, nil
}
