package highlight

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"

	"github.com/bindery-docs/bindery/shared/render/highlight/internal/backtrack"
)

// grammar is one of chroma's grammars, read into a form that the machine runs
// without interfaces and maps. It is immutable but for what its states and
// rules compile lazily, and safe for concurrent use.
type grammar struct {
	name     string
	flags    string // of every expression, as chroma sets them
	ensureNL bool   // lexes with a line feed added where the text has none at its end
	states   []*state
	index    map[string]int
	root     int
}

// state is an ordered list of rules and, once it is used, the shorter list for
// each next character.
type state struct {
	name     string
	rules    []*rule
	once     sync.Once
	dispatch [dispatchSize][]*rule
}

// rule is one rule of a grammar. Expressions are compiled at their first
// attempt: most rules of most grammars never see one.
type rule struct {
	pattern string // with flags and anchor
	always  bool   // the empty expression: matches without looking
	emit    *emitter
	mutate  []mutation

	analyseOnce sync.Once
	first       charSet // in front of which it can match
	steps       []step  // of an expression that needs no engine

	words *wordList // of an expression that lists words

	once    sync.Once
	program *backtrack.Program // nil when it didn't compile
}

type emitterKind uint8

const (
	emitToken emitterKind = iota
	emitGroups
	emitSelf
	emitLexer
	emitLexerByGroup
)

// emitter says what a match, or one group of it, becomes.
type emitter struct {
	kind      emitterKind
	token     chroma.TokenType
	groups    []*emitter // of emitGroups and emitLexerByGroup; nil emits nothing
	state     int        // of emitSelf; -1 where the grammar has no such state
	lexer     string     // of emitLexer
	nameGroup int        // of emitLexerByGroup: holds the language's label
	codeGroup int        // holds the code
	// other, of emitLexer, is what the language's tokens of the type Other
	// become; 0 leaves them.
	other chroma.TokenType
}

type mutationKind uint8

const (
	mutatePush mutationKind = iota
	mutatePushCurrent
	mutatePop
)

// mutation is one change of the stack of states.
type mutation struct {
	kind  mutationKind
	state int // of mutatePush; -1 where the grammar has no such state
	depth int // of mutatePop
}

// newGrammar reads a lexer's rules. An error means that the grammar uses
// something that the machine doesn't run.
func newGrammar(lexer *chroma.RegexLexer) (*grammar, error) {
	config := lexer.Config()
	raw, err := lexer.Rules()
	if err != nil {
		return nil, err
	}
	g := &grammar{
		name:     config.Name,
		ensureNL: config.EnsureNL,
		index:    make(map[string]int, len(raw)),
	}
	if !config.NotMultiline {
		g.flags += "m"
	}
	if config.CaseInsensitive {
		g.flags += "i"
	}
	if config.DotAll {
		g.flags += "s"
	}
	compiled, err := expand(raw)
	if err != nil {
		return nil, err
	}
	for name := range compiled {
		g.states = append(g.states, &state{name: name})
	}
	slices.SortFunc(g.states, func(a, b *state) int { return strings.Compare(a.name, b.name) })
	for i, s := range g.states {
		g.index[s.name] = i
	}
	var ok bool
	if g.root, ok = g.index["root"]; !ok {
		return nil, fmt.Errorf("grammar %s has no root state", g.name)
	}
	// Includes share rules between states: each is read, and its expression
	// compiled, once.
	shared := map[*chroma.CompiledRule]*rule{}
	for _, s := range g.states {
		for i, source := range compiled[s.name] {
			r, ok := shared[source]
			if !ok {
				if r, err = g.readRule(source); err != nil {
					return nil, fmt.Errorf("grammar %s, state %s, rule %d: %w", g.name, s.name, i, err)
				}
				shared[source] = r
			}
			s.rules = append(s.rules, r)
		}
	}
	return g, nil
}

