// Package modeltest is a model for tests: a server that speaks the Messages API
// with streams and answers from a script.
//
//	server.go  Server, Handler: listens, keeps what was asked, sends the answers
//	step.go    Step: one answer of the script, or a way to fail
//	check.go   what the API would refuse, and prompts that a cache can't know
//	cache.go   the tokens of a prompt, by what its cache would hold
//
// A test writes
//
//	s := modeltest.New(t,
//		modeltest.Overloaded().Times(2),
//		modeltest.Calls(modeltest.Call{Name: "read", Input: map[string]any{"path": "index.mdx"}}),
//		modeltest.Text("Done."),
//	)
//	c, err := model.New(model.Options{Base: s.URL})
//
// and other programs serve a Handler, which needs no test.
package modeltest
