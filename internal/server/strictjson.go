package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/graphstore"
)

// strictJSON is the JSON of requests. The standard decoder takes the last of two equal keys and matches keys in any case,
// so a guard in front of the service that reads user_id as it stands could let through a request that means another
// user. Both are refused.
func strictJSON() huma.Format {
	f := huma.DefaultJSONFormat
	f.Unmarshal = func(data []byte, v any) error {
		if err := checkKeys(data); err != nil {
			return err
		}
		return json.Unmarshal(data, v)
	}
	return f
}

// checkKeys refuses invalid UTF-8, a key that stands twice in one object, and top-level keys in upper case: the names of
// the API are lower case, those inside a filter are the payload's.
func checkKeys(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("body is not valid UTF-8")
	}
	w := keyWalk{dec: json.NewDecoder(bytes.NewReader(data))}
	return w.value("body")
}

// maxRequestDepth is the deepest nesting of a request; a filter needs three levels.
const maxRequestDepth = 32

type keyWalk struct {
	dec   *json.Decoder
	depth int
}

func (w *keyWalk) value(path string) error {
	token, err := w.dec.Token()
	if err != nil {
		return syntax(err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if w.depth++; w.depth > maxRequestDepth {
		return fmt.Errorf("%s: nested deeper than %d levels", graphstore.Shorten(path), maxRequestDepth)
	}
	defer func() { w.depth-- }()
	if open == '{' {
		err = w.object(path)
	} else {
		err = w.array(path)
	}
	if err != nil {
		return err
	}
	_, err = w.dec.Token() // the closing one
	return syntax(err)
}

func (w *keyWalk) object(path string) error {
	seen := map[string]struct{}{}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return syntax(err)
		}
		key, _ := token.(string) // inside an object nothing else stands here
		if _, dup := seen[key]; dup {
			return fmt.Errorf("%s: key %s stands twice: want each key once", path, graphstore.Shorten(key))
		}
		seen[key] = struct{}{}
		if w.depth == 1 && key != strings.ToLower(key) {
			return fmt.Errorf("%s: key %s: field names are lower case", path, graphstore.Shorten(key))
		}
		if err := w.value(path + "." + key); err != nil {
			return err
		}
	}
	return nil
}

func (w *keyWalk) array(path string) error {
	for w.dec.More() {
		if err := w.value(path); err != nil {
			return err
		}
	}
	return nil
}

// syntax names the end of a body that is cut off.
func syntax(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("unexpected end of JSON input")
	}
	return err
}
