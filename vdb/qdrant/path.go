package qdrant

import (
	"slices"
	"strings"

	"github.com/kithgraph/kith/vdb"
)

// path is a [vdb.Path] that this driver reads, writes and filters by.
type path []string

func parsePath(text string) (path, error) {
	p, err := vdb.ParsePath(text)
	return path(p), err
}

// String writes the path as the configuration and, where it is expressible, the server reads it.
func (p path) String() string { return vdb.Path(p).String() }

// insideJSON reports whether the value lies inside a text that holds JSON, which this driver reads and never writes, and
// the server does not look into.
func (p path) insideJSON() bool { return slices.Contains(p, vdb.PathJSON) }

// expressible reports whether the server's path language has a spelling for the keys: it has no escapes inside quotes, and
// no word for a text that holds JSON.
func (p path) expressible() bool {
	if p.insideJSON() {
		return false
	}
	for _, key := range p {
		if strings.ContainsAny(key, `"\`) {
			return false
		}
	}
	return true
}

// covers reports whether q lies at p or inside of it.
func (p path) covers(q path) bool {
	if len(p) > len(q) {
		return false
	}
	for i, key := range p {
		if q[i] != key {
			return false
		}
	}
	return true
}

// take removes the value at the path and returns it, and the objects around it that are empty then. A value inside a JSON
// text stays in it.
func (p path) take(object map[string]any) (any, bool) {
	if p.insideJSON() {
		return vdb.Path(p).Find(object)
	}
	v, ok := object[p[0]]
	if !ok {
		return nil, false
	}
	if len(p) == 1 {
		delete(object, p[0])
		return v, true
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	taken, ok := p[1:].take(inner)
	if ok && len(inner) == 0 {
		delete(object, p[0])
	}
	return taken, ok
}

// put sets the value at the path. It reports false, and changes nothing that was there, where something else is in the
// way.
func (p path) put(object map[string]any, v any) bool {
	existing, taken := object[p[0]]
	if len(p) == 1 {
		if !taken {
			object[p[0]] = v
		}
		return !taken
	}
	inner, ok := existing.(map[string]any)
	if taken && !ok {
		return false
	}
	if !taken {
		inner = map[string]any{}
		object[p[0]] = inner
	}
	return p[1:].put(inner, v)
}
