package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// knownErrors are the names that the machine itself gives.
var knownErrors = []string{ErrorAll, ErrorTimeout, ErrorDataLimit, ErrorMapThreshold}

// LoadError says what a definition has that this interpreter does not know,
// or that Step Functions would refuse.
type LoadError struct {
	// Path is the place, such as "$.States.Plan.Retry[0].MaxAttempts".
	Path string
	// Message says what is wrong there.
	Message string
}

func (e *LoadError) Error() string { return fmt.Sprintf("state machine: %s: %s", e.Path, e.Message) }

// maxDefinition is Step Functions' quota for a definition, in bytes.
const maxDefinition = 1 << 20

// maxSeconds is the most that ASL takes for a time.
const maxSeconds = 99999999

// Load reads a definition, in which all names are filled in. Every field must
// be known, and the states must hold together: each one is reached, and each
// way ends. It returns a *LoadError.
func Load(definition []byte) (*Machine, error) {
	if len(definition) > maxDefinition {
		return nil, &LoadError{"$", fmt.Sprintf("%d bytes, at most %d", len(definition), maxDefinition)}
	}
	if !utf8.Valid(definition) {
		return nil, &LoadError{"$", "not UTF-8"}
	}
	m := &Machine{}
	l := &loader{names: map[string]string{}}
	o, err := l.object("$", definition)
	if err != nil {
		return nil, err
	}
	if m.comment, err = o.text("Comment", false); err != nil {
		return nil, err
	}
	if m.timeout, err = o.seconds("TimeoutSeconds", 0); err != nil {
		return nil, err
	}
	g, err := l.graph(o, false)
	if err != nil {
		return nil, err
	}
	m.graph = *g
	return m, o.done()
}

// loader knows the names of all states: they are unique in a whole machine.
type loader struct{ names map[string]string }

// graph reads StartAt and States.
func (l *loader) graph(o *object, inMap bool) (*graph, error) {
	g := &graph{states: map[string]*state{}}
	var err error
	if g.start, err = o.text("StartAt", true); err != nil {
		return nil, err
	}
	raw, ok := o.take("States")
	if !ok {
		return nil, o.wrong("States", "missing")
	}
	states, err := l.object(o.at("States"), raw)
	if err != nil {
		return nil, err
	}
	for _, name := range states.order {
		at := states.at(name)
		if n := utf8.RuneCountInString(name); n == 0 || n > 80 {
			return nil, &LoadError{at, "a state's name has 1 to 80 characters"}
		}
		if other, twice := l.names[name]; twice {
			return nil, &LoadError{at, "a state of this name is at " + other}
		}
		l.names[name] = at
		so, err := l.object(at, states.fields[name])
		if err != nil {
			return nil, err
		}
		s, err := l.state(name, so, inMap)
		if err != nil {
			return nil, err
		}
		g.states[name] = s
		g.order = append(g.order, name)
	}
	return g, g.check(o, states)
}

// check holds that all names of states lead somewhere, that all states are
// reached, and that there is an end.
func (g *graph) check(o, states *object) error {
	if g.states[g.start] == nil {
		return o.wrong("StartAt", fmt.Sprintf("there is no state %q", g.start))
	}
	ends := false
	reached := map[string]bool{g.start: true}
	for queue := []string{g.start}; len(queue) > 0; queue = queue[1:] {
		s := g.states[queue[0]]
		targets := []string{s.next}
		for _, c := range s.catch {
			targets = append(targets, c.next)
		}
		ends = ends || s.next == ""
		for _, name := range targets {
			if name == "" || reached[name] {
				continue
			}
			if g.states[name] == nil {
				return &LoadError{states.at(s.name), fmt.Sprintf("there is no state %q to go to", name)}
			}
			reached[name] = true
			queue = append(queue, name)
		}
	}
	for _, name := range g.order {
		if !reached[name] {
			return &LoadError{states.at(name), "no other state leads here"}
		}
	}
	if !ends {
		return &LoadError{states.where, "no state ends the execution"}
	}
	return nil
}

