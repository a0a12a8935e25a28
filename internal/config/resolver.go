package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// fileResolver feeds kong from a JSON object whose keys are flag names. The environment wins over it, which kong alone
// would not do.
type fileResolver struct {
	path   string
	values map[string]any
}

// FileResolver reads the configuration file. Errors name the file and, for a value of the wrong kind, the key.
func FileResolver(path string) (kong.Resolver, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	r := fileResolver{path: path, values: map[string]any{}}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&r.values); err != nil {
		return nil, fmt.Errorf("read configuration %s: want a JSON object of settings: %w", path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read configuration %s: text after the JSON object", path)
	}
	return r, nil
}

// Validate refuses keys that no command has a flag for.
func (r fileResolver) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, group := range app.AllFlags(false) {
		for _, f := range group {
			known[f.Name] = true
		}
	}
	var unknown []string
	for key := range r.values {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("configuration %s: unknown settings: %s", r.path, strings.Join(unknown, ", "))
	}
	return nil
}

// Resolve returns the file's value for a flag that the environment does not set.
func (r fileResolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	raw, ok := r.values[flag.Name]
	if !ok {
		return nil, nil
	}
	if err := checkKind(flag.Target.Type(), raw); err != nil {
		return nil, fmt.Errorf("configuration %s: %s: %w", r.path, flag.Name, err)
	}
	text, err := flagText(raw)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %s: %w", r.path, flag.Name, err)
	}
	return text, nil
}

// checkKind refuses a JSON value of another kind than the setting's. A string stands for anything: it is what the command
// line has.
func checkKind(target reflect.Type, raw any) error {
	for target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	var ok bool
	switch raw.(type) {
	case string:
		ok = true
	case json.Number:
		ok = target.Kind() >= reflect.Int && target.Kind() <= reflect.Float64 && target != reflect.TypeFor[time.Duration]()
	case bool:
		ok = target.Kind() == reflect.Bool
	case []any:
		ok = target.Kind() == reflect.Slice
	case map[string]any:
		ok = target.Kind() == reflect.Map
	}
	if !ok {
		return fmt.Errorf("value %v: want a %s", raw, target)
	}
	return nil
}

// flagText writes a JSON value the way it would stand on the command line.
func flagText(raw any) (string, error) {
	switch v := raw.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, err := flagText(item)
			if err != nil {
				return "", err
			}
			items[i] = text
		}
		return strings.Join(items, ","), nil
	case map[string]any:
		items := make([]string, 0, len(v))
		for key, item := range v {
			text, err := flagText(item)
			if err != nil {
				return "", err
			}
			items = append(items, key+"="+text)
		}
		slices.Sort(items)
		return strings.Join(items, ","), nil
	default:
		return "", fmt.Errorf("value %v: want a string, number, boolean, list or object", raw)
	}
}
