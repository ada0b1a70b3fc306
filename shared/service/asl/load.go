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
var knownErrors = []string{errorAll, errorTimeout, errorDataLimit, errorMapThreshold, errorNoChoice}

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
	l := &loader{names: map[string]string{}}
	o := l.object("$", v)
	o.text("Comment", false)
	m := &Machine{timeout: o.seconds("TimeoutSeconds", 0), graph: *l.graph(o, false)}
	o.done()
	if l.err != nil {
		return nil, l.err
	}
	return m, nil
}

// loader reads one definition. Its first error is the one that counts: what is
// read after it is not used.
type loader struct {
	names map[string]string // of all states, unique in a whole machine, with their places
	err   *LoadError
}

func (l *loader) fail(path, format string, args ...any) {
	if l.err == nil {
		l.err = &LoadError{path, fmt.Sprintf(format, args...)}
	}
}

// graph reads StartAt and States.
func (l *loader) graph(o *object, inMap bool) *graph {
	g := &graph{start: o.text("StartAt", true), states: map[string]*state{}}
	states := o.inner("States")
	for _, m := range states.Members {
		name, at := m.Name, states.at(m.Name)
		if n := utf8.RuneCountInString(name); n == 0 || n > 80 {
			l.fail(at, "a state's name has 1 to 80 characters")
		}
		if other, twice := l.names[name]; twice {
			l.fail(at, "a state of this name is at %s", other)
		}
		l.names[name] = at
		g.states[name] = l.state(name, l.object(at, m.Value), inMap)
		g.order = append(g.order, name)
	}
	if l.err == nil {
		g.check(o, states)
	}
	return g
}

// check holds that all names of states lead somewhere, that all states are
// reached, and that one ends the execution.
func (g *graph) check(o, states *object) {
	if g.states[g.start] == nil {
		o.wrong("StartAt", "there is no state %q", g.start)
		return
	}
	ends := false
	reached := map[string]bool{g.start: true}
	for queue := []string{g.start}; len(queue) > 0; queue = queue[1:] {
		s := g.states[queue[0]]
		targets := []string{s.next}
		for _, c := range s.choices {
			targets = append(targets, c.next)
		}
		for _, c := range s.catch {
			targets = append(targets, c.next)
		}
		ends = ends || s.next == "" && s.kind != kindChoice
		for _, name := range targets {
			if name == "" || reached[name] {
				continue
			}
			if g.states[name] == nil {
				o.fail(states.at(s.name), "there is no state %q to go to", name)
				return
			}
			reached[name] = true
			queue = append(queue, name)
		}
	}
	for _, name := range g.order {
		if !reached[name] {
			o.fail(states.at(name), "no other state leads here")
		}
	}
	if !ends {
		o.fail(states.where, "no state ends the execution")
	}
}

func (l *loader) state(name string, o *object, inMap bool) *state {
	s := &state{name: name, kind: kind(o.text("Type", true))}
	o.text("Comment", false)
	switch s.kind {
	case kindTask:
		s.resource = o.text("Resource", true)
		s.parameters = o.template("Parameters")
		if s.parameters.usesItem() {
			o.wrong("Parameters", onlyInSelector)
		}
		s.timeout = o.seconds("TimeoutSeconds", defaultTaskTimeout)
		l.flow(s, o)
	case kindMap:
		if inMap {
			o.wrong("Type", "a map inside a map is not known")
		}
		l.mapFields(s, o)
		l.flow(s, o)
	case kindChoice:
		l.choices(s, o)
	case kindWait:
		s.until = o.inputPath("TimestampPath", "")
		s.next = o.text("Next", true)
	case kindSucceed:
	case kindFail:
		s.errorName, s.errorNamePath = o.textOrPath("Error")
		s.cause, s.causePath = o.textOrPath("Cause")
	default:
		o.wrong("Type", "%q is not known: only Task, Map, Choice, Wait, Succeed and Fail are", s.kind)
	}
	o.done()
	return s
}

