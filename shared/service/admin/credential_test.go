package admin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func TestForgeCredentialDoesNotShowItself(t *testing.T) {
	c := admin.ForgeCredential{Username: "sesame", Token: "sesame", App: "sesame", Installation: "sesame", Key: "sesame"}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "credential", c)
	encoded, err := json.Marshal(map[string]any{"c": c, "p": &c})
	if err != nil {
		t.Fatal(err)
	}
	for how, shown := range map[string]string{
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", &c), "%#v": fmt.Sprintf("%#v", c), "%q": fmt.Sprintf("%q", c), "%x": fmt.Sprintf("%x", c),
		"within": fmt.Sprintf("%+v", struct{ C admin.ForgeCredential }{c}), "String": c.String(), "JSON": string(encoded), "log": logged.String(),
	} {
		if strings.Contains(shown, "sesame") || strings.Contains(shown, fmt.Sprintf("%x", "sesame")) {
			t.Errorf("%s shows %s", how, shown)
		}
	}
}
