package rerank

import "math"

// calibration maps a cosine to a base score in [0, 1].
type calibration struct {
	lo, span float64
	set      bool
}

func calibrationOf(lo, hi float64) calibration {
	if !atLeast(hi-lo, MinCalibration) {
		return calibration{span: 1}
	}
	return calibration{lo: lo, span: hi - lo, set: lo != 0 || hi != 1}
}

// base returns the base score of c. It is 0 for a cosine that is not finite, and then finite is false.
func (k calibration) base(c *Candidate) (s float64, finite bool) {
	x := c.Cosine
	if c.Relevance != nil {
		x = *c.Relevance
	}
	if !isFinite(x) {
		return 0, false
	}
	if c.Relevance == nil {
		x = (x - k.lo) / k.span
	}
	return math.Max(0, math.Min(x, 1)), true
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// BaseScore returns what a cosine counts as under the ranker's calibration, in [0, 1]; 0 for one that is not finite. Readers that
// fuse channels in score units make [Candidate.Relevance] of it.
func (r *Ranker) BaseScore(cosine float64) float64 {
	s, _ := r.calibration.base(&Candidate{Cosine: cosine})
	return s
}