func (l *loader) mapFields(s *state, o *object) {
	s.items = o.inputPath("ItemsPath", "$")
	s.selector = o.template("ItemSelector")
	s.concurrency = int(o.number("MaxConcurrency", 0, 0, 10000, true))
	o.number("ToleratedFailurePercentage", 0, 0, 0, true)
	processor := o.inner("ItemProcessor")
	config := processor.inner("ProcessorConfig")
	config.choice("Mode", true, "DISTRIBUTED")
	config.choice("ExecutionType", true, "STANDARD")
	config.done()
	s.processor = l.graph(processor, true)
	processor.done()
}

// flow reads what Task and Map have in common: what becomes of a result or an
// error, and which state is next.
func (l *loader) flow(s *state, o *object) {
	s.result = o.resultPath()
	s.next = o.text("Next", false)
	end := o.Take("End")
	if end != nil && (end.Kind != json.Bool || end.Text != "true") {
		o.wrong("End", "only true is known")
	}
	if (s.next == "") != (end != nil) {
		l.fail(o.where, "a state has either Next or End")
	}
	l.each(o, "Retry", func(o *object) []string {
		r := retry(o)
		s.retry = append(s.retry, r)
		return r.errors
	})
	l.each(o, "Catch", func(o *object) []string {
		c := catcher{errors: o.errorNames(), result: o.resultPath(), next: o.text("Next", true)}
		s.catch = append(s.catch, c)
		return c.errors
	})
}

// each reads the elements of Retry or Catch. States.ALL may only be the last,
// or those after it would never be asked.
func (l *loader) each(o *object, name string, read func(*object) []string) {
	v := o.Take(name)
	if v == nil {
		return
	}
	if len(v.Items) == 0 {
		o.wrong(name, "must be a list, and not empty")
	}
	for i, item := range v.Items {
		element := l.object(fmt.Sprintf("%s[%d]", o.at(name), i), item)
		names := read(element)
		if slices.Contains(names, errorAll) && (len(names) > 1 || i < len(v.Items)-1) {
			element.wrong("ErrorEquals", errorAll+" must be alone, and in the last element")
		}
		element.done()
	}
}

func retry(o *object) retrier {
	r := retrier{
		errors:   o.errorNames(),
		interval: o.seconds("IntervalSeconds", time.Second),
		attempts: int(o.number("MaxAttempts", 3, 0, maxSeconds, true)),
		backoff:  o.number("BackoffRate", 2, 1, 1000, false),
		maxDelay: o.seconds("MaxDelaySeconds", 0),
	}
	if r.maxDelay != 0 && (r.maxDelay <= r.interval || r.maxDelay >= 31622400*time.Second) {
		o.wrong("MaxDelaySeconds", "must be more than IntervalSeconds, and less than 31622400")
	}
	r.jitter = o.choice("JitterStrategy", false, "FULL", "NONE") == "FULL"
	return r
}

// object is a JSON object of a definition whose fields are taken one by one;
// what is left in the end is not known.
type object struct {
	*loader
	*json.Fields
	where string
}

// object returns v's fields; none, after an error, where v is nil or something
// else.
func (l *loader) object(path string, v *json.Value) *object {
	switch {
	case v == nil:
		l.fail(path, "missing")
		v = &json.Value{}
	case v.Kind != json.Object:
		l.fail(path, "must be an object")
	}
	return &object{l, v.Fields(), path}
}

// inner takes an object that must be there.
func (o *object) inner(name string) *object { return o.object(o.at(name), o.Take(name)) }

func (o *object) at(name string) string {
	if pathForm.MatchString("$." + name) {
		return o.where + "." + name
	}
	return o.where + "[" + strconv.Quote(name) + "]"
}

func (o *object) wrong(name, format string, args ...any) { o.fail(o.at(name), format, args...) }

