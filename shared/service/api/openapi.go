package api

import (
	_ "embed"
	"net/http"
	"slices"
)

//go:embed openapi.json
var document []byte

// Document returns the OpenAPI document of this API.
func Document() []byte { return slices.Clone(document) }

func writeDocument(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(document)
}
