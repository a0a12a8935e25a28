package feed

// Names on the wire, part of the event contract.
const (
	EventStream   = "MEMORY_EVENTS"
	EventSubjects = "memory.events.>"
	DeadStream    = "MEMORY_DEAD"
	DeadSubjects  = "memory.dead.>"
	Durable       = "kith-projector" // the consumer on EventStream

	deadPrefix = "memory.dead."
)
