package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/kithgraph/kith/internal/server"
)

// explainFlag is --explain, --explain=all or --explain=false.
type explainFlag server.Explain

// IsBool lets the flag stand without a value.
func (explainFlag) IsBool() bool { return true }

// Decode implements [kong.MapperValue].
func (f *explainFlag) Decode(ctx *kong.DecodeContext) error {
	*f = explainFlag(server.ExplainResults)
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch v := fmt.Sprint(ctx.Scan.Pop().Value); v {
	case "true":
	case "false":
		*f = explainFlag(server.ExplainNothing)
	case "all":
		*f = explainFlag(server.ExplainAll)
	default:
		return fmt.Errorf("%q: want no value, true, false or all", v)
	}
	return nil
}
