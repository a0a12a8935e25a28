package wire

import (
	"strconv"
	"strings"
	"unicode"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pathStep is one step of a payload path: a key of an object, an index of an array, or all elements of an array.
type pathStep struct {
	key   string
	index int // of an array; meaningful when kind is stepIndex
	kind  stepKind
}

type stepKind int

const (
	stepKey stepKind = iota
	stepIndex
	stepAll
)

// parsePath reads `a.b[0].c[]."quoted key"`: bare keys are letters, digits, '_' and '-', anything else must be quoted and
// cannot hold a quote or a backslash.
func parsePath(text string) ([]pathStep, error) {
	key, rest, ok := cutKey(text)
	if !ok {
		return nil, badPath(text)
	}
	steps := []pathStep{{key: key}}
	for rest != "" {
		var step pathStep
		if step, rest, ok = cutStep(rest); !ok {
			return nil, badPath(text)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func badPath(text string) error {
	return status.Errorf(codes.InvalidArgument, "Invalid json path: '%s'", text)
}

func cutStep(s string) (pathStep, string, bool) {
	if rest, ok := strings.CutPrefix(s, "."); ok {
		key, rest, ok := cutKey(rest)
		return pathStep{key: key}, rest, ok
	}
	inside, rest, ok := strings.Cut(strings.TrimPrefix(s, "["), "]")
	if !ok || s[0] != '[' {
		return pathStep{}, "", false
	}
	if inside == "" {
		return pathStep{kind: stepAll}, rest, true
	}
	n, err := strconv.ParseUint(inside, 10, 31)
	return pathStep{kind: stepIndex, index: int(n)}, rest, err == nil
}

func cutKey(s string) (key, rest string, ok bool) {
	if quoted, isQuoted := strings.CutPrefix(s, `"`); isQuoted {
		key, rest, ok = strings.Cut(quoted, `"`)
		return key, rest, ok && !strings.Contains(key, `\`)
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '-'
	})
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], end > 0
}

// valuesAt returns the values at a path; an array on the way is entered only by an index or [].
func valuesAt(payload map[string]*pb.Value, path []pathStep) []*pb.Value {
	v, ok := payload[path[0].key]
	if !ok {
		return nil
	}
	return appendValues(nil, v, path[1:])
}

func appendValues(out []*pb.Value, v *pb.Value, path []pathStep) []*pb.Value {
	if len(path) == 0 {
		return append(out, v)
	}
	step, rest := path[0], path[1:]
	switch step.kind {
	case stepKey:
		if next, ok := v.GetStructValue().GetFields()[step.key]; ok {
			return appendValues(out, next, rest)
		}
	case stepIndex:
		if list := v.GetListValue().GetValues(); step.index < len(list) {
			return appendValues(out, list[step.index], rest)
		}
	case stepAll:
		for _, element := range v.GetListValue().GetValues() {
			out = appendValues(out, element, rest)
		}
	}
	return out
}
