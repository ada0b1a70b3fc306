package asl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// knownErrors are the names that the machine itself uses.
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

// maxDepth is more than any definition of ours is deep.
const maxDepth = 100

// maxSeconds is the most that ASL takes for a time.
const maxSeconds = 99999999

// Load reads a definition, in which all names are filled in. Every field must
// be known, and the states must hold together: each one is reached, and each
// way ends. It returns a *LoadError.
func Load(definition []byte) (*Machine, error) {
	if len(definition) > maxDefinition {
		return nil, &LoadError{"$", fmt.Sprintf("%d bytes, at most %d", len(definition), maxDefinition)}
	}
	v, err := json.Parse(definition, json.Options{Depth: maxDepth})
	if e, ok := errors.AsType[*json.Error](err); ok {
		path := strings.TrimSuffix("$."+e.Path, ".")
		return nil, &LoadError{strings.Replace(path, "$.[", "$[", 1), e.Message}
	}
	m := &Machine{}
	l := &loader{names: map[string]string{}}
	o, err := l.object("$", v)
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
	states, err := l.inner(o, "States")
	if err != nil {
		return nil, err
	}
	for _, m := range states.Members {
		name := m.Name
		at := states.at(name)
		if n := utf8.RuneCountInString(name); n == 0 || n > 80 {
			return nil, &LoadError{at, "a state's name has 1 to 80 characters"}
		}
		if other, twice := l.names[name]; twice {
			return nil, &LoadError{at, "a state of this name is at " + other}
		}
		l.names[name] = at
		so, err := l.object(at, m.Value)
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
	po, err := l.inner(o, "ItemProcessor")
	if err != nil {
		return err
	}
	co, err := l.inner(po, "ProcessorConfig")
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
		if o.Take(f.name+"Path") == nil {
			continue
		}
		if *f.text != "" {
			return o.wrong(f.name+"Path", "excludes "+f.name)
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
	if v := o.Take("End"); v != nil {
		if v.Kind != json.Bool || v.Text != "true" {
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
// or those after it would never be asked.
func (l *loader) each(o *object, name string, read func(*object) ([]string, error)) error {
	v := o.Take(name)
	if v == nil {
		return nil
	}
	if len(v.Items) == 0 {
		return o.wrong(name, "must be a list, and not empty")
	}
	for i, item := range v.Items {
		eo, err := l.object(fmt.Sprintf("%s[%d]", o.at(name), i), item)
		if err != nil {
			return err
		}
		names, err := read(eo)
		if err != nil {
			return err
		}
		if slices.Contains(names, ErrorAll) && (len(names) > 1 || i < len(v.Items)-1) {
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
	*json.Fields
	where string
}

func (l *loader) object(path string, v *json.Value) (*object, error) {
	if v.Kind != json.Object {
		return nil, &LoadError{path, "must be an object"}
	}
	return &object{v.Fields(), path}, nil
}

// inner takes an object that must be there.
func (l *loader) inner(o *object, name string) (*object, error) {
	v := o.Take(name)
	if v == nil {
		return nil, o.wrong(name, "missing")
	}
	return l.object(o.at(name), v)
}

func (o *object) at(name string) string {
	if pathForm.MatchString("$." + name) {
		return o.where + "." + name
	}
	return o.where + "[" + strconv.Quote(name) + "]"
}

func (o *object) wrong(name, message string) *LoadError { return &LoadError{o.at(name), message} }

// done refuses what nobody took.
func (o *object) done() error {
	if name, unknown := o.Unknown(); unknown {
		return o.wrong(name, "this field is not known here")
	}
	return nil
}

func (o *object) text(name string, required bool) (string, error) {
	v := o.Take(name)
	switch {
	case v == nil && required:
		return "", o.wrong(name, "missing")
	case v == nil:
		return "", nil
	case v.Kind != json.String || v.Text == "":
		return "", o.wrong(name, "must be a string, and not empty")
	}
	return v.Text, nil
}

func (o *object) number(name string, missing, least, most float64, whole bool) (float64, error) {
	v := o.Take(name)
	if v == nil {
		return missing, nil
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || v.Kind != json.Number {
		return 0, o.wrong(name, "must be a number")
	}
	if n < least || n > most || whole && n != math.Trunc(n) {
		what := "number"
		if whole {
			what = "whole number"
		}
		return 0, o.wrong(name, fmt.Sprintf("must be a %s from %.0f to %.0f", what, least, most))
	}
	return n, nil
}

func (o *object) seconds(name string, missing time.Duration) (time.Duration, error) {
	if o.Take(name) == nil {
		return missing, nil
	}
	n, err := o.number(name, 0, 1, maxSeconds, true)
	return time.Duration(n) * time.Second, err
}

func (o *object) path(name, missing string) (path, error) {
	text := missing
	if o.Take(name) != nil {
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
	if v := o.Take("ResultPath"); v != nil && v.Kind == json.Null {
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
	v := o.Take(name)
	if v == nil {
		return nil, nil
	}
	if v.Kind != json.Object {
		return nil, o.wrong(name, "must be an object")
	}
	t, err := parseTemplate(v)
	if err != nil {
		return nil, o.wrong(name, err.Error())
	}
	return t, nil
}

func (o *object) errorNames() ([]string, error) {
	v := o.Take("ErrorEquals")
	if v == nil {
		return nil, o.wrong("ErrorEquals", "missing")
	}
	if len(v.Items) == 0 {
		return nil, o.wrong("ErrorEquals", "must be a list of strings, and not empty")
	}
	var names []string
	for _, item := range v.Items {
		n := item.Text
		names = append(names, n)
		switch {
		case item.Kind != json.String:
			return nil, o.wrong("ErrorEquals", "must be a list of strings, and not empty")
		case n == "":
			return nil, o.wrong("ErrorEquals", "an empty name")
		case n == ErrorRuntime:
			return nil, o.wrong("ErrorEquals", ErrorRuntime+" is never matched")
		case strings.HasPrefix(n, "States.") && !slices.Contains(knownErrors, n):
			return nil, o.wrong("ErrorEquals", n+" is not known: nothing here returns it")
		}
	}
	return names, nil
}
