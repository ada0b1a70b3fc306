package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Table is an operator's table of models: which servers there are, and which
// model of which server a name means. It holds no key. Its JSON form is
//
//	{
//	  "default": "best",
//	  "servers": {
//	    "vendor": {"base": "https://api.anthropic.com", "auth": "x-api-key"},
//	    "bedrock": {
//	      "base": "https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic",
//	      "auth": "sigv4", "region": "eu-central-1", "service": "bedrock"
//	    },
//	    "local": {"base": "http://10.0.0.7:8080", "allowHTTP": true, "auth": "none", "stallSeconds": 600}
//	  },
//	  "models": {
//	    "fast": {
//	      "server": "vendor", "model": "claude-haiku-4-5", "context": 200000, "output": 64000,
//	      "price": {"input": 1, "cacheWrite": 1.25, "cacheRead": 0.1, "output": 5}
//	    },
//	    "best": {
//	      "server": "vendor", "model": "claude-sonnet-5-5", "context": 1000000, "output": 128000,
//	      "price": {"input": 2, "cacheWrite": 2.5, "cacheRead": 0.2, "output": 10}
//	    },
//	    "local": {"server": "local", "model": "qwen3-coder", "context": 65536, "output": 8192}
//	  }
//	}
//
// where a server may also have "path" (default "/v1/messages"), "version" (of
// the API, default 2023-06-01), "headers" (further ones, texts) and "body"
// (members that are added to each request). "auth" is how the server authenticates
// its caller: by a key as X-Api-Key, as Authorization ("bearer"), by AWS's signature
// for a region and a service, or not at all. A model may have "fallback", the name of
// another that answers where its server could not for a round's whole time. "pictures" is true for one that
// reads pictures. A model without a price costs nothing. Prices are US dollars for a million tokens, with at most six decimals.
type Table struct {
	fallback string
	entries  map[string]Entry
}

// Entry is what a name means.
type Entry struct {
	// Name is the name, Model how its server calls the model.
	Name, Model string
	Server      Server
	// Context is the most tokens of a request and its answer together, Output
	// those of an answer.
	Context, Output int
	Price           Price
	// Fallback is the name of the model that answers in its place when its server
	// can't for hours; empty for none.
	Fallback string
	// Pictures is set if the model reads pictures.
	Pictures bool
}

// Auth is how a server authenticates its caller.
type Auth string

// The ways in which a server authenticates its caller.
const (
	AuthKey    Auth = "x-api-key"
	AuthBearer Auth = "bearer"
	AuthSigV4  Auth = "sigv4"
	AuthNone   Auth = "none"
)

// Server is where models are asked.
type Server struct {
	// Name is the server's in the table: keys are kept by it.
	Name       string
	Base, Path string
	AllowHTTP  bool
	Auth       Auth
	// Region and Service are what AWS's signature is for; empty with any other.
	Region, Service string
	// Version is the version of the API, empty for the default.
	Version string
	Headers map[string]string
	Body    map[string]json.RawMessage
	// Stall is as of Options, 0 for the default.
	Stall time.Duration
}

// Options returns those for a client of the server with that key. Sign is left
// to the caller where Auth is AuthSigV4.
func (s Server) Options(key string) Options {
	o := Options{Base: s.Base, Path: s.Path, AllowHTTP: s.AllowHTTP, Header: http.Header{}, Body: s.Body, Stall: s.Stall}
	for name, text := range s.Headers {
		o.Header.Set(name, text)
	}
	if s.Version != "" {
		o.Header.Set("Anthropic-Version", s.Version)
	}
	switch s.Auth {
	case AuthKey:
		o.Header.Set("X-Api-Key", key)
	case AuthBearer:
		o.Header.Set("Authorization", "Bearer "+key)
	}
	return o
}

// Price is what tokens cost, in US dollars a million.
type Price struct {
	Input      float64 `json:"input"`
	CacheWrite float64 `json:"cacheWrite"`
	CacheRead  float64 `json:"cacheRead"`
	Output     float64 `json:"output"`
}

// decimals is how many a price has, and scale what makes it whole.
const (
	decimals = 6
	scale    = 1_000_000
)

// Cost returns what tokens cost in millionths of a US dollar, rounded up: a
// dollar a million tokens is a millionth for each. It is exact for prices with
// at most six decimals.
func (p Price) Cost(u Usage) int64 {
	sum := new(big.Int)
	add := func(price float64, tokens int64) {
		whole := int64(math.Round(price * scale))
		sum.Add(sum, new(big.Int).Mul(big.NewInt(whole), big.NewInt(tokens)))
	}
	add(p.Input, u.Input)
	add(p.CacheWrite, u.CacheWrite)
	add(p.CacheRead, u.CacheRead)
	add(p.Output, u.Output)
	sum.Add(sum, big.NewInt(scale-1))
	sum.Div(sum, big.NewInt(scale))
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}

