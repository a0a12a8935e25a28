package golden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/vdb"
)

// dataset is what a memory system published and stored, with questions whose answers are known.
type dataset struct {
	events    [][]byte
	points    []vdb.Point
	questions []sample.Question
	now       time.Time // the time of every search
}

// payload is a stored payload's JSON: the fields that a search reads.
type payload struct {
	Content   string    `json:"content"`
	AgentID   string    `json:"agent_id"`
	State     string    `json:"state"`
	Version   int64     `json:"version"`
	EpisodeID string    `json:"episode_id"`
	BatchID   string    `json:"batch_id"`
	SourceID  string    `json:"source_id"`
	Tags      []string  `json:"tags"`
	MemoryAt  time.Time `json:"memory_at"`
	CreatedAt time.Time `json:"created_at"`
	ValidFrom time.Time `json:"valid_from"`
	ValidTo   time.Time `json:"valid_to"`
}

func readSample() (dataset, error) {
	questions, err := sample.Questions()
	if err != nil {
		return dataset{}, err
	}
	points, err := sample.Points()
	if err != nil {
		return dataset{}, err
	}
	return newDataset(sample.Events(), points, questions)
}

// readFolder reads a data set from three files in the formats of the sample.
func readFolder(dir string) (dataset, error) {
	events, err := readLines[json.RawMessage](filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return dataset{}, err
	}
	points, err := readLines[sample.Point](filepath.Join(dir, "points.jsonl"))
	if err != nil {
		return dataset{}, err
	}
	questions, err := readLines[sample.Question](filepath.Join(dir, "questions.jsonl"))
	if err != nil {
		return dataset{}, err
	}
	raw := make([][]byte, len(events))
	for i := range events {
		raw[i] = events[i]
	}
	return newDataset(raw, points, questions)
}

func readLines[T any](path string) ([]T, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var values []T
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, len(file)+1)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", path, len(values)+1, err)
		}
		values = append(values, v)
	}
	return values, lines.Err()
}

func newDataset(events [][]byte, raw []sample.Point, questions []sample.Question) (dataset, error) {
	now, err := time.Parse(time.RFC3339, sample.AsOf)
	if err != nil {
		return dataset{}, err
	}
	d := dataset{events: events, questions: questions, now: now, points: make([]vdb.Point, len(raw))}
	for i, r := range raw {
		if d.points[i], err = toPoint(r); err != nil {
			return dataset{}, fmt.Errorf("point %s: %w", r.ID, err)
		}
	}
	return d, nil
}

func toPoint(r sample.Point) (vdb.Point, error) {
	space, err := graphstore.NewSpace(r.UserID)
	if err != nil {
		return vdb.Point{}, err
	}
	text, err := json.Marshal(r.Payload)
	if err != nil {
		return vdb.Point{}, err
	}
	var p payload
	if err := json.Unmarshal(text, &p); err != nil {
		return vdb.Point{}, err
	}
	return vdb.Point{Space: space, ID: r.ID, Vector: r.Vector, Payload: vdb.Payload{
		Content: p.Content, AgentID: p.AgentID, State: p.State, Version: p.Version, EpisodeID: p.EpisodeID, BatchID: p.BatchID,
		SourceID: p.SourceID, Tags: p.Tags, MemoryAt: p.MemoryAt, CreatedAt: p.CreatedAt, ValidFrom: p.ValidFrom, ValidTo: p.ValidTo,
	}}, nil
}
