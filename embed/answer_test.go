package embed

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func base64Of(v []float32) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// The forms in which endpoints answer two texts. [1, -2] in base64: 1 is 0x3f800000 and -2 is 0xc0000000, bytes reversed:
// 00 00 80 3f 00 00 00 c0.
func TestAnswersOfEveryForm(t *testing.T) {
	for name, body := range map[string]string{
		"numbers":          `{"data":[{"index":0,"embedding":[1,-2]},{"index":1,"embedding":[0.5,0]}]}`,
		"other order":      `{"data":[{"index":1,"embedding":[0.5,0]},{"index":0,"embedding":[1,-2]}]}`,
		"base64":           `{"data":[{"index":0,"embedding":"AACAPwAAAMA="},{"index":1,"embedding":"AAAAPwAAAAA="}]}`,
		"one of each":      `{"data":[{"index":0,"embedding":"AACAPwAAAMA="},{"index":1,"embedding":[5e-1,0.0]}]}`,
		"without indexes":  `{"data":[{"embedding":[1,-2]},{"embedding":[0.5,0]}]}`,
		"spaces":           "{ \"data\" : [ { \"index\" : 0 , \"embedding\" : [ 1 ,\n\t-2 ] } , { \"index\" : 1 , \"embedding\" : [ 0.5 , 0 ] } ] }\n",
		"model and object": `{"object":"list","model":"x","data":[{"object":"embedding","index":0,"embedding":[1,-2]},{"index":1,"embedding":[0.5,0]}],"usage":null}`,
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		got, err := c.EmbedAll(context.Background(), []string{"one", "two"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([][]float32{{1, -2}, {0.5, 0}}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if d, _ := c.Known(); d != 2 {
			t.Errorf("%s: dimension %d: want that of the answer", name, d)
		}
	}
}

// Answers to two texts that are none. Each error has its kind and names what is wrong.
func TestBadAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		kind   error
		want   string
	}{
		"no text":             {200, ``, ErrBadAnswer, "no text"},
		"HTML":                {200, `<html>welcome</html>`, ErrBadAnswer, "<html>welcome"},
		"cut off":             {200, `{"data":[{"index":0,`, ErrBadAnswer, "unexpected end"},
		"list":                {200, `[[1,2],[3,4]]`, ErrBadAnswer, "read answer"},
		"error with 200":      {200, `{"error":{"message":"model is loading"}}`, ErrBadAnswer, "model is loading"},
		"null":                {200, `null`, ErrBadAnswer, "data has 0 embeddings: want 2"},
		"one too few":         {200, `{"data":[{"index":0,"embedding":[1,2]}]}`, ErrBadAnswer, "data has 1 embeddings: want 2"},
		"one too many":        {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`, ErrBadAnswer, "data has 3 embeddings"},
		"index twice":         {200, `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "data[1].index 1: is there twice"},
		"index out of range":  {200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, ErrBadAnswer, "data[1].index 2: want 0 to 1"},
		"index negative":      {200, `{"data":[{"index":-1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "index -1"},
		"index of some":       {200, `{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}`, ErrBadAnswer, "some have none"},
		"index a fraction":    {200, `{"data":[{"index":0.5,"embedding":[1]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "read answer"},
		"no embedding":        {200, `{"data":[{"index":0,"embedding":[1]},{"index":1}]}`, ErrBadAnswer, "data[1] has no embedding"},
		"embedding null":      {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":null}]}`, ErrBadAnswer, "data[1] has no embedding"},
		"embedding number":    {200, `{"data":[{"index":0,"embedding":1},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "want an array"},
		"embedding nested":    {200, `{"data":[{"index":0,"embedding":[[1]]},{"index":1,"embedding":[[1]]}]}`, ErrBadAnswer, "want a number"},
		"embedding empty":     {200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, ErrBadAnswer, "embedding is empty"},
		"element null":        {200, `{"data":[{"index":0,"embedding":[null,1]},{"index":1,"embedding":[1,2]}]}`, ErrBadAnswer, `embedding[0] "null": want a number`},
		"element text":        {200, `{"data":[{"index":0,"embedding":["1",1]},{"index":1,"embedding":[1,2]}]}`, ErrBadAnswer, "want a number"},
		"element too large":   {200, `{"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "want a number of 32 bits"},
		"NaN":                 {200, `{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "read answer"},
		"NaN in base64":       {200, `{"data":[{"index":0,"embedding":"` + base64Of([]float32{1, float32(math.NaN())}) + `"},{"index":1,"embedding":[1,2]}]}`, ErrBadAnswer, "embedding[1] is NaN"},
		"infinity in base64":  {200, `{"data":[{"index":0,"embedding":"` + base64Of([]float32{float32(math.Inf(-1))}) + `"},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "is -Inf"},
		"base64 of 3 bytes":   {200, `{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "base64 of 3 bytes"},
		"not base64":          {200, `{"data":[{"index":0,"embedding":"!"},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "base64"},
		"all zero":            {200, `{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,2]}]}`, ErrBadAnswer, "all zero"},
		"two dimensions":      {200, `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`, ErrBadAnswer, "embeddings of 2 and of 3 elements"},
		"too many elements":   {200, `{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", MaxDimension) + `]},{"index":1,"embedding":[1]}]}`, ErrBadAnswer, "more than 65536 elements"},
		"huge":                {200, strings.Repeat(" ", 3*answerBytesPerText+1), ErrBadAnswer, "more than 786432 bytes for 2 texts"}, // 3 * 256 KiB: two texts and room
		"no content":          {204, ``, ErrRefused, "status 204"},
		"moved":               {301, ``, ErrRefused, "redirects are not followed"},
		"bad request":         {400, `{"error":"no such parameter"}`, ErrRefused, "no such parameter"},
		"wrong key":           {401, `who are you`, ErrRefused, "status 401: \"who are you\""},
		"unknown model":       {404, `{"error":"model not found"}`, ErrRefused, "model not found"},
		"too many requests":   {429, `slow down`, ErrUnavailable, "status 429: \"slow down\""},
		"broken":              {500, "out\x00of\nmemory", ErrUnavailable, `"out\x00of\nmemory"`},
		"behind a bad gatway": {502, ``, ErrUnavailable, "status 502: no text"},
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if tc.status == http.StatusMovedPermanently {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		})
		got, err := c.EmbedAll(context.Background(), []string{"one", "two"})
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) || got != nil {
			t.Errorf("%s: %v, %v: want %v and %q", name, got, err, tc.kind, tc.want)
			continue
		}
		var e *EndpointError
		if !errors.As(err, &e) || e.Status != tc.status || e.Model != testModel || !strings.HasSuffix(e.URL, "/v1/embeddings") {
			t.Errorf("%s: %+v: want the status %d, model and address", name, e, tc.status)
		}
		if c.Trouble() == "" && name != "all zero" && !strings.Contains(name, "base64") && name != "embedding empty" {
			t.Errorf("%s: no trouble is told of", name)
		}
	}
}

// What is wrong with the vector of one text is the error of that text alone.
func TestABadVectorFailsItsTextOnly(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[3,4]}]}`))
	}, func(c *Config) { c.Window = MaxWindow })
	calls, err := c.join(true, "none", "good")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.wait(context.Background(), calls[0]); !errors.Is(err, ErrBadAnswer) {
		t.Errorf("all zero: %v", err)
	}
	v, err := c.wait(context.Background(), calls[1])
	if diff := cmp.Diff([]float32{3, 4}, v); err != nil || diff != "" {
		t.Errorf("its neighbour: %v %s", err, diff)
	}
}

// The dimension and the model of the first answer are those of the client's life; the configured ones hold from the start.
func TestAnotherDimensionOrModel(t *testing.T) {
	var body string
	handler := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	first := `{"model":"bge-small","data":[{"index":0,"embedding":[1,2]}]}`
	for name, tc := range map[string]struct {
		change func(*Config)
		first  string // empty: not asked
		second string
		kind   error // nil: taken
		want   string
	}{
		"same":                 {nil, first, first, nil, ""},
		"longer":               {nil, first, `{"model":"bge-small","data":[{"embedding":[1,2,3]}]}`, ErrDimension, "3 elements: want 2"},
		"not as configured":    {func(c *Config) { c.Dimension = 3 }, "", first, ErrDimension, "2 elements: want 3"},
		"other model":          {nil, first, `{"model":"e5-small","data":[{"embedding":[1,2]}]}`, ErrModel, `it names "e5-small", and before it named "bge-small"`},
		"not served before":    {func(c *Config) { c.ServedAs = "e5-small" }, "", first, ErrModel, `"bge-small"`},
		"no name":              {nil, first, `{"data":[{"embedding":[1,2]}]}`, nil, ""},
		"the name as asked":    {nil, first, `{"model":"` + testModel + `","data":[{"embedding":[1,2]}]}`, nil, ""},
		"an alias":             {func(c *Config) { c.Aliases = []string{"e5-small"} }, first, `{"model":"e5-small","data":[{"embedding":[1,2]}]}`, nil, ""},
		"other before good":    {nil, `{"model":"bge-small","data":[{"embedding":[0,0]}]}`, `{"model":"e5-small","data":[{"embedding":[1,2]}]}`, nil, ""},
		"dimension before bad": {nil, `{"data":[{"embedding":[0,0,0]}]}`, first, nil, ""},
	} {
		c := serve(t, handler, func(cfg *Config) {
			if tc.change != nil {
				tc.change(cfg)
			}
		})
		if body = tc.first; body != "" {
			_, err := c.Embed(context.Background(), "one")
			if bad := strings.Contains(name, "before"); name != "not served before" && bad != (err != nil) {
				t.Errorf("%s: first: %v", name, err)
			}
		}
		body = tc.second
		_, err := c.Embed(context.Background(), "two")
		switch {
		case tc.kind == nil:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want):
			t.Errorf("%s: %v: want %v and %q", name, err, tc.kind, tc.want)
		}
	}
}
