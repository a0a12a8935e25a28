package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kithgraph/kith/internal/server"
)

const embedKey = "sk-open-sesame"

// wordModel is an embeddings endpoint: a text's vector counts its words, each in the place its hash gives it.
type wordModel struct {
	dimension int
	sync.Mutex
	seen []string // texts it was asked for
}

func (m *wordModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	if r.Header.Get("Authorization") != "Bearer "+embedKey {
		http.Error(w, "wrong key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if slices.ContainsFunc(in.Input, func(text string) bool { return strings.Contains(text, "unspeakable") }) {
		http.Error(w, "input has no tokens", http.StatusBadRequest)
		return
	}
	m.Lock()
	m.seen = append(m.seen, in.Input...)
	m.Unlock()
	var items []string
	for i, text := range in.Input {
		v := make([]float32, m.dimension)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(word)) // cannot fail
			v[int(h.Sum32())%m.dimension]++
		}
		data, err := json.Marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		items = append(items, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, data))
	}
	fmt.Fprintf(w, `{"model":%q,"data":[%s]}`, in.Model, strings.Join(items, ","))
}

// Points without vectors are embedded when they are published, texts when they are searched for; the data directory remembers
// by which model, and another one is refused until it is accepted.
func TestTextsAreEmbedded(t *testing.T) {
	model := &wordModel{dimension: 64}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	dir := t.TempDir()
	settings := []string{"KITH_EMBED_URL=" + endpoint.URL, "KITH_EMBED_MODEL=words-64", "KITH_EMBED_KEY=" + embedKey}
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	points := filepath.Join(t.TempDir(), "points.jsonl")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(points, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(
		`{"user_id": "ann", "id": "tea", "payload": {"content": "ann drinks green tea"}}`,
		`{"user_id": "ann", "id": "bad", "payload": {"content": "an unspeakable word"}}`,
		`{"user_id": "ann", "id": "none", "payload": {}}`,
		`{"user_id": "ann", "id": "dog", "payload": {"content": "ann walks the dog"}}`,
	)
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "publish", "--points", points)
	if code != exitFailed || !strings.Contains(out, "stored 2 points") || !strings.Contains(out, "line 2: embeddings endpoint refuses") ||
		!strings.Contains(out, "line 3: payload.content, for want of a vector: text cannot be embedded: it is empty") {
		t.Errorf("%d %s%s: want two points stored and two named", code, out, errs)
	}

	p, cl := serve(t, dir, settings...)
	k := 1
	answer, err := cl.search(t.Context(), server.SearchRequest{UserID: "ann", Text: "which tea", K: &k})
	if err != nil || answer.Recall != "dense" || len(answer.Results) != 1 || answer.Results[0].ID != "tea" {
		t.Errorf("%+v, %v: want the tea by its vector", answer, err)
	}
	if !strings.Contains(p.log.String(), "embedded by "+endpoint.URL+"/v1/embeddings, model words-64") {
		t.Errorf("the banner does not say who embeds:\n%s", p.log)
	}
	p.terminate(t)
	if strings.Contains(p.log.String(), embedKey) {
		t.Errorf("the key is shown:\n%s", p.log)
	}

	data, err := os.ReadFile(filepath.Join(dir, "embedding.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"the embedded store"`, `"model": "words-64"`, `"dimension": 64`, `"since": "20`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("embedding.json lacks %s:\n%s", want, data)
		}
	}

	refused := func(want string, args ...string) {
		t.Helper()
		args = append([]string{"--data-dir", dir, "--listen=127.0.0.1:0", "--nats-listen=127.0.0.1:0", "--log-level=error"}, append(args, "serve")...)
		code, out, errs := kith(t, args...)
		if code != exitUsage || !strings.Contains(errs, want) || strings.Contains(errs, embedKey) {
			t.Errorf("%v: %d %s%s: want exit %d and %q", args, code, out, errs, exitUsage, want)
		}
	}
	refused(`KITH_EMBED_MODEL "words-65": the embedded store is searched with vectors of the embedding model "words-64", 64 elements, since 20`, "--embed-model=words-65")
	refused("set KITH_EMBED_ACCEPT=words-65", "--embed-model=words-65")
	refused("KITH_EMBED_DIMENSION 32: the embedded store is searched with", "--embed-dimension=32")
	refused(`the vectors of the embedded store have 64 elements, those of the embedding model "words-64" have 32`, "--embed-dimension=32", "--embed-accept=words-64")
}

// A model that is accepted takes the place of the one that is remembered.
func TestAnAcceptedModelIsRemembered(t *testing.T) {
	model := &wordModel{dimension: 16}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	dir := t.TempDir()
	points := filepath.Join(t.TempDir(), "points.jsonl")
	if err := os.WriteFile(points, []byte(`{"user_id": "ann", "id": "tea", "payload": {"content": "green tea"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	publish := func(model, accept string) (int, string) {
		code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "--embed-url", endpoint.URL, "--embed-key", embedKey,
			"--embed-model", model, "--embed-accept", accept, "--embed-passage-prefix=passage: ", "publish", "--points", points)
		return code, out + errs
	}
	for _, tc := range []struct {
		model, accept string
		code          int
	}{{"one", "", exitOK}, {"two", "", exitUsage}, {"two", "other,two", exitOK}, {"two", "", exitOK}, {"one", "", exitUsage}} {
		if code, out := publish(tc.model, tc.accept); code != tc.code {
			t.Errorf("%+v: %d %s", tc, code, out)
		}
	}
	if want := "passage: green tea"; len(model.seen) != 3 || model.seen[0] != want {
		t.Errorf("asked for %q: want %q three times", model.seen, want)
	}
}

func TestConfigShowsTheEndpoint(t *testing.T) {
	t.Setenv("KITH_EMBED_KEY", embedKey)
	code, out, errs := kith(t, "--embed-url=https://me:secret@embed.test/v1", "--embed-model=m", "--embed-dimension=384", "config")
	flat := strings.Join(strings.Fields(out), " ")
	if code != exitOK || strings.Contains(out, embedKey) || strings.Contains(out, "secret@") {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	for _, want := range []string{
		"embed-url KITH_EMBED_URL flag https://me:***@embed.test/v1", "embed-key KITH_EMBED_KEY environment ***",
		"embed-dimension KITH_EMBED_DIMENSION flag 384", "embed-timeout KITH_EMBED_TIMEOUT default 5s",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}
