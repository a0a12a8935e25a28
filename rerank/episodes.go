package rerank

import (
	"cmp"
	"slices"
	"strings"
)

// episodeTie lets one of two members support the other because they belong to one episode.
type episodeTie struct {
	low, high int32
	ways      episodeWays
}

// episodeWays says who of a pair supports whom.
type episodeWays uint8

const (
	highSupportsLow episodeWays = 1 << iota
	lowSupportsHigh
)

// readEpisodes finds for every member the two best other members of its episode, the only ones that support it. A tie
// between all members of a long conversation would lift the whole conversation to the cap.
func (s *scratch) readEpisodes(q *Request) {
	episode := func(i int32) string { return q.Pool[s.members[i].index].EpisodeID }
	s.byEpisode = s.byEpisode[:0]
	for i := range s.members {
		if episode(int32(i)) != "" {
			s.byEpisode = append(s.byEpisode, int32(i))
		}
	}
	slices.SortFunc(s.byEpisode, func(a, b int32) int { // b before a in base: best first
		return cmp.Or(strings.Compare(episode(a), episode(b)), cmp.Compare(s.members[b].base, s.members[a].base), cmp.Compare(a, b))
	})
	s.episodes = s.episodes[:0]
	for from := 0; from < len(s.byEpisode); {
		to := from + 1
		for to < len(s.byEpisode) && episode(s.byEpisode[to]) == episode(s.byEpisode[from]) {
			to++
		}
		s.tieGroup(s.byEpisode[from:to])
		from = to
	}
	slices.SortFunc(s.episodes, func(a, b episodeTie) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
}

// tieGroup ties each member of one episode, best first, to the two best others.
func (s *scratch) tieGroup(group []int32) {
	for place, v := range group {
		peers := 0
		for other := 0; other < len(group) && peers < 2; other++ {
			if other == place {
				continue
			}
			peers++
			if u := group[other]; u < v {
				s.episodes = append(s.episodes, episodeTie{u, v, lowSupportsHigh})
			} else {
				s.episodes = append(s.episodes, episodeTie{v, u, highSupportsLow})
			}
		}
	}
}
