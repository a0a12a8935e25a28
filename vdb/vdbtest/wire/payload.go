package wire

import (
	"maps"

	pb "github.com/qdrant/go-client/qdrant"
)

// selectPayload returns the part of a payload that a selector asks for: all or none of it, or what lies at the included
// paths with the objects around them, or all but the excluded top-level keys and paths.
func selectPayload(payload map[string]*pb.Value, sel *pb.WithPayloadSelector) (map[string]*pb.Value, error) {
	switch opt := sel.GetSelectorOptions().(type) {
	case *pb.WithPayloadSelector_Include:
		out := map[string]*pb.Value{}
		for _, field := range opt.Include.GetFields() {
			path, err := parsePath(field)
			if err != nil {
				return nil, err
			}
			include(out, payload, path)
		}
		return out, nil
	case *pb.WithPayloadSelector_Exclude:
		out := payload
		for _, field := range opt.Exclude.GetFields() {
			path, err := parsePath(field)
			if err != nil {
				return nil, err
			}
			out = without(out, path)
		}
		return out, nil
	case *pb.WithPayloadSelector_Enable:
		if opt.Enable {
			return payload, nil
		}
	}
	return nil, nil
}

// include copies what lies at the path from src into dst. Steps into arrays take the whole array.
func include(dst, src map[string]*pb.Value, path []pathStep) {
	v, ok := src[path[0].key]
	if !ok {
		return
	}
	inner := v.GetStructValue()
	if len(path) == 1 || path[1].kind != stepKey || inner == nil {
		if len(path) == 1 || inner == nil && v.GetListValue() != nil {
			dst[path[0].key] = v
		}
		return
	}
	fields := maps.Clone(dst[path[0].key].GetStructValue().GetFields())
	if fields == nil {
		fields = map[string]*pb.Value{}
	}
	include(fields, inner.GetFields(), path[1:])
	dst[path[0].key] = pb.NewValueFromFields(fields)
}

// without returns the payload without what lies at the path.
func without(payload map[string]*pb.Value, path []pathStep) map[string]*pb.Value {
	v, ok := payload[path[0].key]
	if !ok {
		return payload
	}
	out := maps.Clone(payload)
	inner := v.GetStructValue()
	switch {
	case len(path) == 1:
		delete(out, path[0].key)
	case inner != nil && path[1].kind == stepKey:
		out[path[0].key] = pb.NewValueFromFields(without(inner.GetFields(), path[1:]))
	}
	return out
}
