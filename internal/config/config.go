// Package config is kith's one configuration: a struct that the command line, the environment and a JSON file fill, in
// that order of precedence, and the rules that turn it into what is in force.
package config

import "time"

// Config holds every setting. Command-line flags are the kebab-case names, the same names are the keys of the file.
type Config struct {
	File    string `name:"config" env:"KITH_CONFIG" type:"path" placeholder:"FILE" help:"JSON file of settings; keys are flag names without the dashes in front."`
	DataDir string `name:"data-dir" env:"KITH_DATA_DIR" default:"kith-data" type:"path" help:"Directory for the embedded stores; created with mode 0700."`

	LogLevel  string `name:"log-level" env:"KITH_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: ${enum}."`
	LogFormat string `name:"log-format" env:"KITH_LOG_FORMAT" default:"text" enum:"text,json" help:"Log format: ${enum}."`

	Memory  Memory  `embed:"" group:"memory"`
	NATS    NATS    `embed:"" group:"events"`
	Qdrant  Qdrant  `embed:"" group:"vectors"`
	Embed   Embed   `embed:"" group:"vectors"`
	Graph   Graph   `embed:"" group:"graph"`
	Project Project `embed:"" group:"graph"`
	Rerank  Rerank  `embed:"" group:"ranking"`
	Serve   Serve   `embed:"" group:"service"`
	Ready   Ready   `embed:"" group:"service"`
	Standby Standby `embed:"" group:"service"`
}

// Memory decides whether the graph is written and used. See [Memory.Resolve] for how the settings combine.
type Memory struct {
	Mode        *string `name:"memory-mode" env:"MEMORY_MODE" enum:"lite,pro,ultra" placeholder:"MODE" help:"lite (graph off), pro (enable-graph decides), ultra (graph on)."`
	EnableGraph *bool   `name:"enable-graph" env:"MEMORY_ENABLE_GRAPH" placeholder:"BOOL" help:"In mode pro, whether the graph is on."`
	Project     *bool   `name:"project" env:"KITH_PROJECT" placeholder:"BOOL" help:"false: searches are answered over the graph as it is, and events wait in the stream. Changes nothing else."`
	Write       *bool   `name:"graph-write" env:"MEMORY_GRAPH_WRITE" placeholder:"BOOL" help:"Whether events are projected while the graph is on."`
	Rerank      *bool   `name:"graph-rerank-enabled" env:"MEMORY_GRAPH_RERANK_ENABLED" placeholder:"BOOL" help:"Whether searches are reranked while the graph is on."`
}

// NATS says where events come from.
type NATS struct {
	URL         string        `name:"nats-url" env:"NATS_URL" placeholder:"URL" help:"NATS server, like nats://host:4222; empty starts an embedded one." secret:"url"`
	Creds       string        `name:"nats-creds" env:"NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file (JWT and seed) for the NATS server."`
	CA          string        `name:"nats-ca" env:"NATS_CA" type:"path" placeholder:"FILE" help:"PEM roots that the NATS server's certificate must lead to."`
	Cert        string        `name:"nats-cert" env:"NATS_CERT" type:"path" placeholder:"FILE" help:"PEM certificate of this client, with nats-key."`
	Key         string        `name:"nats-key" env:"NATS_KEY" type:"path" placeholder:"FILE" help:"Its key."`
	Listen      string        `name:"nats-listen" env:"KITH_NATS_LISTEN" default:"127.0.0.1:4222" help:"Address of the embedded NATS server."`
	SyncAlways  bool          `name:"nats-sync-always" env:"KITH_NATS_SYNC_ALWAYS" help:"Embedded server: fsync every message instead of once a second."`
	MaxAge      time.Duration `name:"stream-max-age" env:"KITH_STREAM_MAX_AGE" default:"0s" help:"Age at which the stream drops events; 0 keeps them."`
	MaxBytes    int64         `name:"stream-max-bytes" env:"KITH_STREAM_MAX_BYTES" default:"0" help:"Size in bytes at which the stream drops its oldest events; 0 is no limit."`
	BatchEvents int           `name:"batch-events" env:"KITH_BATCH_EVENTS" default:"2048" help:"Most events in one graph transaction; the number adapts to how long commits take."`
	BatchTick   time.Duration `name:"batch-tick" env:"KITH_BATCH_TICK" default:"50ms" help:"Longest time an event waits for its batch to fill."`
}

