package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// vector is one embedding of an answer: an array of numbers, or base64 of little-endian 32-bit floats.
type vector []float32

// UnmarshalJSON reads either form. It gets valid JSON.
func (v *vector) UnmarshalJSON(data []byte) error {
	var err error
	switch {
	case data[0] == '"':
		*v, err = fromBase64(data)
	case data[0] == '[':
		*v, err = fromNumbers(data[1 : len(data)-1])
	default:
		err = fmt.Errorf("embedding %s: want an array of numbers or base64", shorten(string(data)))
	}
	return err
}

func fromBase64(data []byte) (vector, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	if len(raw)%4 != 0 {
		return nil, fmt.Errorf("embedding: base64 of %d bytes: want a multiple of 4", len(raw))
	}
	if len(raw)/4 > MaxDimension {
		return nil, errTooManyElements
	}
	v := make(vector, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v, nil
}

var errTooManyElements = fmt.Errorf("embedding has more than %d elements", MaxDimension)

// fromNumbers reads what stands between the brackets. Each element must be a number: null, which a JSON decoder takes for 0,
// is none.
func fromNumbers(data []byte) (vector, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return vector{}, nil
	}
	n := bytes.Count(data, []byte{','}) + 1
	if n > MaxDimension {
		return nil, errTooManyElements
	}
	v := make(vector, 0, n)
	for element := range bytes.SplitSeq(data, []byte{','}) {
		text := string(bytes.TrimSpace(element))
		f, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return nil, fmt.Errorf("embedding[%d] %q: want a number of 32 bits", len(v), shorten(text))
		}
		v = append(v, float32(f))
	}
	return v, nil
}

// check wants a vector that has a direction.
func (v vector) check() error {
	if len(v) == 0 {
		return errors.New("embedding is empty")
	}
	var any bool
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("embedding[%d] is %v: want a finite number", i, x)
		}
		any = any || x != 0
	}
	if !any {
		return fmt.Errorf("embedding of %d elements is all zero", len(v))
	}
	return nil
}
