package eventdoc

import "fmt"

// The names of the files.
const (
	EventsFile   = "events.schema.json"
	AsyncAPIFile = "asyncapi.json"
	PageFile     = "README.md"
)

// Files returns the text of every file by name.
func Files() (map[string][]byte, error) {
	events, err := Events()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{PageFile: page()}
	for name, doc := range map[string]any{EventsFile: events, AsyncAPIFile: AsyncAPI()} {
		if files[name], err = indented(doc); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return files, nil
}
