package projector

// UserForgotten says that nothing of the user stays that is not later than this event. It needs the event's time.
type UserForgotten struct{}

// Type returns [TypeUserForgotten].
func (UserForgotten) Type() Type { return TypeUserForgotten }

func decodeUserForgotten(*decoding) (Data, error) { return UserForgotten{}, nil }

func (UserForgotten) validate(Event) error { return nil }

func (UserForgotten) wire(userID string) any {
	return struct {
		UserID string `json:"user_id"`
	}{userID}
}
