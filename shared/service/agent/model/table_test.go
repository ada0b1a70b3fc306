package model

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

// example returns the table of ParseTable's documentation.
func example(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(source)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			b.WriteString(text)
		} else if b.Len() > 0 {
			break
		}
	}
	return b.String()
}

// TestDocumentedTable: the example of the documentation is one.
func TestDocumentedTable(t *testing.T) {
	table, err := ParseTable([]byte(example(t)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Names(), []string{"best", "fast", "local"}) || table.Default() != "best" {
		t.Errorf("%v, %s", table.Names(), table.Default())
	}
	best, ok := table.Entry("")
	if !ok || best.Name != "best" || best.Model != "claude-sonnet-5-5" || best.Context != 1_000_000 || best.Output != 128_000 || best.Price.Output != 10 {
		t.Errorf("%+v", best)
	}
	if _, ok := table.Entry("cheap"); ok {
		t.Error("a name that is not there means something")
	}
	local, _ := table.Entry("local")
	if local.Price.Cost(Usage{1e6, 1e6, 1e6, 1e6}) != 0 || local.Server.Stall != 10*time.Minute || local.Server.Name != "local" {
		t.Errorf("%+v", local)
	}
	for name, want := range map[string]string{"best": "X-Api-Key: [k]", "local": "Anthropic-Version"} {
		e, _ := table.Entry(name)
		c, err := New(e.Server.Options("k"))
		if err != nil || !strings.Contains(strings.ReplaceAll(fmt.Sprint(c.opt.Header), ":[", ": ["), want) {
			t.Errorf("%s: %v, %+v", name, err, c)
		}
	}
}

func TestTablesAreReadStrictly(t *testing.T) {
	good := example(t)
	for _, tt := range []struct{ old, new, want string }{
		{`"default": "best"`, `"default": "worst"`, "2:14 default: names no model"},
		{`"default": "best",`, ``, `1:1 has no "default"`},
		{`"default": "best"`, `"default": 7`, "2:14 default: must be a string, not a number"},
		{`"default": "best"`, `"default": "best", "default": "best"`, "is there twice"},
		{`"default": "best"`, `"Default": "best"`, `has no "default"`},
		{`"default": "best"`, `"default": "best", "more": 1`, "2:30 more: is not known here"},
		{`"auth": "none"`, `"auth": "basic"`, "servers.local.auth: must be"},
		{`"auth": "none"`, `"auth": "none", "region": "x"`, "servers.local: must have"},
		{`"region": "eu-central-1", `, ``, "servers.bedrock: must have"},
		{`"auth": "none"`, `"auth": "none", "key": "x"`, "servers.local.key: is not known here"},
		{`"auth": "none"`, `"auth": "none", "headers": {"authorization": "x"}`, "servers.local.headers.authorization: is a key"},
		{`"auth": "none"`, `"auth": "none", "headers": {"anthropic-version": "x"}`, `is the member "version"`},
		{`"auth": "none"`, `"auth": "none", "headers": {"x": 1}`, "servers.local.headers.x: must be a string"},
		{`"auth": "none"`, `"auth": "none", "body": {"model": 1}`, "servers.local: can't be used"},
		{`"auth": "none"`, `"auth": "none", "body": []`, "servers.local.body: must be an object, not an array"},
		{`"allowHTTP": true, `, ``, "servers.local: can't be used: a model's address with http://"},
		{`"allowHTTP": true`, `"allowHTTP": 1`, "servers.local.allowHTTP: must be a boolean"},
		{`"http://10.0.0.7:8080"`, `"http://me:pass@10.0.0.7:8080"`, "servers.local: can't be used"},
		{`"http://10.0.0.7:8080"`, `"http://\u202e"`, "servers.local.base: must be"},
		{`600`, `0`, "servers.local.stallSeconds: must be a whole number from 1 to 3600"},
		{`600`, `1.5`, "servers.local.stallSeconds: must be a whole number"},
		{`"local": {"base"`, `"LOCAL": {"base"`, "servers.LOCAL: must be named"},
		{`"server": "local"`, `"server": "remote"`, "models.local.server: names no server"},
		{`"server": "local", `, ``, `models.local: has no "server"`},
		{`8192`, `8192, "pictures": "yes"`, "models.local.pictures: must be a boolean"},
		{`8192`, `65537`, "models.local.output: must not be over the context"},
		{`8192`, `-1`, "models.local.output: must be a whole number"},
		{`1.25`, `1.1234567`, "models.fast.price.cacheWrite: must be US dollars"},
		{`1.25`, `-1`, "models.fast.price.cacheWrite: must be US dollars"},
		{`1.25`, `1e3`, "models.fast.price.cacheWrite: must be US dollars"},
		{`"cacheWrite": 1.25, `, ``, `models.fast.price: has no "cacheWrite"`},
		{`"cacheWrite": 1.25, `, `"cacheWrite": 1.25, "cached": 1, `, "models.fast.price.cached: is not known here"},
		{`{`, `[`, "2:12 is not valid JSON"},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if bad == good {
			t.Fatalf("%q is not in the example", tt.old)
		}
		_, err := ParseTable([]byte(bad))
		e, ok := errors.AsType[*basejson.Error](err)
		if !ok {
			t.Errorf("%s: %v", tt.new, err)
			continue
		}
		got := fmt.Sprintf("%d:%d %s", e.Line, e.Column, e)
		if e.Line == 0 || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.new, got, tt.want)
		}
	}
	seeing, err := ParseTable([]byte(strings.Replace(good, `8192`, `8192, "pictures": true`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"local": true, "best": false} {
		if e, ok := seeing.Entry(name); !ok || e.Pictures != want {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for _, bad := range []string{``, `[]`, `null`, `{"default": "a", "servers": {}, "models": {}}`, strings.Repeat("[", 1000)} {
		if _, err := ParseTable([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// TestTableSendsWhatItSays: headers and members of a server are in its requests.
func TestTableSendsWhatItSays(t *testing.T) {
	text := strings.Replace(example(t), `"auth": "x-api-key"`,
		`"auth": "bearer", "path": "/messages", "version": "2026-10-21", "headers": {"x-team": "docs"}, "body": {"thinking": {"type": "adaptive"}, "n": [1, 2]}`, 1)
	table, err := ParseTable([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := table.Entry("fast")
	c, err := New(e.Server.Options("k"))
	if err != nil {
		t.Fatal(err)
	}
	h := c.opt.Header
	if h.Get("Authorization") != "Bearer k" || h.Get("X-Team") != "docs" || h.Get("Anthropic-Version") != "2026-10-21" || h.Get("X-Api-Key") != "" ||
		c.url != "https://api.anthropic.com/messages" || string(c.opt.Body["thinking"]) != `{"type": "adaptive"}` || string(c.opt.Body["n"]) != "[1, 2]" {
		t.Errorf("%+v, %s", h, c.opt.Body)
	}
}

func TestCost(t *testing.T) {
	sonnet := Price{2, 2.5, 0.2, 10}
	for _, tt := range []struct {
		price Price
		usage Usage
		want  int64
	}{
		{sonnet, Usage{}, 0},
		{sonnet, Usage{Input: 1}, 2},
		{sonnet, Usage{CacheWrite: 1}, 3}, // 2.5, rounded up
		{sonnet, Usage{CacheWrite: 2}, 5},
		{sonnet, Usage{CacheRead: 5}, 1},
		{sonnet, Usage{1_000_000, 1_000_000, 1_000_000, 1_000_000}, 14_700_000},
		{Price{Input: 0.1}, Usage{Input: 30}, 3}, // not 4, as of 3.0000000000000004
		{Price{Input: 0.000001}, Usage{Input: 1}, 1},
		{Price{Input: 0.000001}, Usage{Input: 1_000_000}, 1},
		{Price{999999, 999999, 999999, 999999}, Usage{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64},
	} {
		if got := tt.price.Cost(tt.usage); got != tt.want {
			t.Errorf("%+v for %+v: %d, want %d", tt.price, tt.usage, got, tt.want)
		}
	}
	// Against fractions, for any price of six decimals.
	for range 2000 {
		micro := rand.Int64N(1_000_000_000)
		tokens := rand.Int64N(1 << 40)
		exact := new(big.Rat).Mul(big.NewRat(micro, 1_000_000), new(big.Rat).SetInt64(tokens))
		want := new(big.Int).Div(new(big.Int).Add(exact.Num(), new(big.Int).Sub(exact.Denom(), big.NewInt(1))), exact.Denom())
		if got := (Price{Output: float64(micro) / 1e6}).Cost(Usage{Output: tokens}); !want.IsInt64() || got != want.Int64() {
			t.Fatalf("%d millionths × %d: %d, want %v", micro, tokens, got, want)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	source, err := os.ReadFile("table.go")
	if err != nil {
		f.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "//\t{")
	text, _, _ := strings.Cut("{"+rest, "//\n")
	f.Add([]byte(strings.ReplaceAll(text, "//\t", "")))
	f.Add([]byte(`{"default":"a","servers":{"s":{"base":"https://x.example","auth":"none","body":{"b":[{}]},"headers":{"x":"y"}}},"models":{"a":{"server":"s","model":"m","context":2,"output":1}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		table, err := ParseTable(src)
		if err != nil {
			if e, ok := errors.AsType[*basejson.Error](err); !ok || e.Line == 0 || e.Message == "" {
				t.Fatalf("%#v has no place", err)
			}
			return
		}
		for _, name := range append(table.Names(), "") {
			e, ok := table.Entry(name)
			if !ok {
				t.Fatalf("%q is no name", name)
			}
			if _, err := New(e.Server.Options("key")); err != nil || e.Output > e.Context || e.Price.Cost(Usage{1, 1, 1, 1}) < 0 {
				t.Fatalf("%+v can't be used: %v", e, err)
			}
		}
	})
}