// Qdrant says where vectors are; without a URL the embedded store in the data directory is used.
type Qdrant struct {
	URL        string            `name:"qdrant-url" env:"QDRANT_URL" placeholder:"URL" help:"Qdrant gRPC endpoint, like http://host:6334; empty uses the embedded store." secret:"url"`
	APIKey     string            `name:"qdrant-api-key" env:"QDRANT_API_KEY" placeholder:"KEY" help:"Qdrant API key." secret:"all"`
	Collection string            `name:"qdrant-collection" env:"QDRANT_COLLECTION" default:"memories" help:"Collection that holds the facts."`
	VectorName string            `name:"qdrant-vector" env:"QDRANT_VECTOR_NAME" placeholder:"NAME" help:"Named vector of the collection; empty is the preset's, which is the unnamed one but for llamaindex; - is the unnamed one."`
	Preset     string            `name:"qdrant-preset" env:"QDRANT_PRESET" enum:",kith,mem0,hy-memory,langchain,llamaindex,haystack" default:"" placeholder:"NAME" help:"Whose layout the collection has: kith (the default), mem0, hy-memory, langchain, llamaindex or haystack. kith backfill --probe finds out."`
	Fields     map[string]string `name:"qdrant-fields" env:"QDRANT_FIELDS" mapsep:"," placeholder:"FIELD=PATH,..." help:"Where the collection's payload keeps kith's fields, like user_id=metadata.user_id; they win over qdrant-preset. A time with @s, @ms or @rfc3339 behind it is read as that only."`
	Timeout    time.Duration     `name:"qdrant-timeout" env:"QDRANT_TIMEOUT" default:"5s" help:"Longest time one call may take."`
	CreateDim  int               `name:"qdrant-create" env:"QDRANT_CREATE_DIMENSION" default:"0" help:"Create a missing collection with this vector dimension; 0 never creates."`
	Keyword    string            `name:"qdrant-keyword" env:"QDRANT_KEYWORD" default:"client" enum:"client,server,off" help:"Who makes the words of keyword search: client is kith, with the words of the embedded store; server is Qdrant's model qdrant/bm25 (from 1.15.3 on), for collections whose other writers use it; off is no keyword search."`
	Sparse     string            `name:"qdrant-sparse-vector" env:"QDRANT_SPARSE_VECTOR_NAME" default:"bm25" help:"Sparse vector of the collection that keeps the words; it must have the IDF modifier."`
	Tokenizer  string            `name:"qdrant-bm25-tokenizer" env:"QDRANT_BM25_TOKENIZER" default:"multilingual" enum:"multilingual,word,whitespace" help:"Tokenizer of qdrant/bm25; that of the collection's other writers (Qdrant's own default is word)."`
	Language   string            `name:"qdrant-bm25-language" env:"QDRANT_BM25_LANGUAGE" default:"none" help:"Language of the stop words and stems of qdrant/bm25; that of the collection's other writers (Qdrant's own default is english)."`
}

// Graph bounds what the graph takes of the machine.
type Graph struct {
	MemoryBytes      int64         `name:"graph-memory" env:"KITH_GRAPH_MEMORY" default:"2147483648" help:"Most bytes of the graph that are kept in memory for searches; users beyond that are read when they are asked for. 0 is no limit."`
	StoreCrashes     int           `name:"graph-store-crashes" env:"KITH_GRAPH_STORE_CRASHES" default:"5" help:"Deaths of the graph's store process within two minutes after which it rests for graph-store-pause."`
	StorePause       time.Duration `name:"graph-store-pause" env:"KITH_GRAPH_STORE_PAUSE" default:"1m" help:"How long it rests; searches go on from memory, events wait."`
	StoreMemoryBytes int64         `name:"graph-store-memory" env:"KITH_GRAPH_STORE_MEMORY" default:"1073741824" help:"Resident bytes at which the graph's store process is replaced by a new one, since its engine leaks; 0 is never."`
}

