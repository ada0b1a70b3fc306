// Package webhook delivers events to the endpoints of organisations. The rules,
// and what waits to be delivered, are package admin's: this package signs, sends
// and says how it went.
//
//	dispatch.go  Dispatcher: takes what is due, attempts it, settles it
//	message.go   the body of a message, its headers and its signature
//	send.go      Sender: one request to an endpoint, by the rules of addresses
//
// An event is delivered at least once, under one id, and in order for its
// resource: whoever makes an attempt has the queue of endpoint and resource for a
// minute, and what an attempt does to the queue is one transaction. A process that
// dies between the two has it attempted again.
package webhook
