package server

// RebuildOrigins counts records of the graph that was made by what makes them: each of the first four is disjoint from the others,
// and their sum is all.
type RebuildOrigins struct {
	Log      int `json:"log"`      // the stream alone makes them, the points alone do not
	Store    int `json:"store"`    // the points alone make them, the stream alone does not
	Both     int `json:"both"`     // each of the two makes them
	Together int `json:"together"` // neither makes them without the other, as an edge between a fact of each

	// Changed are those of Log and Both that the points made other than the stream did, as a fact whose time only the point has.
	Changed int `json:"changed"`
	// Gone are not in the graph: the stream alone would make them, and the points took them away, as an edge to the next fact in
	// time where a fact of the points is in between.
	Gone int `json:"gone"`
}

// Sum counts the records.
func (o RebuildOrigins) Sum() int { return o.Log + o.Store + o.Both + o.Together }

// Add adds others.
func (o *RebuildOrigins) Add(other RebuildOrigins) {
	o.Log += other.Log
	o.Store += other.Store
	o.Both += other.Both
	o.Together += other.Together
	o.Changed += other.Changed
	o.Gone += other.Gone
}

// RebuildPoints is what the vector store had.
type RebuildPoints struct {
	Total      int64 `json:"total"` // that the store said it had, before the scan
	Scanned    int64 `json:"scanned"`
	Facts      int64 `json:"facts"`      // that they are of
	Users      int64 `json:"users"`      // who have some
	Skipped    int64 `json:"skipped"`    // no facts: without a user, an id out of rule
	Duplicates int64 `json:"duplicates"` // second points of one fact
	BadFacts   int64 `json:"bad_facts"`  // break the rules of events
	BadVectors int64 `json:"bad_vectors"`
	Forgotten  int64 `json:"forgotten"` // of users that were forgotten later
	Settled    int64 `json:"settled"`   // facts of which the points settled something that no event had
	Searches   int64 `json:"searches"`
	// Problems names the first that are skipped, bad or without a usable vector or list.
	Problems []string `json:"problems"`
}