// expand resolves includes and combined states, as chroma does after loading.
func expand(raw chroma.Rules) (chroma.CompiledRules, error) {
	rules := make(chroma.CompiledRules, len(raw))
	for name, list := range raw {
		compiled := make([]*chroma.CompiledRule, 0, len(list))
		for _, r := range list {
			compiled = append(compiled, &chroma.CompiledRule{Rule: r})
		}
		rules[name] = compiled
	}
	// Each round replaces one rule; a grammar that includes itself would go on
	// for ever.
	const maxRounds = 20_000
	for range maxRounds {
		done, err := expandOne(rules)
		if err != nil || done {
			return rules, err
		}
	}
	return nil, fmt.Errorf("includes don't end")
}

func expandOne(rules chroma.CompiledRules) (done bool, err error) {
	for name, list := range rules {
		for i, r := range list {
			if m, ok := r.Mutator.(chroma.LexerMutator); ok {
				// A list of its own for every change: chroma's include appends in place.
				rules[name] = slices.Clone(list)
				return false, m.MutateLexer(rules, name, i)
			}
		}
	}
	return true, nil
}

func (g *grammar) readRule(source *chroma.CompiledRule) (*rule, error) {
	r := &rule{always: source.Pattern == "", words: readWords(source.Pattern, g.flags)}
	// The same expression that chroma compiles.
	r.pattern = "(?:" + source.Pattern + ")"
	if g.flags != "" {
		r.pattern = "(?" + g.flags + ")" + r.pattern
	}
	r.pattern = `\G` + r.pattern
	var err error
	if r.emit, err = g.readEmitter(source.Type, source.Pattern); err != nil {
		return nil, err
	}
	if r.mutate, err = g.readMutator(nil, source.Mutator); err != nil {
		return nil, err
	}
	return r, nil
}

// readEmitter reads one of chroma's emitters. Their types are not exported;
// their kinds and their fields are, since they are what chroma's XML holds.
func (g *grammar) readEmitter(source chroma.Emitter, pattern string) (*emitter, error) {
	if isNil(source) {
		return nil, nil
	}
	if t, ok := source.(chroma.TokenType); ok {
		return &emitter{kind: emitToken, token: t}, nil
	}
	kinded, ok := source.(chroma.SerialisableEmitter)
	if !ok {
		if e := emitFunctions[functionKey{g.name, pattern}]; e != nil {
			return e, nil
		}
		return nil, fmt.Errorf("emitter is a function")
	}
	fields := fieldsOf(source)
	e := &emitter{}
	switch kind := kinded.EmitterKind(); kind {
	case "bygroups", "usingbygroup":
		list, ok := fields["Emitters"].(chroma.Emitters)
		if !ok {
			return nil, fmt.Errorf("emitter %s has no list", kind)
		}
		for _, item := range list {
			read, err := g.readEmitter(item, pattern)
			if err != nil {
				return nil, err
			}
			e.groups = append(e.groups, read)
		}
		if kind == "bygroups" {
			e.kind = emitGroups
			return e, nil
		}
		e.kind = emitLexerByGroup
		var okName, okCode bool
		e.nameGroup, okName = fields["SublexerNameGroup"].(int)
		e.codeGroup, okCode = fields["CodeGroup"].(int)
		if !okName || !okCode || e.nameGroup < 1 || e.codeGroup < 1 ||
			e.nameGroup > len(e.groups) || e.codeGroup > len(e.groups) {
			return nil, fmt.Errorf("emitter %s names no groups", kind)
		}
	case "usingself":
		name, ok := fields["State"].(string)
		if !ok {
			return nil, fmt.Errorf("emitter %s names no state", kind)
		}
		e.kind, e.state = emitSelf, g.stateIndex(name)
	case "using":
		name, ok := fields["Lexer"].(string)
		if !ok {
			return nil, fmt.Errorf("emitter %s names no language", kind)
		}
		e.kind, e.lexer = emitLexer, name
	default:
		return nil, fmt.Errorf("unknown emitter %s", kind)
	}
	return e, nil
}

