package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// rawMessage is a message as a stream has it.
type rawMessage struct {
	jetstream.RawStreamMsg
	malformed error // why its headers cannot be read; they are then missing
}

// getMessage returns the first message of a stream from seq on, or the one at seq if next is empty, else the first one on
// the subjects that next names. [jetstream.ErrMsgNotFound] if there is none, [jetstream.ErrStreamNotFound] without the
// stream.
//
// It is not the client's GetMsg, in which whatever somebody else has put into the stream ends a listing: headers that cannot
// be read are an error there, and on a stream with allow_direct a message with an empty payload and a header named Status is
// taken for an answer of the server.
func getMessage(ctx context.Context, js jetstream.JetStream, stream string, seq uint64, next string) (*rawMessage, error) {
	answer, err := request(ctx, js, "STREAM.MSG.GET."+stream, struct {
		Seq  uint64 `json:"seq"`
		Next string `json:"next_by_subj,omitempty"`
	}{seq, next})
	if err != nil {
		return nil, fmt.Errorf("read message %d of %s: %w", seq, stream, err)
	}
	return parseRaw(answer)
}

// getWithin is getMessage within the time of one question.
func getWithin(ctx context.Context, js jetstream.JetStream, stream string, seq uint64, next string) (*rawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return getMessage(ctx, js, stream, seq, next)
}

// deleteMessage deletes a message of a stream.
func deleteMessage(ctx context.Context, js jetstream.JetStream, stream string, seq uint64) error {
	_, err := request(ctx, js, "STREAM.MSG.DELETE."+stream, struct {
		Seq     uint64 `json:"seq"`
		NoErase bool   `json:"no_erase"`
	}{seq, true})
	if err != nil {
		return fmt.Errorf("delete message %d of %s: %w", seq, stream, err)
	}
	return nil
}

// eraseMessage deletes a message of a stream and overwrites its bytes on the server's disk.
func eraseMessage(ctx context.Context, js jetstream.JetStream, stream string, seq uint64) error {
	_, err := request(ctx, js, "STREAM.MSG.DELETE."+stream, struct {
		Seq uint64 `json:"seq"`
	}{seq})
	if err != nil {
		return fmt.Errorf("delete message %d of %s: %w", seq, stream, err)
	}
	return nil
}

// request asks the server's API; what it refuses is an error.
func request(ctx context.Context, js jetstream.JetStream, name string, what any) ([]byte, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	answer, err := js.Conn().RequestWithContext(ctx, apiPrefix(js)+name, body)
	if err != nil {
		return nil, err
	}
	var refused struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(answer.Data, &refused); err != nil {
		return nil, err
	}
	switch {
	case refused.Error == nil:
		return answer.Data, nil
	case refused.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, jetstream.ErrMsgNotFound
	case refused.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return nil, jetstream.ErrStreamNotFound
	default:
		return nil, refused.Error
	}
}

func parseRaw(answer []byte) (*rawMessage, error) {
	var resp struct {
		Message *struct {
			Subject string
			Seq     uint64
			Hdrs    []byte
			Data    []byte
			Time    time.Time
		}
	}
	if err := json.Unmarshal(answer, &resp); err != nil {
		return nil, err
	}
	if resp.Message == nil {
		return nil, jetstream.ErrInvalidJetStreamResponse
	}
	m := resp.Message
	raw := &rawMessage{RawStreamMsg: jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Seq, Data: m.Data, Time: m.Time}}
	if len(m.Hdrs) > 0 {
		raw.Header, raw.malformed = nats.DecodeHeadersMsg(m.Hdrs)
	}
	return raw, nil
}

// apiPrefix returns the subject before the name of a request, with a dot at its end.
func apiPrefix(js jetstream.JetStream) string {
	o := js.Options()
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	default:
		return jetstream.DefaultAPIPrefix
	}
}
