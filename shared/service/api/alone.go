package api

import (
	"log/slog"
	"net/http"
)

// Alone answers one operation, by its name, as the Lambda function of that
// operation does. Any other request gets a JSON 404, and so does every request
// if no operation has this name.
func Alone(o Options, name string) http.Handler {
	s := newServer(o)
	var only []operation
	for _, op := range operations() {
		if op.name == name {
			only = append(only, op)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, only) })
}

// DocumentHandler answers GET /openapi.json with the OpenAPI document. Of every other
// request it answers what Handler answers where no operation is: 405 with Allow on a path
// that other methods have, else 404. It runs no operation, and needs no options but those
// for the log.
func DocumentHandler(o Options) http.Handler {
	s := newServer(o)
	all := append(operations(), documentOperation())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.EscapedPath() == documentPath {
			id := s.NewRequestID()
			s.Annotate(r.Context(), slog.String("request", id))
			w.Header().Set(HeaderRequestID, id)
			writeDocument(w)
			return
		}
		var others []operation
		for _, op := range all {
			if op.method != r.Method {
				others = append(others, op)
			}
		}
		s.serve(w, r, others)
	})
}

const documentPath = "/openapi.json"

// documentOperation has the method and the path of the document, and answers nothing.
func documentOperation() operation {
	return operation{method: http.MethodGet, path: documentPath}
}