// done refuses the fields that nothing has taken.
func (o *object) done() {
	if name, unknown := o.Unknown(); unknown {
		o.wrong(name, "this field is not known here")
	}
}

func (o *object) text(name string, required bool) string {
	v := o.Take(name)
	switch {
	case v == nil && required:
		o.wrong(name, "missing")
	case v == nil:
	case v.Kind != json.String || v.Text == "":
		o.wrong(name, "must be a string, and not empty")
	default:
		return v.Text
	}
	return ""
}

// choice takes a text that is one of those that are known.
func (o *object) choice(name string, required bool, known ...string) string {
	text := o.text(name, required)
	if text != "" && !slices.Contains(known, text) {
		is := " is"
		if len(known) > 1 {
			is = " are"
		}
		o.wrong(name, "%q is not known: only %s", text, strings.Join(known, " and ")+is)
	}
	return text
}

func (o *object) number(name string, missing, least, most float64, whole bool) float64 {
	v := o.Take(name)
	if v == nil {
		return missing
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || v.Kind != json.Number {
		o.wrong(name, "must be a number")
	}
	if n < least || n > most || whole && n != math.Trunc(n) {
		what := "number"
		if whole {
			what = "whole number"
		}
		o.wrong(name, "must be a %s from %.0f to %.0f", what, least, most)
	}
	return n
}

func (o *object) seconds(name string, missing time.Duration) time.Duration {
	return time.Duration(o.number(name, missing.Seconds(), 1, maxSeconds, true)) * time.Second
}

func (o *object) path(name, missing string) path {
	text := missing
	if o.Take(name) != nil {
		text = o.text(name, true)
	}
	p, err := parsePath(text)
	if err != nil {
		o.wrong(name, "%v", err)
	}
	return p
}

const onlyInSelector = itemPath + " is known only in ItemSelector"

// inputPath takes a path into the state's input.
func (o *object) inputPath(name, missing string) path {
	p := o.path(name, missing)
	if p.item {
		o.wrong(name, onlyInSelector)
	}
	return p
}

// textOrPath takes a field or, with "Path" after its name, the path of its
// value.
func (o *object) textOrPath(name string) (string, *path) {
	text := o.text(name, false)
	if o.Take(name+"Path") == nil {
		return text, nil
	}
	if text != "" {
		o.wrong(name+"Path", "excludes %s", name)
	}
	p := o.inputPath(name+"Path", "")
	return "", &p
}

func (o *object) resultPath() resultPath {
	if v := o.Take("ResultPath"); v != nil && v.Kind == json.Null {
		return resultPath{discard: true}
	}
	p := o.path("ResultPath", "$")
	if p.item {
		o.wrong("ResultPath", itemPath+" can't be written")
	}
	return resultPath{fields: p.fields}
}

func (o *object) template(name string) *template {
	v := o.Take(name)
	if v == nil {
		return nil
	}
	if v.Kind != json.Object {
		o.wrong(name, "must be an object")
	}
	t, err := parseTemplate(v)
	if err != nil {
		o.wrong(name, "%v", err)
	}
	return t
}

func (o *object) errorNames() (names []string) {
	const name, form = "ErrorEquals", "must be a list of strings, and not empty"
	v := o.Take(name)
	switch {
	case v == nil:
		o.wrong(name, "missing")
		return nil
	case len(v.Items) == 0:
		o.wrong(name, form)
	}
	for _, item := range v.Items {
		n := item.Text
		names = append(names, n)
		switch {
		case item.Kind != json.String:
			o.wrong(name, form)
		case n == "":
			o.wrong(name, "an empty name")
		case n == ErrorRuntime:
			o.wrong(name, ErrorRuntime+" is never matched")
		case strings.HasPrefix(n, "States.") && !slices.Contains(knownErrors, n):
			o.wrong(name, "%s is not known: nothing here returns it", n)
		}
	}
	return names
}
