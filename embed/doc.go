// Package embed turns texts into vectors by asking an OpenAI-compatible endpoint: POST /v1/embeddings, as OpenAI, vLLM,
// llama.cpp, Ollama, LM Studio and Text Embeddings Inference speak it.
//
// Guarantees:
//
//  1. One vector per text, in the order of the texts, whatever order the endpoint answers in. A vector is finite, not all
//     zero, and of the one dimension the client knows: the configured one, or that of the first answer.
//  2. Calls of [Client.Embed] that come within [Config.Window] share a request. A text that is being asked for is not asked
//     for twice, and one that was answered comes from the cache while it is in there.
//  3. No caller fails because of another: one that is cancelled leaves, and the others get their vectors; a request that
//     the endpoint refuses is asked again in halves until the text it refuses stands alone.
//  4. An embedding takes at most [Config.Timeout] and [Config.Window], waiting and retries included.
//  5. The key is in no error and no log line, also where the endpoint repeats it.
//
// What it does not do: it does not cut long texts, does not normalise vectors, and keeps nothing on disk.
package embed
