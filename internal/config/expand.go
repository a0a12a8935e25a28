package config

// Expand overrides settings of the facts that the graph adds to what similarity found; what is not set has the profile's default.
type Expand struct {
	Gamma         *float64           `name:"graph-relax-gamma" env:"MEMORY_GRAPH_RELAX_GAMMA" placeholder:"X" help:"Weight of an added fact's tie to its seed; 0 adds none."`
	EpisodeBonus  *float64           `name:"graph-expand-episode-bonus" env:"MEMORY_GRAPH_EXPAND_EPISODE_BONUS" placeholder:"X" help:"What an added fact of its seed's episode gets on top."`
	SeedFloor     *float64           `name:"graph-seed-floor" env:"MEMORY_GRAPH_SEED_FLOOR" placeholder:"X" help:"Least base score of a fact from which others are looked for."`
	MaxSeeds      *int               `name:"graph-max-seeds" env:"MEMORY_GRAPH_MAX_SEEDS" placeholder:"N" help:"Most facts from which others are looked for."`
	Hops          *int               `name:"graph-expand-hops" env:"MEMORY_GRAPH_EXPAND_HOPS" placeholder:"N" help:"Most edges between an added fact and its seed."`
	HopDecay      *float64           `name:"graph-hop-decay" env:"MEMORY_GRAPH_HOP_DECAY" placeholder:"X" help:"Factor on a path per edge after its first; counts for relation paths too."`
	Fanout        *int               `name:"graph-fanout" env:"MEMORY_GRAPH_FANOUT" placeholder:"N" help:"Strongest neighbours that are followed from one fact."`
	PrefilterTopN *int               `name:"graph-expand-prefilter-top-n" env:"MEMORY_GRAPH_EXPAND_PREFILTER_TOP_N" placeholder:"N" help:"Facts that the vector store is asked about."`
	MaxExpand     *int               `name:"graph-max-expand" env:"MEMORY_GRAPH_MAX_EXPAND" placeholder:"N" help:"Most facts that are added."`
	MaxPerSeed    *int               `name:"graph-max-per-seed" env:"MEMORY_GRAPH_MAX_PER_SEED" placeholder:"N" help:"Most facts that are added for one seed."`
	SimDelta      *float64           `name:"graph-seed-sim-delta" env:"MEMORY_GRAPH_SEED_SIM_DELTA" placeholder:"X" help:"How far below its seed's base score an added fact's may be; 1 lets all pass. Not set, it depends on graph-expand-merge-seed."`
	SimDeltas     map[string]float64 `name:"graph-seed-sim-deltas" env:"MEMORY_GRAPH_SEED_SIM_DELTAS" mapsep:"," placeholder:"TYPE=X,..." help:"The same for facts reached over edges of a type."`
	AdmitFloor    *float64           `name:"graph-admit-floor" env:"MEMORY_GRAPH_ADMIT_FLOOR" placeholder:"X" help:"Least base score of an added fact."`
	Quotas        map[string]int     `name:"graph-quotas" env:"MEMORY_GRAPH_QUOTAS" mapsep:"," placeholder:"TYPE=N,..." help:"Most facts that are added over edges of a type."`
	MergeSeed     *bool              `name:"graph-expand-merge-seed" env:"MEMORY_GRAPH_EXPAND_MERGE_SEED" placeholder:"BOOL" help:"true: added facts are attached to their seeds and take no place; false: they compete for places."`
	ExtraShare    *float64           `name:"graph-extra-share" env:"MEMORY_GRAPH_EXTRA_SHARE" placeholder:"X" help:"Share of the results that may be added facts where they compete."`
}

// Paths overrides settings of the relation paths between results.
type Paths struct {
	Enabled   *bool    `name:"graph-path-enabled" env:"MEMORY_GRAPH_PATH_ENABLED" placeholder:"BOOL" help:"Whether answers show how results connect."`
	HighFloor *float64 `name:"graph-path-high-floor" env:"MEMORY_GRAPH_PATH_HIGH_FLOOR" placeholder:"X" help:"Least base score of a result that a path may end at."`
	Max       *int     `name:"graph-path-max" env:"MEMORY_GRAPH_PATH_MAX" placeholder:"N" help:"Most paths of an answer."`
	PerNode   *int     `name:"graph-path-per-node" env:"MEMORY_GRAPH_PATH_PER_NODE" placeholder:"N" help:"Most of them that end at one fact."`
}

// Hybrid overrides how the channels of a hybrid search are fused.
type Hybrid struct {
	DenseWeight *float64 `name:"graph-hybrid-dense-weight" env:"MEMORY_GRAPH_HYBRID_DENSE_WEIGHT" placeholder:"X" help:"Weight of similarity in a hybrid search, more than 0, at most 1; keywords have the rest."`
	KeywordHalf *float64 `name:"graph-hybrid-keyword-half" env:"MEMORY_GRAPH_HYBRID_KEYWORD_HALF" placeholder:"X" help:"Keyword score that counts as one half."`
}