func (l *loader) state(name string, o *object, inMap bool) (*state, error) {
	s := &state{name: name}
	typ, err := o.text("Type", true)
	if err != nil {
		return nil, err
	}
	s.kind = kind(typ)
	if _, err := o.text("Comment", false); err != nil {
		return nil, err
	}
	switch s.kind {
	case kindTask:
		err = first(
			func() error { s.resource, err = o.text("Resource", true); return err },
			func() error { s.parameters, err = o.template("Parameters"); return err },
			func() error {
				if s.parameters.usesItem() {
					return o.wrong("Parameters", itemPath+" is known only in ItemSelector")
				}
				return nil
			},
			func() error { s.timeout, err = o.seconds("TimeoutSeconds", defaultTaskTimeout); return err },
			func() error { return l.flow(s, o) },
		)
	case kindMap:
		if inMap {
			return nil, o.wrong("Type", "a map inside a map is not known")
		}
		err = first(
			func() error { return l.mapFields(s, o) },
			func() error { return l.flow(s, o) },
		)
	case kindSucceed:
	case kindFail:
		err = l.failFields(s, o)
	default:
		err = o.wrong("Type", fmt.Sprintf("%q is not known: only Task, Map, Succeed and Fail are", typ))
	}
	if err != nil {
		return nil, err
	}
	return s, o.done()
}

// first runs steps until one fails.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) mapFields(s *state, o *object) (err error) {
	if s.items, err = o.path("ItemsPath", "$"); err != nil {
		return err
	}
	if s.items.item {
		return o.wrong("ItemsPath", itemPath+" is known only in ItemSelector")
	}
	if s.selector, err = o.template("ItemSelector"); err != nil {
		return err
	}
	concurrency, err := o.number("MaxConcurrency", 0, 0, 10000, true)
	if err != nil {
		return err
	}
	s.concurrency = int(concurrency)
	if _, err := o.number("ToleratedFailurePercentage", 0, 0, 0, true); err != nil {
		return err
	}
	raw, ok := o.take("ItemProcessor")
	if !ok {
		return o.wrong("ItemProcessor", "missing")
	}
	po, err := l.object(o.at("ItemProcessor"), raw)
	if err != nil {
		return err
	}
	if raw, ok = po.take("ProcessorConfig"); !ok {
		return po.wrong("ProcessorConfig", "missing")
	}
	co, err := l.object(po.at("ProcessorConfig"), raw)
	if err != nil {
		return err
	}
	for _, f := range []struct{ name, want string }{{"Mode", "DISTRIBUTED"}, {"ExecutionType", "STANDARD"}} {
		got, err := co.text(f.name, true)
		if err != nil {
			return err
		}
		if got != f.want {
			return co.wrong(f.name, fmt.Sprintf("%q is not known: only %s is", got, f.want))
		}
	}
	if err := co.done(); err != nil {
		return err
	}
	if s.processor, err = l.graph(po, true); err != nil {
		return err
	}
	return po.done()
}

func (l *loader) failFields(s *state, o *object) (err error) {
	for _, f := range []struct {
		name   string
		text   *string
		dollar **path
	}{{"Error", &s.errorName, &s.errorNamePath}, {"Cause", &s.cause, &s.causePath}} {
		if *f.text, err = o.text(f.name, false); err != nil {
			return err
		}
		if !o.has(f.name + "Path") {
			continue
		}
		if *f.text != "" {
			return o.wrong(f.name+"Path", "stands beside "+f.name)
		}
		p, err := o.path(f.name+"Path", "")
		if err != nil {
			return err
		}
		if p.item {
			return o.wrong(f.name+"Path", itemPath+" is known only in ItemSelector")
		}
		*f.dollar = &p
	}
	return nil
}

