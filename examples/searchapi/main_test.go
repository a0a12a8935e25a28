package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// runAsMain makes the test binary act as the example.
const runAsMain = "SEARCHAPI_TEST_AS_MAIN"

const apiKey = "sesame"

func TestMain(m *testing.M) {
	if os.Getenv(runAsMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// storePoints puts three notes into the Qdrant: their cosines to [1, 0] are 0.8, 0.7 and 0.62.
func storePoints(t *testing.T, addr string, ann graphstore.Space) {
	t.Helper()
	notes, err := qdrant.New(qdrant.Config{URL: addr, APIKey: apiKey, Collection: "notes", CreateCollection: true, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	if err := notes.Upsert(t.Context(), []vdb.Point{
		{Space: ann, ID: "deploy", Vector: []float32{0.8, 0.6}, Payload: vdb.Payload{Content: "deployed the new pool on Friday"}},
		{Space: ann, ID: "lunch", Vector: []float32{0.7, 0.714}, Payload: vdb.Payload{Content: "Friday lunch is at one"}},
		{Space: ann, ID: "outage", Vector: []float32{0.62, 0.785}, Payload: vdb.Payload{Content: "bookings were down for an hour"}},
	}); err != nil {
		t.Fatal(err)
	}
}

// storeGraph writes a graph file in which the deployment caused the outage.
func storeGraph(t *testing.T, path string, ann graphstore.Space) {
	t.Helper()
	store, err := kuzu.Open(path, kuzu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	graph := live.New(store, live.Config{})
	defer graph.Close()
	if err := graph.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var changes []graphstore.Change
	for _, id := range []string{"deploy", "lunch", "outage"} {
		changes = append(changes, graphstore.PutFact(ann, graphstore.Fact{ID: id, State: graphstore.StateActive}))
	}
	changes = append(changes, graphstore.PutEdge(ann, graphstore.Edge{
		Source: "deploy", Target: "outage", Type: graphstore.Causes, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "outage"},
	}))
	if err := graph.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// startExample starts the example with a Qdrant and an embeddings endpoint, and returns its address.
func startExample(t *testing.T, qdrantAddr, embedURL, graph string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runAsMain+"=1", "QDRANT_URL="+qdrantAddr, "QDRANT_API_KEY="+apiKey, "EMBED_URL="+embedURL, "GRAPH="+graph, "LISTEN="+addr)
	cmd.Stderr = &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it serves until then
		_ = cmd.Wait()         // its status is that of a killed process
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return "http://" + addr + "/search"
}

// search asks the example and returns the status, the text, and the answer where there is one.
func search(t *testing.T, url, body string) (int, string, reader.Answer) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error(), reader.Answer{}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var a reader.Answer
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, string(data), a
}

// A text is embedded, searched in Qdrant over the wire, and ranked by the graph: the outage, caused by the note that is most
// like the question, passes lunch.
func TestSearchAPI(t *testing.T) {
	ann, err := graphstore.NewSpace("ann")
	if err != nil {
		t.Fatal(err)
	}
	server := wire.Start(t, wire.Options{APIKey: apiKey})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`) // the example may have left
	}))
	defer endpoint.Close()
	storePoints(t, server.Addr(), ann)
	graph := filepath.Join(t.TempDir(), "kith.kuzu")
	storeGraph(t, graph, ann)
	url := startExample(t, server.Addr(), endpoint.URL, graph)

	const question = `{"space": "ann", "text": "what happened on Friday?", "k": 3}`
	var status int
	var text string
	var answer reader.Answer
	for deadline := time.Now().Add(30 * time.Second); answer.Rerank.Status != reader.StatusOK; { // nothing tells when another process has loaded its graph
		if time.Now().After(deadline) {
			t.Fatalf("%d %s: want an answer that the graph has ranked", status, text)
		}
		time.Sleep(20 * time.Millisecond)
		status, text, answer = search(t, url, question)
	}
	var order []string
	for _, r := range answer.Results {
		order = append(order, r.ID)
	}
	if got := strings.Join(order, " "); got != "deploy outage lunch" || answer.Recall != reader.RecallDense {
		t.Errorf("%s by %s: want deploy, outage, lunch by vectors", got, answer.Recall)
	}
	if _, _, plain := search(t, url, `{"space": "ann", "vector": [1, 0], "graph": "off"}`); len(plain.Results) != 3 || plain.Results[1].ID != "lunch" {
		t.Errorf("%+v: want lunch second without the graph", plain.Results)
	}
	for body, want := range map[string]string{`{`: "unexpected EOF", `{"vector": [1, 0]}`: "user_id", `{"space": ""}`: "user id is empty", `{"space": "ann", "vector": [1]}`: "dimensions"} {
		if status, text, _ := search(t, url, body); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s: want 400 and %q", body, status, text, want)
		}
	}
	server.Stop()
	if status, text, _ := search(t, url, question); status != http.StatusBadGateway {
		t.Errorf("without Qdrant: %d %s: want 502", status, text)
	}
}
