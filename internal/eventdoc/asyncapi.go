package eventdoc

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

const (
	userParameter   = "user"
	tailParameter   = "tail"
	messageIDHeader = "Nats-Msg-Id" // the server's name for it
)

// AsyncAPI returns the AsyncAPI document of the streams, from the point of view of kith: it receives events and sends
// dead letters.
func AsyncAPI() any {
	var channels, operations, messages object
	for _, e := range contract() {
		typ := string(e.data.Type())
		tail := tailOf(typ)
		channels = append(channels, entry{tail, eventChannel(typ)})
		operations = append(operations, entry{"project." + tail, operation("receive", tail)})
		messages = append(messages, entry{typ, eventMessage(e)})
	}
	channels = append(channels, entry{"dead", deadChannel()})
	operations = append(operations, entry{"bury", operation("send", "dead")})
	messages = append(messages, entry{"dead", deadMessage()})
	return object{
		{"asyncapi", "3.0.0"},
		{"info", object{
			{"title", "Memory events"}, {"version", "1"},
			{"description", "What a memory system publishes for kith to project, and where kith puts what it cannot project. " +
				"Streams of NATS JetStream: " + feed.EventStream + " (" + feed.EventSubjects + ") and " + feed.DeadStream + " (" + feed.DeadSubjects + "). " +
				"An event on another subject under " + strings.TrimSuffix(feed.EventSubjects, ">") + " is accepted too: its payload decides."},
		}},
		{"defaultContentType", "application/json"},
		{"servers", object{{"nats", object{
			{"host", "127.0.0.1:4222"}, {"protocol", "nats"},
			{"description", "The embedded server of kith serve, as KITH_NATS_LISTEN has it by default, or the one that NATS_URL names."},
		}}}},
		{"channels", channels},
		{"operations", operations},
		{"components", object{{"messages", messages}, {"parameters", parameters()}}},
	}
}

func tailOf(typ string) string { return strings.TrimPrefix(typ, "memory.") }

func ref(path string) object { return object{{"$ref", path}} }

func parameters() object {
	return object{
		{userParameter, object{
			{"description", "The bytes of the user id in base32hex (RFC 4648), lower case, without padding. Of another user than the payload's, the event is a bad one."},
			{"examples", []string{userToken("ann")}},
		}},
		{tailParameter, object{
			{"description", "The event type without \"memory.\", or unknown."},
			{"examples", []string{tailOf(string(projector.TypeFactsWritten)), "unknown"}},
		}},
	}
}

// userToken returns the part of a subject that stands for a user.
func userToken(user string) string {
	token, _, _ := strings.Cut(strings.TrimPrefix(projector.Subject(user, projector.TypeFactDeleted), projector.SubjectPrefix), ".")
	return token
}

func eventChannel(typ string) object {
	return object{
		{"address", projector.SubjectPrefix + "{" + userParameter + "}." + tailOf(typ)},
		{"messages", object{{"event", ref("#/components/messages/" + typ)}}},
		{"parameters", object{{userParameter, ref("#/components/parameters/" + userParameter)}}},
	}
}

func operation(action, channel string) object {
	return object{{"action", action}, {"channel", ref("#/channels/" + channel)}}
}

func eventMessage(e eventType) object {
	typ := string(e.data.Type())
	return object{
		{"name", typ},
		{"summary", e.meaning},
		{"headers", headers([]header{
			{messageIDHeader, "The event's id. The stream drops a repeat within two minutes.", true},
			{"traceparent", "W3C trace context, which spans of projecting the event belong to. The name in any case.", false},
			{feed.HeaderReplayOf, "Set by kith where it publishes a dead letter again: which one. Producers leave it out.", false},
			{feed.HeaderReplayFacts, "Set by kith likewise: the places in data.facts for which it does. Producers leave it out.", false},
		})},
		{"payload", object{
			{"schemaFormat", "application/schema+json;version=draft-07"},
			{"schema", ref("./" + EventsFile + refTo(typ))},
		}},
	}
}

type header struct {
	name, text string
	required   bool
}

// headers returns the schema of headers, all of them text.
func headers(list []header) object {
	var properties object
	required := []string{}
	for _, h := range list {
		properties = append(properties, entry{h.name, object{{"type", "string"}, {"description", h.text}}})
		if h.required {
			required = append(required, h.name)
		}
	}
	return object{{"type", "object"}, {"properties", properties}, {"required", required}}
}

func deadChannel() object {
	return object{
		{"address", fmt.Sprintf("%s{%s}.{%s}", strings.TrimSuffix(feed.DeadSubjects, ">"), userParameter, tailParameter)},
		{"description", "Dead letters: what could not be projected, kept in the stream " + feed.DeadStream + ". A user that cannot be read is \"unknown\" in the subject."},
		{"messages", object{{"letter", ref("#/components/messages/dead")}}},
		{"parameters", object{
			{userParameter, ref("#/components/parameters/" + userParameter)}, {tailParameter, ref("#/components/parameters/" + tailParameter)},
		}},
	}
}

func deadMessage() object {
	return object{
		{"name", "dead"},
		{"summary", "The original, byte for byte; of a bad fact, an event of the same id, user and batch that holds this fact alone. Its own headers are kept, those of the server apart."},
		{"contentType", "application/octet-stream"},
		{"headers", headers(deadHeaders())},
	}
}

func deadHeaders() []header {
	return []header{
		{feed.HeaderReason, fmt.Sprintf("%s: it cannot be decoded or its subject names another user; %s: one fact of an event that was applied otherwise; %s: it cannot be planned; %s: the graph refuses it; %s: it failed alone too often; %s: it ran out of deliveries, because the consumer was given a limit; %s: somebody terminated it; %s: one of these two, and the event stream has it no more.",
			feed.ReasonBadEvent, feed.ReasonBadFact, feed.ReasonPlan, feed.ReasonCommit, feed.ReasonPoison, feed.ReasonExhausted,
			feed.ReasonTerminated, feed.ReasonLost), true},
		{feed.HeaderStream, "Stream of the original.", true},
		{feed.HeaderSequence, "Sequence of the original in its stream.", true},
		{feed.HeaderSubject, "Subject of the original, unless it is lost.", false},
		{feed.HeaderReceived, "When the server received the original, RFC 3339, unless it is lost.", false},
		{feed.HeaderDeliveries, "How often it was delivered.", true},
		{feed.HeaderFirstError, "Error of the first delivery that failed, at most 1 KiB.", false},
		{feed.HeaderFirstTime, "When that was, RFC 3339.", false},
		{feed.HeaderLastError, "Error of the last one, at most 1 KiB.", false},
		{feed.HeaderLastTime, "When that was, RFC 3339.", false},
		{feed.HeaderEventID, "Id of the event, if it can be read.", false},
		{feed.HeaderFactIndex, "Place of a bad fact in data.facts; not there if it is the whole event.", false},
		{feed.HeaderFactID, "Id of a bad fact, if it can be read.", false},
		{feed.HeaderOmitted, "Size of a payload that is too large beside these headers, and is not there; it is found under stream and sequence.", false},
		{messageIDHeader, "Known to the server, so that a letter is stored once.", true},
	}
}
