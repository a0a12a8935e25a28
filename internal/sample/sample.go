package sample

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Dimension is the length of every vector of the sample.
const Dimension = 384

// AsOf is a moment after the last event at which every question's answers are valid, in RFC 3339. Evaluations that
// take an instant should use it rather than the clock, so that their outcome does not change with the day.
const AsOf = "2026-09-01T00:00:00Z"

// The kinds of Question.
const (
	// KindLexical marks a question that shares words with its answer.
	KindLexical = "lexical"
	// KindNoOverlap marks a question that shares no content word with any of its answers.
	KindNoOverlap = "no-overlap"
	// KindMultiHop marks a question that only several facts together answer.
	KindMultiHop = "multi-hop"
)

//go:embed events.jsonl
var eventsFile string

//go:embed points.jsonl
var pointsFile string

//go:embed questions.jsonl
var questionsFile string

// Point is one fact as the vector store holds it after the last event.
type Point struct {
	// UserID is the user the fact belongs to. It is not repeated in Payload.
	UserID string `json:"user_id"`
	// ID is the fact's id, a UUID in its canonical form, unique over all users.
	ID string `json:"id"`
	// Vector is the fact's embedding: Dimension values, unit length up to rounding (1e-4).
	Vector []float32 `json:"vector"`
	// Payload holds what encoding/json makes of the stored fields, except that version is an int64. Times are RFC 3339
	// text with a zone; a field without a value is absent. README.md lists the fields.
	Payload map[string]any `json:"payload"`
}

// Question is one question with the facts that answer it.
type Question struct {
	// ID names the question, for example "q-d01".
	ID string `json:"id"`
	// UserID is the user whose memories are asked.
	UserID string `json:"user_id"`
	// Text is the question as a person would put it.
	Text string `json:"question"`
	// Vector is the question's embedding, made like those of the points.
	Vector []float32 `json:"vector"`
	// Answers are the ids of all facts that answer the question or a part of it: at least one, all active.
	Answers []string `json:"answers"`
	// Kind is KindLexical, KindNoOverlap or KindMultiHop.
	Kind string `json:"kind"`
	// Note says what is hard about the question; it may be empty.
	Note string `json:"note"`
}

// Events returns the events as they stand on the wire, one JSON document each, in the order of their times.
func Events() [][]byte {
	lines := splitLines(eventsFile)
	events := make([][]byte, len(lines))
	for i, line := range lines {
		events[i] = []byte(line)
	}
	return events
}

// Points returns the points of all users: every fact that was not deleted, retired ones included, user by user in the
// order in which they were first written.
func Points() ([]Point, error) {
	points, err := decodeLines[Point]("points.jsonl", pointsFile)
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		version, ok := p.Payload["version"].(float64)
		if !ok {
			return nil, fmt.Errorf("read points.jsonl: point %s: version is %v, want a number", p.ID, p.Payload["version"])
		}
		p.Payload["version"] = int64(version)
	}
	return points, nil
}

// Questions returns the questions of all users.
func Questions() ([]Question, error) {
	return decodeLines[Question]("questions.jsonl", questionsFile)
}

func decodeLines[T any](name, file string) ([]T, error) {
	lines := splitLines(file)
	values := make([]T, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &values[i]); err != nil {
			return nil, fmt.Errorf("read %s line %d: %w", name, i+1, err)
		}
	}
	return values, nil
}

func splitLines(file string) []string {
	return strings.Split(strings.TrimSuffix(file, "\n"), "\n")
}