// Project bounds what becomes edges.
type Project struct {
	CoOccursMaxBatch *int     `name:"graph-co-occurs-max-batch" env:"MEMORY_GRAPH_CO_OCCURS_MAX_BATCH" placeholder:"N" help:"Facts of one write batch that are all linked with each other."`
	EdgeMinScore     *float64 `name:"graph-edge-min-score" env:"MEMORY_GRAPH_EDGE_MIN_SCORE" placeholder:"X" help:"Least cosine of a semantic_neighbor edge."`
	TemporalSpine    bool     `name:"graph-temporal-spine" env:"MEMORY_GRAPH_TEMPORAL_SPINE" help:"Whether facts are linked in the order of their times; for an existing graph, rebuild it after a change."`
}

// Rerank overrides settings of the ranking; what is not set has the profile's default.
type Rerank struct {
	Profile        string             `name:"graph-profile" env:"MEMORY_GRAPH_PROFILE" default:"default" enum:"default,reference" help:"Named set of ranking defaults: ${enum}."`
	CalLo          *float64           `name:"graph-cal-lo" env:"MEMORY_GRAPH_CAL_LO" placeholder:"X" help:"Cosine that counts as score 0."`
	CalHi          *float64           `name:"graph-cal-hi" env:"MEMORY_GRAPH_CAL_HI" placeholder:"X" help:"Cosine that counts as score 1."`
	Beta           *float64           `name:"graph-propagate-beta" env:"MEMORY_GRAPH_PROPAGATE_BETA" placeholder:"X" help:"Weight of support."`
	Iters          *int               `name:"graph-propagate-iters" env:"MEMORY_GRAPH_PROPAGATE_ITERS" placeholder:"N" help:"Steps of propagation."`
	SupportCap     *float64           `name:"graph-support-cap" env:"MEMORY_GRAPH_SUPPORT_CAP" placeholder:"X" help:"Most support one fact can get."`
	SenderFloor    *float64           `name:"graph-sender-floor" env:"MEMORY_GRAPH_SENDER_FLOOR" placeholder:"X" help:"Least base score of a fact that gives support."`
	SupportExclude *[]string          `name:"graph-support-exclude" env:"MEMORY_GRAPH_SUPPORT_EXCLUDE" placeholder:"TYPE,..." help:"Edge types that never carry support."`
	WMax           *float64           `name:"graph-wmax" env:"MEMORY_GRAPH_WMAX" placeholder:"X" help:"Ceiling of a folded edge weight."`
	HubCap         *int               `name:"graph-hub-cap" env:"MEMORY_GRAPH_HUB_CAP" placeholder:"N" help:"Entities and topics with more facts are no bridges."`
	EpisodeRecall  *bool              `name:"episode-recall-enabled" env:"MEMORY_EPISODE_RECALL_ENABLED" placeholder:"BOOL" help:"Whether facts of one episode support each other."`
	EpisodeWeight  *float64           `name:"episode-recall-weight" env:"MEMORY_EPISODE_RECALL_WEIGHT" placeholder:"X" help:"Weight of that support."`
	Priors         map[string]float64 `name:"graph-priors" env:"MEMORY_GRAPH_PRIORS" mapsep:"," placeholder:"TYPE=X,..." help:"Prior per edge type; 0 switches a type off."`
	Owners         *[]string          `name:"graph-owners" env:"MEMORY_GRAPH_OWNERS" placeholder:"NAME,..." help:"Entity names that stand for the user and are never a bridge."`
	BudgetMS       *int               `name:"graph-budget-ms" env:"MEMORY_GRAPH_BUDGET_MS" placeholder:"MS" help:"Longest time a search waits for the graph, in milliseconds."`

	Expand Expand `embed:""`
	Paths  Paths  `embed:""`
	Hybrid Hybrid `embed:""`
}

// Serve is the HTTP service.
type Serve struct {
	Listen       string        `name:"listen" env:"KITH_LISTEN" default:"127.0.0.1:7411" help:"Address of the HTTP API; loopback unless you put authentication in front of it."`
	DrainTimeout time.Duration `name:"drain-timeout" env:"KITH_DRAIN_TIMEOUT" default:"10s" help:"Time a stop may take to finish what is in flight."`
	SearchLimit  time.Duration `name:"search-timeout" env:"KITH_SEARCH_TIMEOUT" default:"10s" help:"Longest time one search may take."`
}
