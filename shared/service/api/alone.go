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

// DocumentHandler answers every request with the OpenAPI document. Of the
// options it needs none but those for the log.
func DocumentHandler(o Options) http.Handler {
	s := newServer(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := s.NewRequestID()
		s.Annotate(r.Context(), slog.String("request", id))
		w.Header().Set(HeaderRequestID, id)
		writeDocument(w)
	})
}