// A Choice is the model that a name means, ready to be asked.
type Choice struct {
	// ID is how the provider calls it.
	ID string
	// Client speaks to the provider.
	Client *Client
	// Price is what its tokens cost.
	Price Price
	// MaxOutput bounds one answer, in tokens. Context bounds a request and its answer
	// together; 0 if it is not known.
	MaxOutput, Context int
	// Fallback and Pictures are as of Entry.
	Fallback string
	Pictures bool
}

// Entry returns what a name means, the default for "". It reports false for a
// name that is not in the table.
func (t *Table) Entry(name string) (Entry, bool) {
	if name == "" {
		name = t.fallback
	}
	e, ok := t.entries[name]
	return e, ok
}

// Names returns the names of all models, sorted.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.entries)) }

// Default returns the name that an empty one means.
func (t *Table) Default() string { return t.fallback }

// tableDepth is more than a table is deep, with what a body may have in it.
const tableDepth = 16

// ParseTable reads a table strictly: what is not known or doesn't fit together is
// refused, with its place. It returns a *json.Error of package shared/base/json.
func ParseTable(src []byte) (*Table, error) {
	v, err := basejson.Parse(src, basejson.Options{Depth: tableDepth, Values: 1 << 14})
	if err != nil {
		return nil, err
	}
	r := &tableReader{src: src}
	t := &Table{entries: map[string]Entry{}}
	servers := map[string]Server{}
	o := r.object(v)
	for _, m := range r.members(o, "servers") {
		servers[m.Name] = r.server(m.Name, m.Value)
	}
	models := r.members(o, "models")
	for _, m := range models {
		t.entries[m.Name] = r.entry(m.Name, m.Value, servers)
	}
	for _, m := range models {
		name := t.entries[m.Name].Fallback
		if _, ok := t.entries[name]; name != "" && (!ok || name == m.Name) {
			r.fail(r.object(m.Value).at("fallback"), "names no other model of the table")
		}
	}
	t.fallback = o.text("default", true)
	if _, ok := t.entries[t.fallback]; !ok {
		r.fail(o.at("default"), "names no model of the table")
	}
	o.end()
	if r.err != nil {
		return nil, r.err
	}
	return t, nil
}

// tableReader keeps the first fault of a table; what is read after it is not
// used.
type tableReader struct {
	src []byte
	err *basejson.Error
}

func (r *tableReader) fail(v *basejson.Value, format string, args ...any) {
	if r.err == nil {
		r.err = &basejson.Error{
			Path: v.Path(), Pointer: v.Pointer(), Offset: v.Offset, Line: v.Line, Column: v.Column,
			Message: fmt.Sprintf(format, args...),
		}
	}
}

// fields are the members of one object of a table.
type fields struct {
	*basejson.Fields
	r *tableReader
}

func (r *tableReader) object(v *basejson.Value) fields {
	if v.Kind != basejson.Object {
		r.fail(v, "must be an object, not %s", v.Kind)
	}
	return fields{v.Fields(), r}
}

// at returns a member that was taken, or the object if it is missing.
func (f fields) at(name string) *basejson.Value {
	if v := f.Take(name); v != nil {
		return v
	}
	return f.Value
}

// end refuses members that nothing has asked for.
func (f fields) end() {
	if name, unknown := f.Unknown(); unknown {
		f.r.fail(f.at(name), "is not known here")
	}
}

// take returns a member of a kind, nil if it is missing or of another.
func (f fields) take(name string, kind basejson.Kind, needed bool) *basejson.Value {
	v := f.Take(name)
	switch {
	case v == nil && needed:
		f.r.fail(f.Value, "has no %q", name)
	case v != nil && v.Kind != kind:
		f.r.fail(v, "must be %s, not %s", kind, v.Kind)
		return nil
	}
	return v
}

func (f fields) text(name string, needed bool) string {
	v := f.take(name, basejson.String, needed)
	if v == nil {
		return ""
	}
	if v.Text == "" || len(v.Text) > 1000 || strings.ContainsFunc(v.Text, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		f.r.fail(v, "must be 1 to 1000 characters of ASCII")
	}
	return v.Text
}

