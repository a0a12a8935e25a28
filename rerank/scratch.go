package rerank

// scratch is the working memory of one ranking, reused between them. All numbers of members in it are places in the
// order of their ids: walking members in number order is walking them in id order, which makes every sum independent of
// the order in which pool and edges arrived.
type scratch struct {
	members []member
	order   []idPlace
	table   nodeTable

	row     row
	late    []lateLink
	bridges bridgeSet

	byEpisode []int32
	episodes  []episodeTie

	strongest []poolEdge // where there are too many edges

	pairs     []pair
	relations []Relation // of all pairs, when the request asks for explanations

	step    []float64 // scores that senders use
	sums    []float64
	ranking []int32
	places  []int32
}

// release drops what would keep a caller's memory alive while the scratch waits for its next use.
func (s *scratch) release() {
	clear(s.relations)
}

// grown returns buf with length n and unspecified content.
func grown[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n, n+n/2)
	}
	return buf[:n]
}
