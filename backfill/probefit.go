package backfill

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kithgraph/kith/vdb"
)

// PresetFit is how well a preset fits the sampled points.
type PresetFit struct {
	Preset string `json:"preset"`
	// Always is how many of the paths that the preset's points always have a sampled point has on average, Of how many there
	// are; Fields is how many further fields a point has on average.
	Always float64 `json:"always"`
	Of     int     `json:"of"`
	Fields float64 `json:"fields"`
	// Score is what is there minus what should be and is not: Always - (Of - Always) + Fields. Above 0 it fits.
	Score float64 `json:"score"`
}

// fits scores the presets, best first; of equal ones the one that [Presets] has first.
func (p *probe) fits() ([]PresetFit, error) {
	var out []PresetFit
	for _, preset := range Presets() {
		fit := PresetFit{Preset: preset.Name, Of: len(preset.Always)}
		for _, path := range preset.Always {
			fit.Always += p.share(path)
		}
		read, err := p.read(preset.Name, nil)
		if err != nil {
			return nil, err
		}
		for _, field := range MappedFields() {
			if !slices.Contains(preset.Always, read.places[field]) && len(p.sample.Points) > 0 {
				fit.Fields += float64(read.counts[field]) / float64(len(p.sample.Points))
			}
		}
		fit.Score = 2*fit.Always - float64(fit.Of) + fit.Fields
		out = append(out, fit)
	}
	slices.SortStableFunc(out, func(a, b PresetFit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// share is the share of sampled points that have something at the path.
func (p *probe) share(path string) float64 {
	at, err := vdb.ParsePath(path)
	if err != nil || len(p.sample.Points) == 0 {
		return 0
	}
	n := 0
	for _, point := range p.sample.Points {
		if _, ok := at.Find(point.Payload); ok {
			n++
		}
	}
	return float64(n) / float64(len(p.sample.Points))
}

// joinPlaces writes explicit places as the setting has them.
func joinPlaces(places map[string]string) string {
	var parts []string
	for _, field := range MappedFields() {
		if path, ok := places[field]; ok {
			parts = append(parts, field+"="+path)
		}
	}
	return strings.Join(parts, ",")
}
