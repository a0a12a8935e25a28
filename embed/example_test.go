package embed_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/kithgraph/kith/embed"
)

// The endpoint answers in an order of its own; the vectors come in the order of the texts.
func ExampleClient_EmbedAll() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model":"tiny","data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`)
	}))
	defer endpoint.Close()
	client, err := embed.New(embed.Config{URL: endpoint.URL, Model: "tiny", Key: "from-a-secret-store"})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	vectors, err := client.EmbedAll(context.Background(), []string{"east", "north"})
	if err != nil {
		panic(err)
	}
	dimension, _ := client.Known()
	fmt.Println(vectors, dimension)
	// Output: [[1 0] [0 1]] 2
}

// A caller branches on the kind of an error: a text that is none is the caller's mistake, an endpoint that is away is not.
func ExampleClient_Embed() {
	client, err := embed.New(embed.Config{URL: "http://127.0.0.1:1", Model: "tiny", Attempts: 1})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	_, err = client.Embed(context.Background(), " ")
	fmt.Println(err)
	_, err = client.Embed(context.Background(), "where is everybody")
	fmt.Println(err)
	// Output:
	// text cannot be embedded: it is empty
	// embeddings endpoint is unavailable: http://127.0.0.1:1/v1/embeddings, model "tiny": dial tcp 127.0.0.1:1: connect: connection refused
}
