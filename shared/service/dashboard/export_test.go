package dashboard

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Route is a row of the table of pages and forms.
type Route struct {
	Method, Path string
	Action       admin.Action
}

// Routes is the table.
func Routes(t *testing.T) []Route {
	t.Helper()
	var all []Route
	for _, r := range (&Dashboard{}).routes() {
		all = append(all, Route{r.method, r.path, r.action})
	}
	return all
}

// LocalPath is localPath.
func LocalPath(next string) string { return localPath(next) }
