package api

import (
	_ "embed"
	"net/http"
)

// document is the OpenAPI document of this API.
//
//go:embed openapi.json
var document []byte

func writeDocument(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(document)
}
