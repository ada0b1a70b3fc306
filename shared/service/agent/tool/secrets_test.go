package tool

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

const (
	lower36  = "abcdefghijklmnopqrstuvwxyz0123456789"
	letters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + lower36
	hexes    = "0123456789abcdef"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// random returns a text of n characters, the same in each run.
func random(r *rand.Rand, n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// issued are secrets as their issuers make them.
func issued() map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	w := func(n int) string { return random(r, n, letters) }
	h := func(n int) string { return random(r, n, hexes) }
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"user-7f3","name":"Ann","role":"`+strings.Repeat("admin ", 150)+`"}`)) + "." + w(43)
	return map[string]string{
		"bindery": "bnd_" + w(49), "linear": "lin_api_" + w(40), "notion": "ntn_" + w(46), "notion, old": "secret_" + w(43), "supabase": "sbp_" + h(40),
		"planetscale": "pscale_tkn_" + w(43), "atlassian": "ATATT3" + w(180), "groq": "gsk_" + w(52), "xai": "xai-" + w(80), "postman": "PMAK-" + h(24) + "-" + h(34),
		"new relic": "NRAK-" + random(r, 27, capitals), "twilio": "SK" + h(32), "mailgun": "key-" + h(32), "mailchimp": h(32) + "-us14", "heroku": "HRKU-AA" + w(58),
		"grafana": "glsa_" + w(32) + "_" + h(8), "terraform": w(14) + ".atlasv1." + w(67), "doppler": "dp.pt." + w(43), "databricks": "dapi" + h(32), "figma": "figd_" + w(40),
		"airtable": "pat" + w(14) + "." + h(64), "telegram": "7123456089:AA" + w(33), "discord": "https://discord.com/api/webhooks/1135123456078901234/" + w(68),
		"azure": "https://a.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig=" + w(43) + "%3D", "azure key": "AccountKey=" + w(86) + "==", "cloudflare": "v1.0-" + h(24) + "-" + h(146),
		"sentry": "sntrys_" + w(120), "square": "sq0csp-" + w(43), "stripe": "sk_live_" + w(24), "stripe, test": "sk_test_" + w(24), "buildkite": "bkua_" + h(40), "crates": "cio" + w(32),
		"rubygems": "rubygems_" + h(48), "pulumi": "pul-" + h(40), "fly": "fo1_" + w(43), "github": "ghp_" + w(36), "docker": "dckr_pat_" + w(27), "aws": "AKIA" + random(r, 16, capitals),
		"aws secret": `aws_secret_access_key = "` + w(40) + `"`, "jwt": token, "gitlab": "glpat-" + w(20), "npm": "npm_" + w(36), "openai": "sk-proj-" + w(74), "openrouter": "sk-or-v1-" + h(64),
		"shippo, by gitleaks": "shippo_live_" + h(40), "scalingo, by gitleaks": "tk-us-" + w(48), "dynatrace, by gitleaks": "dt0c01." + random(r, 24, capitals) + "." + random(r, 64, capitals),
	}
}

// What issuers make is refused when it is written, with its line and kind, and the
// value is in no answer.
func TestSecretsAreRefused(t *testing.T) {
	for name, value := range issued() {
		s := newSet(t, memory{"docs.json": "{}", "a.mdx": "one\n\ntwo\n"}, "", Limits{})
		for _, c := range []struct{ tool, input string }{
			{"write", `{"path": "b.mdx", "content": ` + quote("---\ntitle: B\n---\n\nUse the key "+value+" here.\n") + `}`},
			{"edit", `{"path": "a.mdx", "old": "two", "new": ` + quote("x\ny `"+value+"`") + `}`},
			{"replace", `{"find": "two", "apply": true, "replace": ` + quote(value) + `}`},
			{"finish", `{"title": "T", "summary": ` + quote("Use "+value) + `}`},
		} {
			r := s.Call(t.Context(), c.tool, json.RawMessage(c.input))
			said, _ := json.Marshal(r)
			line := map[string]string{"write": "b.mdx:5: ", "edit": "a.mdx:4: ", "replace": "a.mdx:3: ", "finish": "line 1 "}[c.tool]
			if !r.IsError || !strings.Contains(r.Text, line) || !strings.Contains(r.Text, "looks like a secret: ") || strings.Contains(string(said), value) {
				t.Errorf("%s in %s: %s", name, c.tool, said)
			}
		}
		if n := len(s.tree.Changes()); n > 0 {
			t.Errorf("%s: %d changes", name, n)
		}
		if said := Redact("I take " + value + " then."); strings.Contains(said, value) || !strings.HasPrefix(said, "I take ") {
			t.Errorf("%s: %s", name, said)
		}
		// What is on a page of the site is public, and may be written again.
		s = newSet(t, memory{"docs.json": "{}", "old.mdx": "See " + value + ".\n", ".env": "X=" + value + "\n"}, "", Limits{})
		call(t, s, "write", `{"path": "b.mdx", "content": `+quote("Use the key "+value+" here.\n")+`}`)
		// What is in a file that is not published is not.
		s = newSet(t, memory{"docs.json": "{}", ".env": "X=" + value + "\n", "x.sh": value}, "", Limits{})
		if r := s.Call(t.Context(), "write", json.RawMessage(`{"path": "b.mdx", "content": `+quote("Use the key "+value+" here.\n")+`}`)); !r.IsError {
			t.Errorf("%s from .env: %s", name, r.Text)
		}
	}
}

// Samples of issuers, placeholders and what only looks long pass.
func TestSamplesPass(t *testing.T) {
	for _, text := range []string{
		"Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30",
		"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
		"AKIAIOSFODNN7EXAMPLE and AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "sk_test_BQokikJOvBiI2HlWgH4olfQ2",
		"bnd_YOUR_KEY bnd_xxxxxxxxxxxxxxxxxxxxxxxxxxxx bnd_… ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx glpat-XXXXXXXXXXXXXXXXXXXX",
		"https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "Authorization: Bearer ${TOKEN} api_key: process.env.LINEAR_API_KEY token = os.environ[\"X\"]",
		"md5 6f1ed002ab5595859014ebf0951522d9 sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "commit 3f786850e387550fdab836ed7e6dc881de23001b",
		"postgres://user:password@localhost/x https://user:pass@host.example", "AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
	} {
		if found := secrets("a.mdx", text); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// A secret stays where it is when other lines change, and when its page moves.
func TestOldSecretsStay(t *testing.T) {
	key := issued()["github"]
	s := newSet(t, memory{"docs.json": `{"navigation": {"pages": ["g/a"]}}`, "g/a.mdx": "key " + key + "\n\nold\n"}, "", Limits{})
	call(t, s, "edit", `{"path": "g/a.mdx", "old": "old", "new": "new"}`)
	call(t, s, "move", `{"from": "g/a.mdx", "to": "h/b.mdx"}`)
	call(t, s, "edit", `{"path": "h/b.mdx", "old": "key", "new": "the key"}`)
	if r := Look(memory{"g/a.mdx": "key " + key + "\n"}, "", s.tree.Changes()); len(r.Refused) > 0 {
		t.Error(r.Refused)
	}
	if r := Look(memory{"g/a.mdx": "", "src/.env.mdx": key, "code/a.go": key}, "g", []Change{{Path: "g/c.mdx", Content: []byte(key)}}); len(r.Refused) != 1 {
		t.Errorf("a key that was never published: %v", r.Refused)
	}
}

// All rules of gitleaks can be read and compiled.
func TestLeakRules(t *testing.T) {
	rules := leakRules()
	if len(rules) < 200 {
		t.Errorf("%d rules", len(rules))
	}
	for _, r := range rules {
		if len(r.Keywords) == 0 {
			t.Errorf("%s has no words to look for it", r.ID)
		}
		r.form()
		r.path()
		for _, a := range r.Allowlists {
			a.forms()
		}
	}
}

// Files of credentials and names that begin with a dot are not read or searched. Samples
// of credentials and pages about them are.
func TestPrivateFiles(t *testing.T) {
	base := memory{"docs.json": "{}", "x/a.mdx": "needle\n"}
	for _, p := range []string{".env", "x/.env.production", ".env.example", ".npmrc", "certs/server.key", "certs/ca.pem", "id_rsa", "deploy_ed25519", ".aws/credentials",
		"prod.tfvars", "deploy/prod.env", "prod.env.local", "x/kubeconfig", "kubeconfig.yaml", "kube-config-prod.yml", "prod.kubeconfig", ".github/workflows/ci.yml", "x/.vscode/settings.json"} {
		base[p] = "needle\n"
		s := newSet(t, base, "", Limits{})
		if r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "`+p+`"}`)); !r.IsError || strings.Contains(r.Text, "needle") {
			t.Errorf("%s: %s", p, r.Text)
		}
		if r := call(t, s, "search", `{"pattern": "needle"}`); !strings.Contains(r.Text, "1 matching line") {
			t.Errorf("%s: %s", p, r.Text)
		}
	}
	for _, p := range []string{"prod.tfvars.example", "kubeconfig.mdx", "guides/kube-config.md", "server.key.md", ".well-known/agent.json", "monkey.json", "keys.yaml", "environment.yml", "prod.env.example"} {
		base[p] = "needle\n"
		call(t, newSet(t, base, "", Limits{}), "read", `{"path": "`+p+`"}`)
	}
}

// Real sites can be changed in each page, and their pages moved, without a refusal.
func TestSecretsOfRealSites(t *testing.T) {
	outside.NoRace(t, "it uses one goroutine, and takes much longer")
	short := outside.Short(t)
	for _, name := range []string{"novu", "mcp", "trigger"} {
		if short && name != "novu" {
			continue
		}
		base := folderBase(t, corpus(t, name))
		var changes []Change
		for _, p := range sortedKeys(base) {
			if text := base[p]; text != "binary" && isPage(p) && Allowed(p, "") == nil {
				changes = append(changes, Change{Path: p, Content: []byte(strings.ReplaceAll(text, ". ", ".  "))}, Change{Path: "moved/" + p, Content: []byte(text)})
			}
		}
		if r := Look(base, "", changes); len(r.Refused) > 0 || len(changes) < 100 {
			t.Errorf("%s, %d changes: %q", name, len(changes), r.Refused)
		}
	}
}
