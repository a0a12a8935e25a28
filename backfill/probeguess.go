package backfill

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// aliases are other names of a field, lower case without separators.
var aliases = map[string]string{
	vdb.FieldUserID:    "userid user uid ownerid owner tenantid tenant accountid customerid username",
	vdb.FieldContent:   "content text memory data body pagecontent document message fact chunk",
	vdb.FieldAgentID:   "agentid agent assistantid botid",
	vdb.FieldState:     "state status",
	vdb.FieldVersion:   "version revision rev",
	vdb.FieldEpisodeID: "episodeid sessionid conversationid threadid runid chatid",
	vdb.FieldBatchID:   "batchid writeid",
	vdb.FieldSourceID:  "sourceid source documentid docid refdocid",
	vdb.FieldTags:      "tags labels topics categories keywords",
	vdb.FieldMemoryAt:  "memoryat occurredat eventtime eventat happenedat timestamp ts date",
	vdb.FieldCreatedAt: "createdat created gmtcreated createtime insertedat ingestedat",
	vdb.FieldValidFrom: "validfrom effectivefrom",
	vdb.FieldValidTo:   "validto validuntil expiresat",
	FieldUpdatedAt:     "updatedat updated gmtmodified modifiedat lastmodified updatetime",
	FieldSupersededBy:  "supersededby replacedby",
	FieldEntities:      "entities",
	FieldRelations:     "relations",
}

// How deep and wide a payload is looked through for other names.
const (
	guessDepth = 3
	guessPaths = 500
)

// guess looks for fields that no sampled point has under other names. A place that another field has is not taken.
func (p *probe) guess(preset string, read sampleReading) map[string]string {
	paths := p.paths()
	used := map[string]bool{}
	for field, n := range read.counts {
		if path, _, err := vdb.CutTimeUnit(read.places[field]); err == nil && n > 0 {
			used[path] = true
		}
	}
	guessed := map[string]string{}
	for _, field := range MappedFields() {
		if read.counts[field] > 0 || p.explicit[field] != "" {
			continue
		}
		for _, path := range candidates(field, paths) {
			if used[path] {
				continue
			}
			if p.fitsField(preset, guessed, field, path) {
				guessed[field], used[path] = path, true
				break
			}
		}
	}
	return guessed
}

// fitsField reports whether some sampled point has a value that the field can take at the path, beside what else is placed.
func (p *probe) fitsField(preset string, guessed map[string]string, field, path string) bool {
	places := maps.Clone(p.explicit)
	maps.Copy(places, guessed)
	places[field] = path
	read, err := p.read(preset, places)
	if err != nil { // what was placed before could be read: this path is in another's way
		return false
	}
	if field == vdb.FieldState {
		return p.knownStates(path)
	}
	return read.counts[field] > 0
}

// knownStates reports whether every text at the path is a state's name.
func (p *probe) knownStates(path string) bool {
	at, err := vdb.ParsePath(path)
	if err != nil {
		return false
	}
	for _, point := range p.sample.Points {
		v, ok := at.Find(point.Payload)
		text, isText := v.(string)
		if !ok || v == nil {
			continue
		}
		if _, err := graphstore.ParseState(text); err != nil || !isText {
			return false
		}
	}
	return true
}

// candidates are the paths whose last key is another name of the field, the more usual name first, then the more usual
// path, then the shorter.
func candidates(field string, paths map[string]pathCount) []string {
	names := strings.Fields(aliases[field])
	rank := func(path string) int { return slices.Index(names, plainName(paths[path].key)) }
	var out []string
	for path := range paths {
		if rank(path) >= 0 {
			out = append(out, path)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(paths[b].points, paths[a].points), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return out
}

// plainName is a key in lower case without separators.
func plainName(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// pathCount is a path of the sampled payloads.
type pathCount struct {
	key    string // its last
	points int
}

// paths returns the paths of the sampled payloads, as a mapping spells them.
func (p *probe) paths() map[string]pathCount {
	out := map[string]pathCount{}
	for _, point := range p.sample.Points {
		walkPaths(nil, point.Payload, out)
	}
	return out
}

func walkPaths(prefix vdb.Path, object map[string]any, out map[string]pathCount) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := append(slices.Clone(prefix), key)
		if inner, ok := object[key].(map[string]any); ok && len(at) < guessDepth {
			walkPaths(at, inner, out)
		}
		text := at.String()
		if _, err := vdb.ParsePath(text); err != nil { // no spelling
			continue
		}
		count, known := out[text]
		if !known && len(out) >= guessPaths {
			continue
		}
		out[text] = pathCount{key: key, points: count.points + 1}
	}
}