func (g *grammar) readMutator(list []mutation, source chroma.Mutator) ([]mutation, error) {
	if isNil(source) {
		return list, nil
	}
	kinded, ok := source.(chroma.SerialisableMutator)
	if !ok {
		return list, nil // a function, such as that of Haxe's preprocessor: what it does is left out
	}
	fields := fieldsOf(source)
	switch kind := kinded.MutatorKind(); kind {
	case "push":
		states, ok := fields["States"].([]string)
		if !ok {
			return nil, fmt.Errorf("mutator %s names no states", kind)
		}
		if len(states) == 0 {
			return append(list, mutation{kind: mutatePushCurrent}), nil
		}
		for _, name := range states {
			if name == "#pop" {
				list = append(list, mutation{kind: mutatePop, depth: 1})
			} else {
				list = append(list, mutation{kind: mutatePush, state: g.stateIndex(name)})
			}
		}
		return list, nil
	case "pop":
		depth, ok := fields["Depth"].(int)
		if !ok {
			return nil, fmt.Errorf("mutator %s has no depth", kind)
		}
		return append(list, mutation{kind: mutatePop, depth: depth}), nil
	case "mutators":
		inner, ok := fields["Mutators"].([]chroma.Mutator)
		if !ok {
			return nil, fmt.Errorf("mutator %s has no list", kind)
		}
		for _, m := range inner {
			var err error
			if list, err = g.readMutator(list, m); err != nil {
				return nil, err
			}
		}
		return list, nil
	default:
		return nil, fmt.Errorf("unknown mutator %s", kind)
	}
}

func (g *grammar) stateIndex(name string) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	return -1
}

// candidates returns the rules to try, in order, in front of a character.
func (s *state) candidates(next rune) []*rule {
	s.once.Do(s.prepare)
	return s.dispatch[column(next)]
}

func (s *state) prepare() {
	for _, r := range s.rules {
		r.analyseOnce.Do(r.analyse)
		first := r.first
		for c := range dispatchSize {
			if first.has(c) {
				s.dispatch[c] = append(s.dispatch[c], r)
			}
		}
	}
}

func (r *rule) analyse() {
	r.first = allChars()
	if r.always {
		return
	}
	// A pattern that can't be analysed is simply tried everywhere.
	if first, steps, err := analyse(r.pattern); err == nil {
		r.first, r.steps = first, steps
	}
}

// expression returns the compiled expression, or nil when it doesn't compile:
// such a rule never matches.
func (r *rule) expression() *backtrack.Program {
	r.once.Do(func() {
		if program, err := backtrack.Compile(r.pattern); err == nil {
			r.program = program
		}
	})
	return r.program
}

// fieldsOf returns the exported fields of a struct, or of what a pointer to one
// points at, those of embedded structs included.
func fieldsOf(v any) map[string]any {
	fields := map[string]any{}
	value := reflect.Indirect(reflect.ValueOf(v))
	if value.Kind() != reflect.Struct {
		return fields
	}
	for i := range value.NumField() {
		if value.Type().Field(i).IsExported() {
			fields[value.Type().Field(i).Name] = value.Field(i).Interface()
		}
	}
	return fields
}

// isNil is true for a nil interface and for an interface that holds a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	value := reflect.ValueOf(v)
	switch value.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Interface:
		return value.IsNil()
	}
	return false
}

// hidden returns a field of a struct that v points at, also one that isn't
// exported; nil where there is no such field. Chroma's lexers that combine two
// others have no way to ask for those; TestWrapped holds the fields' names to
// the version of chroma that is in use.
func hidden(v any, name string) any {
	value := reflect.Indirect(reflect.ValueOf(v))
	if value.Kind() != reflect.Struct {
		return nil
	}
	field := value.FieldByName(name)
	if !field.IsValid() || !field.CanAddr() {
		return nil
	}
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Interface()
}
