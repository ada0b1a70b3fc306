// Package model asks language models through the Messages API, the one wire
// format that its vendor, Amazon Bedrock and servers in closed networks
// (llama.cpp, Ollama, vLLM) all speak.
//
//	wire.go    Request, Message, Block, Tool: what is asked, and its JSON form
//	answer.go  Answer, Usage: what is answered, put together from its events
//	events.go  server-sent events
//	client.go  Client: one request, its attempts, and its stream
//	error.go   Error: what went wrong, and what of it may be shown
//	table.go   Table: which model a name such as "fast" means, its limits and prices
//
// An answer is complete or an error: if a stream breaks off, stalls or is invalid, the
// request is made again, and nothing of the stream is kept but its known usage.
//
// Facts about the protocol are from the vendor's documentation, Claude API, as of
// November 2026: "Streaming messages" (events, cumulative usage,
// errors within streams), "Errors" (types and status codes), "Stop reasons",
// "Prompt caching" (order of a prompt, four breakpoints, blocks that can't
// carry one), "Fine-grained tool streaming" (arguments that are not JSON) and
// "Versions". Amazon Bedrock answers the same requests with the same streams
// below /anthropic of its endpoints bedrock-runtime, where they are signed for
// the service bedrock, and bedrock-mantle, where they are signed for that name
// (Bedrock User Guide, "Inference using Anthropic Messages API"): an address and
// a signature, see [Options.Sign]. Its older InvokeModelWithResponseStream,
// which has a binary framing of its own, is not spoken.
package model