// flow reads what Task and Map have in common: what becomes of a result or an
// error, and which state is next.
func (l *loader) flow(s *state, o *object) (err error) {
	if s.result, err = o.resultPath(); err != nil {
		return err
	}
	if s.next, err = o.text("Next", false); err != nil {
		return err
	}
	end := false
	if raw, ok := o.take("End"); ok {
		if string(raw) != "true" {
			return o.wrong("End", "only true is known")
		}
		end = true
	}
	if (s.next == "") != end {
		return &LoadError{o.where, "a state has either Next or End"}
	}
	if err := l.each(o, "Retry", func(ro *object) (names []string, err error) {
		r, err := retry(ro)
		s.retry = append(s.retry, r)
		return r.errors, err
	}); err != nil {
		return err
	}
	return l.each(o, "Catch", func(co *object) (names []string, err error) {
		var c catcher
		if c.errors, err = co.errorNames(); err != nil {
			return nil, err
		}
		if c.result, err = co.resultPath(); err != nil {
			return nil, err
		}
		if c.next, err = co.text("Next", true); err != nil {
			return nil, err
		}
		s.catch = append(s.catch, c)
		return c.errors, nil
	})
}

// each reads the elements of Retry or Catch. States.ALL may only be the last,
// or those behind it would never be asked.
func (l *loader) each(o *object, name string, read func(*object) ([]string, error)) error {
	raw, ok := o.take(name)
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return o.wrong(name, "must be a list, and not empty")
	}
	for i, raw := range list {
		eo, err := l.object(fmt.Sprintf("%s[%d]", o.at(name), i), raw)
		if err != nil {
			return err
		}
		names, err := read(eo)
		if err != nil {
			return err
		}
		if slices.Contains(names, ErrorAll) && (len(names) > 1 || i < len(list)-1) {
			return eo.wrong("ErrorEquals", ErrorAll+" must be alone, and in the last element")
		}
		if err := eo.done(); err != nil {
			return err
		}
	}
	return nil
}

func retry(o *object) (r retrier, err error) {
	if r.errors, err = o.errorNames(); err != nil {
		return r, err
	}
	if r.interval, err = o.seconds("IntervalSeconds", time.Second); err != nil {
		return r, err
	}
	attempts, err := o.number("MaxAttempts", 3, 0, maxSeconds, true)
	if err != nil {
		return r, err
	}
	r.attempts = int(attempts)
	if r.backoff, err = o.number("BackoffRate", 2, 1, 1000, false); err != nil {
		return r, err
	}
	if r.maxDelay, err = o.seconds("MaxDelaySeconds", 0); err != nil {
		return r, err
	}
	if r.maxDelay != 0 && (r.maxDelay <= r.interval || r.maxDelay >= 31622400*time.Second) {
		return r, o.wrong("MaxDelaySeconds", "must be more than IntervalSeconds, and less than 31622400")
	}
	jitter, err := o.text("JitterStrategy", false)
	if err != nil {
		return r, err
	}
	switch jitter {
	case "FULL":
		r.jitter = true
	case "", "NONE":
	default:
		return r, o.wrong("JitterStrategy", fmt.Sprintf("%q is not known: only FULL and NONE are", jitter))
	}
	return r, nil
}

// object is a JSON object of a definition whose fields are taken one by one;
// what is left in the end is not known.
type object struct {
	where  string
	fields map[string]json.RawMessage
	order  []string
	taken  map[string]bool
}

// object decodes one JSON object, and refuses a field that stands twice.
func (l *loader) object(path string, raw []byte) (*object, error) {
	o := &object{where: path, fields: map[string]json.RawMessage{}, taken: map[string]bool{}}
	if !json.Valid(raw) {
		var v any
		return nil, &LoadError{path, "not JSON: " + json.Unmarshal(raw, &v).Error()}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, &LoadError{path, "must be an object"}
	}
	for d.More() {
		t, err := d.Token()
		name, isString := t.(string)
		if err != nil || !isString {
			return nil, &LoadError{path, "must be an object"}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, &LoadError{o.at(name), err.Error()}
		}
		if _, twice := o.fields[name]; twice {
			return nil, &LoadError{o.at(name), "stands twice"}
		}
		o.fields[name] = value
		o.order = append(o.order, name)
	}
	if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
		return nil, &LoadError{path, err.Error()}
	}
	return o, nil
}

