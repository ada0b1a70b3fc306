package reviews

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// TestSteps: the step needs the table and the bucket of sources, and no secret.
func TestSteps(t *testing.T) {
	env := map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
		config.Table: "records", config.ExportsBucket: "exports",
	}
	for _, c := range []struct{ name, value, want string }{
		{config.ExportsBucket, "exports", config.SourcesBucket + ": must be set"},
		{config.SourcesBucket, "sources", ""},
	} {
		env[c.name] = c.value
		w, steps, err := Steps(&cloud.Function{Getenv: func(name string) string { return env[name] }})
		if c.want != "" && (err == nil || err.Error() != c.want) || c.want == "" && (err != nil || steps == nil || w.Secrets != nil) {
			t.Errorf("with %s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}
