package backfill

import (
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/vdb"
)

// PresetKith is the layout of kith's own writes, and of whatever uses its names.
const PresetKith = "kith"

// Preset is how a program lays out a Qdrant collection: the data that [NewMapping] starts from.
type Preset struct {
	Name   string
	Source string // the sources it was read from
	Vector string // the searched vector's name by that program's defaults; empty for the unnamed one
	IDs    string // what the program's point ids are; a fact's id is always its point's
	Times  string // how it writes times

	// Fields says where fields are, as in [NewMapping]; one that is not in it is at its own name.
	Fields map[string]string
	// Always are paths that every point has, which tell the layout from others.
	Always []string
	// Words translates what a text field may say that kith says in another way; "" stands for an absent field.
	Words map[string]map[string]string
	// Only are payload fields of the top level that must have one of the values for a point to be a fact.
	Only map[string][]string
}

// Presets returns the presets, in the order in which a probe prefers them when they fit alike.
func Presets() []Preset {
	return []Preset{presetKith, presetMem0, presetHyMemory, presetLangChain, presetLlamaIndex, presetHaystack}
}

// PresetNames returns the names in the order of [Presets].
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

func presetNamed(name string) (Preset, bool) {
	i := slices.IndexFunc(Presets(), func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return Presets()[i], true
}

var presetKith = Preset{
	Name:   PresetKith,
	Source: "kith's own names",
	IDs:    "the fact's id where it is a UUID or an integer, else a UUIDv5 of user and id with the id in kith_id",
	Times:  "RFC 3339",
	Always: []string{vdb.FieldUserID, vdb.FieldContent},
}

// mem0ai 2.2.1, mem0/vector_stores/qdrant.py and mem0/memory/main.py: the payload is the caller's metadata with data, hash,
// text_lemmatized, created_at and updated_at (UTC, RFC 3339) and those of user_id, agent_id and run_id that were given; ids
// are random UUIDs; the dense vector is unnamed, since version 2 beside a sparse one called bm25.
var presetMem0 = Preset{
	Name:   "mem0",
	Source: "mem0ai 2.2.1",
	IDs:    "mem0's memory ids, random UUIDs",
	Times:  "RFC 3339",
	Fields: map[string]string{vdb.FieldContent: "data", vdb.FieldEpisodeID: "run_id"},
	Always: []string{"data", "hash", "created_at"},
}

// hy-memory 2.0.6, hy_memory/data/vector_store_base.py (_node_to_payload, _node_id_to_point_id) and vector_store_qdrant.py:
// one collection holds several layers, of which l2_fact are the facts; times are whole seconds; the dense vector is
// unnamed beside a sparse one called bm25. Its status has more words than kith's state: what is neither active nor
// superseded is out of use, as a shadowed fact is.
var presetHyMemory = Preset{
	Name:   "hy-memory",
	Source: "hy-memory 2.0.6",
	IDs:    "hy-memory's node ids where they are UUIDs, else a UUIDv5 of them with the id in node_id",
	Times:  "seconds",
	Fields: map[string]string{
		vdb.FieldState: "status", vdb.FieldCreatedAt: "gmt_created@s", vdb.FieldMemoryAt: "memory_at@s",
		vdb.FieldValidFrom: "valid_from@s", vdb.FieldValidTo: "valid_until@s", vdb.FieldSourceID: "source_session_id",
		FieldUpdatedAt: "gmt_modified@s",
	},
	Always: []string{"node_id", "isolation_key", "layer", "status", "content", "user_id", "gmt_created"},
	Words:  map[string]map[string]string{vdb.FieldState: {"shadow": "shadowed", "negated": "shadowed", "conflicted": "shadowed", "archived": "shadowed"}},
	Only:   map[string][]string{"layer": {"l2_fact"}},
}

// langchain-qdrant 1.1.0, langchain_qdrant/qdrant.py: page_content, and metadata, which is the application's; ids are the
// application's, else random UUIDs; the dense vector is unnamed, the sparse one langchain-sparse. Nothing in it belongs to a
// user unless the application says so in the metadata, where kith's names are looked for. The key source is what
// LangChain's loaders write.
var presetLangChain = Preset{
	Name:   "langchain",
	Source: "langchain-qdrant 1.1.0",
	IDs:    "the application's, else random UUIDs",
	Times:  "the application's",
	Fields: inside("metadata", map[string]string{vdb.FieldContent: "page_content", vdb.FieldSourceID: "metadata.source"}),
	Always: []string{"page_content", "metadata"},
}

// llama-index-vector-stores-qdrant 0.10.4 (base.py) and llama-index-core 0.14.25 (vector_stores/utils.py,
// node_to_metadata_dict): the node's metadata at the top level, the node itself as JSON in the text _node_content, and the
// id of its document, or the text None; ids are the node ids, UUIDs; the dense vector is text-dense, or unnamed in older
// collections.
var presetLlamaIndex = Preset{
	Name:   "llamaindex",
	Source: "llama-index-vector-stores-qdrant 0.10.4, llama-index-core 0.14.25",
	Vector: "text-dense",
	IDs:    "LlamaIndex's node ids, UUIDs",
	Times:  "the application's",
	Fields: map[string]string{vdb.FieldContent: "_node_content" + vdb.PathJSON + ".text", vdb.FieldSourceID: "ref_doc_id"},
	Always: []string{"_node_content", "_node_type", "ref_doc_id"},
	Words:  map[string]map[string]string{vdb.FieldSourceID: {"None": ""}},
}

// qdrant-haystack 13.1.0, document_stores/qdrant/converters.py: the document as a dictionary, its meta being the
// application's; ids are a UUIDv5 of the document's id, which is in the payload; the dense vector is unnamed, or text-dense
// where sparse embeddings are used. The key source_id is what Haystack's splitters write.
var presetHaystack = Preset{
	Name:   "haystack",
	Source: "qdrant-haystack 13.1.0",
	IDs:    "a UUIDv5 of Haystack's document ids, which are in id",
	Times:  "the application's",
	Fields: inside("meta", map[string]string{vdb.FieldContent: "content"}),
	Always: []string{"id", "content", "meta"},
}

// inside is a layout that keeps the fields in an object, at their own names but for the exceptions.
func inside(object string, exceptions map[string]string) map[string]string {
	fields := map[string]string{}
	for _, field := range MappedFields() {
		fields[field] = strings.Join([]string{object, field}, ".")
	}
	maps.Copy(fields, exceptions)
	return fields
}
