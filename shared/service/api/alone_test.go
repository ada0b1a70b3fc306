package api_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/api"
)

func TestAloneAnswersItsOperationOnly(t *testing.T) {
	w := newWorld(t)
	for _, route := range api.Routes(w.options) {
		h := api.Alone(w.options, route.Operation)
		for _, other := range api.Routes(w.options) {
			res := httptest.NewRecorder()
			h.ServeHTTP(res, httptest.NewRequest(other.Method, other.Path, nil))
			want := http.StatusNotFound
			switch {
			case other.Operation == route.Operation:
				want = http.StatusUnauthorized // no key: the operation itself says so
			case other.Path == route.Path:
				want = http.StatusMethodNotAllowed
			}
			if res.Code != want {
				t.Errorf("%s alone answers %s with %d, want %d", route.Operation, other.Operation, res.Code, want)
			}
		}
	}
	res := httptest.NewRecorder()
	api.Alone(w.options, "getNothing").ServeHTTP(res, httptest.NewRequest("GET", "/", nil))
	if res.Code != http.StatusNotFound {
		t.Errorf("an operation that there is not answers %d", res.Code)
	}
}

func TestDocumentHandler(t *testing.T) {
	w := newWorld(t)
	res := httptest.NewRecorder()
	api.DocumentHandler(w.options).ServeHTTP(res, httptest.NewRequest("GET", "/openapi.json", nil))
	if res.Code != http.StatusOK || res.Header().Get(api.HeaderRequestID) == "" || !bytes.Equal(res.Body.Bytes(), openapi(t)) {
		t.Errorf("got %d with %d bytes", res.Code, res.Body.Len())
	}
	// Requests that no function takes come here on AWS: the answer is the local one.
	whole, alone := api.Handler(w.options), api.DocumentHandler(api.Options{})
	paths := []string{"/openapi.json", "/", "/nothing", "/v1/static-export", "/v1/static-export/jobs/"}
	methods := []string{"HEAD", "OPTIONS", "PUT", "PATCH"}
	has := map[string]bool{} // methods that functions answer
	for _, route := range api.Routes(w.options) {
		paths = append(paths, route.Path)
		has[route.Method+" "+route.Path] = true
	}
	for _, path := range paths {
		for _, method := range methods {
			if has[method+" "+path] {
				continue
			}
			want, got := httptest.NewRecorder(), httptest.NewRecorder()
			whole.ServeHTTP(want, httptest.NewRequest(method, path, nil))
			alone.ServeHTTP(got, httptest.NewRequest(method, path, nil))
			if got.Code != want.Code || got.Header().Get("Allow") != want.Header().Get("Allow") || got.Body.String() != want.Body.String() {
				t.Errorf("%s %s: %d, Allow %q, %s; want %d, Allow %q, %s", method, path,
					got.Code, got.Header().Get("Allow"), got.Body, want.Code, want.Header().Get("Allow"), want.Body)
			}
		}
	}
	res = httptest.NewRecorder()
	alone.ServeHTTP(res, httptest.NewRequest("GET", "/v1/organisation", nil))
	if res.Code != http.StatusNotFound {
		t.Errorf("an operation of another function answers %d", res.Code)
	}
}
