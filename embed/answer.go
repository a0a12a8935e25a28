package embed

import (
	"encoding/json"
	"errors"
	"fmt"
)

// answer is the body of a good answer, as far as it is read.
type answer struct {
	Model string `json:"model"`
	Data  []item `json:"data"`
}

type item struct {
	Index     *int    `json:"index"`
	Embedding *vector `json:"embedding"`
}

// decodeAnswer reads an answer to n texts and returns their vectors in the texts' order, and the model's name as the
// endpoint says it. What the vectors are worth is not checked here.
func decodeAnswer(body []byte, n int) (vectors []vector, model string, err error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, "", fmt.Errorf("read answer: %w", err)
	}
	if len(a.Data) != n {
		return nil, "", fmt.Errorf("data has %d embeddings: want %d", len(a.Data), n)
	}
	vectors = make([]vector, n)
	indexed := 0
	for i, item := range a.Data {
		at := i // where no item has an index, the order is that of the texts
		if item.Index != nil {
			indexed++
			at = *item.Index
		}
		switch {
		case item.Embedding == nil:
			return nil, "", fmt.Errorf("data[%d] has no embedding", i)
		case at < 0 || at >= n:
			return nil, "", fmt.Errorf("data[%d].index %d: want 0 to %d", i, at, n-1)
		case vectors[at] != nil:
			return nil, "", fmt.Errorf("data[%d].index %d: is there twice", i, at)
		}
		vectors[at] = *item.Embedding
	}
	if indexed != 0 && indexed != n {
		return nil, "", errors.New("data: some embeddings have an index, some have none")
	}
	return vectors, a.Model, nil
}
