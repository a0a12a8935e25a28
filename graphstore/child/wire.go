package child

import (
	"fmt"
	"math"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// protocolVersion changes with every change of the messages. Parent and child are normally the same binary, but not when
// the file of a running parent is replaced: its next child is then refused instead of misunderstood.
const protocolVersion = 3

// The environment of the child. The cookie keeps people from starting it by hand; it is no secret.
const (
	cookieKey    = "KITH_STORE_CHILD"
	cookieValue  = "graphstore"
	pluginName   = "store"
	lifelineFile = 3 // the first of exec.Cmd.ExtraFiles
)

// The methods. Apply and Build are frames up and one answer; Load is a question and frames down, the last one the answer;
// the others are a question and an answer.
const (
	serviceName      = "kith.graphstore.Store"
	methodOpen       = "/" + serviceName + "/Open"
	methodApply      = "/" + serviceName + "/Apply"
	methodLoad       = "/" + serviceName + "/Load"
	methodHead       = "/" + serviceName + "/Head"
	methodSpaces     = "/" + serviceName + "/Spaces"
	methodStats      = "/" + serviceName + "/Stats"
	methodBackup     = "/" + serviceName + "/Backup"
	methodCheckpoint = "/" + serviceName + "/Checkpoint"
	methodVerify     = "/" + serviceName + "/Verify"
	methodLeaked     = "/" + serviceName + "/Leaked"
	methodBuild      = "/" + serviceName + "/Build"
	methodStopBuild  = "/" + serviceName + "/StopBuild"
	methodClose      = "/" + serviceName + "/Close"
)

// The first byte of a frame.
const (
	frameBegin  = 'b' // of Apply and Build: what is asked for
	frameChunk  = 'c' // records
	frameCommit = 'x' // of Apply and Build: everything was sent; how many records
	frameCancel = 'q' // of Apply: the caller's context ended
	frameAnswer = 'a' // the outcome
)

// A chunk ends when it has either of these. Together with the window they bound what a load holds in memory for a reader
// that does not read.
const (
	chunkRecords = 1000
	chunkBytes   = 256 << 10
	windowBytes  = 1 << 20
	maxMessage   = math.MaxInt32
)

func handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: protocolVersion, MagicCookieKey: cookieKey, MagicCookieValue: cookieValue}
}

// message is what this package sends: bytes that it reads and writes itself.
type message struct{ data []byte }

// codec passes messages as they are and leaves those of go-plugin's own services to their codec. It is given to each
// server and call, not registered: registration is global.
type codec struct{ others encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// Name implements [encoding.CodecV2].
func (codec) Name() string { return "kith" }

// Marshal implements [encoding.CodecV2].
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ours := v.(*message); ours {
		return mem.BufferSlice{mem.SliceBuffer(m.data)}, nil
	}
	return c.others.Marshal(v)
}

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ours := v.(*message); ours {
		m.data = data.Materialize()
		return nil
	}
	return c.others.Unmarshal(data, v)
}

// cutFrame returns the kind of a frame and what follows it.
func cutFrame(m *message) (kind byte, body []byte, err error) {
	if len(m.data) == 0 {
		return 0, nil, fmt.Errorf("frame is empty")
	}
	return m.data[0], m.data[1:], nil
}

// sender and receiver are the halves of a stream, of either side.
type (
	sender   interface{ SendMsg(m any) error }
	receiver interface{ RecvMsg(m any) error }
)

var (
	_ sender   = grpc.ServerStream(nil)
	_ receiver = grpc.ClientStream(nil)
)
