package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kithgraph/kith/backfill"
)

// What narrows a request down, as to one user, is given with a value or left out. null, and a parameter without a value, are what a
// program sends whose variable is not set, and must not widen the request to everything.

// The bodies of requests that may be widened so.
type (
	backfillBody backfill.Request
	verifyBody   backfill.VerifyRequest
	rebuildBody  RebuildRequest
	deadWorkBody DeadWork
)

// UnmarshalJSON implements [json.Unmarshaler].
func (b *backfillBody) UnmarshalJSON(data []byte) error {
	return withoutNulls(data, (*backfill.Request)(b))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *verifyBody) UnmarshalJSON(data []byte) error {
	return withoutNulls(data, (*backfill.VerifyRequest)(b))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *rebuildBody) UnmarshalJSON(data []byte) error {
	return withoutNulls(data, (*RebuildRequest)(b))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *deadWorkBody) UnmarshalJSON(data []byte) error {
	var inner struct{ Filter json.RawMessage }
	if err := json.Unmarshal(data, &inner); err != nil {
		return err
	}
	if len(inner.Filter) > 0 {
		if err := withoutNulls(inner.Filter, &DeadFilter{}); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	return withoutNulls(data, (*DeadWork)(b))
}

// withoutNulls decodes an object none of whose fields is null.
func withoutNulls(data []byte, to any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if bytes.Equal(bytes.TrimSpace(fields[name]), []byte("null")) {
			return fmt.Errorf("%s null: want a value, or leave it out", name)
		}
	}
	return json.Unmarshal(data, to)
}

// emptyParameters returns an error for each parameter of a query that has no value.
func emptyParameters(u url.URL) []error {
	values := u.Query()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(values[name], "") {
			errs = append(errs, &huma.ErrorDetail{Location: "query." + name, Message: "expected a value, or that the parameter is left out", Value: ""})
		}
	}
	return errs
}

// Resolve implements [huma.Resolver].
func (*digestInput) Resolve(ctx huma.Context) []error { return emptyParameters(ctx.URL()) }

// Resolve implements [huma.Resolver].
func (*DeadQuery) Resolve(ctx huma.Context) []error { return emptyParameters(ctx.URL()) }