func (o *object) at(name string) string {
	if pathForm.MatchString("$." + name) {
		return o.where + "." + name
	}
	return o.where + "[" + strconv.Quote(name) + "]"
}

func (o *object) wrong(name, message string) *LoadError { return &LoadError{o.at(name), message} }

func (o *object) has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// take gives a field's value, and marks it as known.
func (o *object) take(name string) (json.RawMessage, bool) {
	raw, ok := o.fields[name]
	o.taken[name] = true
	return raw, ok
}

// done refuses what nobody took.
func (o *object) done() error {
	for _, name := range o.order {
		if !o.taken[name] {
			return o.wrong(name, "this field is not known here")
		}
	}
	return nil
}

func (o *object) text(name string, required bool) (string, error) {
	raw, ok := o.take(name)
	if !ok {
		if required {
			return "", o.wrong(name, "missing")
		}
		return "", nil
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil || *s == "" {
		return "", o.wrong(name, "must be a string, and not empty")
	}
	return *s, nil
}

func (o *object) number(name string, missing, least, most float64, whole bool) (float64, error) {
	raw, ok := o.take(name)
	if !ok {
		return missing, nil
	}
	var n *float64
	if err := json.Unmarshal(raw, &n); err != nil || n == nil {
		return 0, o.wrong(name, "must be a number")
	}
	if *n < least || *n > most || whole && *n != math.Trunc(*n) {
		what := "number"
		if whole {
			what = "whole number"
		}
		return 0, o.wrong(name, fmt.Sprintf("must be a %s from %.0f to %.0f", what, least, most))
	}
	return *n, nil
}

func (o *object) seconds(name string, missing time.Duration) (time.Duration, error) {
	if !o.has(name) {
		return missing, nil
	}
	n, err := o.number(name, 0, 1, maxSeconds, true)
	return time.Duration(n) * time.Second, err
}

func (o *object) path(name, missing string) (path, error) {
	text := missing
	if o.has(name) {
		var err error
		if text, err = o.text(name, true); err != nil {
			return path{}, err
		}
	}
	p, err := parsePath(text)
	if err != nil {
		return path{}, o.wrong(name, err.Error())
	}
	return p, nil
}

func (o *object) resultPath() (resultPath, error) {
	if string(o.fields["ResultPath"]) == "null" {
		o.taken["ResultPath"] = true
		return resultPath{discard: true}, nil
	}
	p, err := o.path("ResultPath", "$")
	if err != nil {
		return resultPath{}, err
	}
	if p.item {
		return resultPath{}, o.wrong("ResultPath", itemPath+" can't be written")
	}
	return resultPath{fields: p.fields}, nil
}

func (o *object) template(name string) (*template, error) {
	raw, ok := o.take(name)
	if !ok {
		return nil, nil
	}
	v, err := decode(raw)
	if err != nil {
		return nil, o.wrong(name, err.Error())
	}
	if _, isObject := v.(map[string]any); !isObject {
		return nil, o.wrong(name, "must be an object")
	}
	t, err := parseTemplate(v)
	if err != nil {
		return nil, o.wrong(name, err.Error())
	}
	return t, nil
}

func (o *object) errorNames() ([]string, error) {
	raw, ok := o.take("ErrorEquals")
	if !ok {
		return nil, o.wrong("ErrorEquals", "missing")
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil || len(names) == 0 {
		return nil, o.wrong("ErrorEquals", "must be a list of strings, and not empty")
	}
	for _, n := range names {
		switch {
		case n == "":
			return nil, o.wrong("ErrorEquals", "an empty name")
		case n == ErrorRuntime:
			return nil, o.wrong("ErrorEquals", ErrorRuntime+" is never matched")
		case strings.HasPrefix(n, "States.") && !slices.Contains(knownErrors, n):
			return nil, o.wrong("ErrorEquals", n+" is not known: nothing here gives it")
		}
	}
	return names, nil
}