func (f fields) whole(name string, low, high int, needed bool) int {
	v := f.take(name, basejson.Number, needed)
	if v == nil {
		return 0
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < low || n > high {
		f.r.fail(v, "must be a whole number from %d to %d", low, high)
	}
	return n
}

// plainNumber matches a number that is exact as it is written.
var plainNumber = lazy.Regexp(`^[0-9]{1,6}(?:\.[0-9]{1,` + strconv.Itoa(decimals) + `})?$`)

func (f fields) price(name string) float64 {
	v := f.take(name, basejson.Number, true)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || !plainNumber().MatchString(v.Text) {
		f.r.fail(v, "must be US dollars for a million tokens, from 0 to 999999, with at most %d decimals", decimals)
	}
	return n
}

// entryName matches the names of servers and models.
var entryName = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// members returns those of an object that names its members freely.
func (r *tableReader) members(o fields, name string) []basejson.Member {
	v := o.take(name, basejson.Object, true)
	if v == nil {
		return nil
	}
	if len(v.Members) == 0 {
		r.fail(v, "is empty")
	}
	for _, m := range v.Members {
		if !entryName().MatchString(m.Name) {
			r.fail(m.Value, "must be named with 1 to 63 of a-z, 0-9, dot, hyphen and underscore")
		}
	}
	return v.Members
}

func (r *tableReader) server(name string, v *basejson.Value) Server {
	o := r.object(v)
	s := Server{
		Name: name, Base: o.text("base", true), Path: o.text("path", false), Auth: Auth(o.text("auth", true)),
		Region: o.text("region", false), Service: o.text("service", false), Version: o.text("version", false),
		Stall: time.Duration(o.whole("stallSeconds", 1, 3600, false)) * time.Second,
	}
	if allow := o.take("allowHTTP", basejson.Bool, false); allow != nil {
		s.AllowHTTP = allow.Text == "true"
	}
	switch s.Auth {
	case AuthKey, AuthBearer, AuthNone, AuthSigV4:
	default:
		r.fail(o.at("auth"), `must be "x-api-key", "bearer", "sigv4" or "none"`)
	}
	if signed := s.Auth == AuthSigV4; signed != (s.Region != "") || signed != (s.Service != "") {
		r.fail(v, `must have "region" and "service" with the auth "sigv4", and with no other`)
	}
	r.headers(o, &s)
	if body := o.take("body", basejson.Object, false); body != nil {
		s.Body = map[string]json.RawMessage{}
		for _, m := range body.Members {
			s.Body[m.Name] = r.source(m.Value)
		}
	}
	o.end()
	if r.err == nil {
		if _, err := New(s.Options("key")); err != nil {
			r.fail(v, "can't be used: %v", err)
		}
	}
	return s
}

// headers reads the further headers of a server. Keys don't belong in a table.
func (r *tableReader) headers(o fields, s *Server) {
	headers := o.take("headers", basejson.Object, false)
	if headers == nil {
		return
	}
	s.Headers = map[string]string{}
	list := r.object(headers)
	for _, m := range headers.Members {
		switch http.CanonicalHeaderKey(m.Name) {
		case "Authorization", "X-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization":
			r.fail(m.Value, "is a key, and a table holds none")
		case "Anthropic-Version":
			r.fail(m.Value, `is the member "version"`)
		}
		s.Headers[http.CanonicalHeaderKey(m.Name)] = list.text(m.Name, true)
	}
}

// source returns a value as JSON.
func (r *tableReader) source(v *basejson.Value) json.RawMessage {
	var whole json.RawMessage
	if err := json.NewDecoder(strings.NewReader(string(r.src[v.Offset:]))).Decode(&whole); err != nil {
		r.fail(v, "can't be read again")
	}
	return whole
}

// maxContext is more than any model reads, in tokens.
const maxContext = 100_000_000

func (r *tableReader) entry(name string, v *basejson.Value, servers map[string]Server) Entry {
	o := r.object(v)
	e := Entry{
		Name: name, Model: o.text("model", true), Server: servers[o.text("server", true)],
		Context: o.whole("context", 1, maxContext, true), Output: o.whole("output", 1, maxContext, true),
	}
	if e.Server.Name == "" {
		r.fail(o.at("server"), "names no server of the table")
	}
	if e.Output > e.Context {
		r.fail(o.at("output"), "must not be over the context")
	}
	e.Fallback = o.text("fallback", false)
	if pictures := o.take("pictures", basejson.Bool, false); pictures != nil {
		e.Pictures = pictures.Text == "true"
	}
	if price := o.take("price", basejson.Object, false); price != nil {
		p := r.object(price)
		e.Price = Price{p.price("input"), p.price("cacheWrite"), p.price("cacheRead"), p.price("output")}
		p.end()
	}
	o.end()
	return e
}
