package rerank

// SetLinkReads lowers the bound on links read, so that a test needs no graph with a quarter of a million of them.
func SetLinkReads(r *Ranker, n int) { r.linkReads = n }
