// Package expr reads and evaluates the JavaScript that pages are made of without
// being programs: constants, templates, conditions, arrow functions that return
// JSX, map over lists. Whatever would need a real engine (hooks, loops,
// assignments, classes, regular expressions, the browser) is an Unsupported
// error, which says what it was.
//
//   - value.go: values, scopes and errors
//   - lex.go: the words of the language, for all that read it
//   - scan.go: where an expression or a statement ends
//   - module.go: import and export statements
//   - ast.go: what a source is read into
//   - parse.go, pattern.go, jsx.go: reading it
//   - eval.go: its value
//   - operators.go, methods.go, statics.go: operators, methods of values, and
//     functions such as Object.keys
//
// Values are string, float64, bool, nil (both null and undefined), []any, Object,
// *Function, Namespace, and what a Host hands in, which is passed on as it is.
// They are never changed: a literal of the source is the same value each time.
//
// An evaluation ends at an error with a panic, which the exported functions
// return as an error.
//
// Work is bounded: a Machine stops after maxSteps, nesting has a limit, and a
// Scanner counts its steps.
package expr
