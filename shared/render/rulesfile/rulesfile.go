// Package rulesfile reads the file in which a site's author sets what is found in it,
// how it is exported and what is published. It knows the file's form and the part
// about publishing; package check reads the other parts.
//
//	rulesfile.go  File: Read, Parse, Fault, Fields
package rulesfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/bindery-docs/bindery/shared/base/ignore"
)

// Name is the file's name, at the root of a site.
const Name = "bindery.yaml"

// Limits of the file, far above what authors write.
const (
	// MaxBytes is the greatest size of the file.
	MaxBytes   = 64 << 10
	maxNesting = 100
)

// Fault is something wrong with a file, at a line and a column from 1.
type Fault struct {
	Line, Column int
	Message      string
}

// File has the settings of a bindery.yaml.
type File struct {
	// Publish selects the files that the site publishes beside the types that the
	// format serves.
	Publish ignore.Rules
	// Faults are in the order of the file.
	Faults []Fault
	// Unusable reports that the fault is about the whole file: nothing else is known.
	Unusable bool
}

// Sections read the parts "check" and "run", by these names. One that is not there is
// not looked at.
type Sections map[string]func(f *File, value ast.Node)

// Read reads the file in fsys. It returns nil if there is none, and an error if the
// file can't be read.
func Read(fsys fs.FS, sections Sections) (*File, error) {
	info, err := fs.Stat(fsys, Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxBytes {
		return tooLong(), nil
	}
	data, err := fs.ReadFile(fsys, Name)
	if err != nil {
		return nil, err
	}
	return Parse(data, sections), nil
}

// tooLong is a file of more than MaxBytes.
func tooLong() *File {
	return unusable(1, 1, fmt.Sprintf("the file has more than %d KiB", MaxBytes>>10))
}

// unusable is a file with a fault of the whole.
func unusable(line, column int, message string) *File {
	return &File{Faults: []Fault{{line, column, message}}, Unusable: true}
}

// Parse reads the text of a file. It walks the syntax tree and follows no alias, so
// that no file can unfold into something huge.
func Parse(src []byte, sections Sections) (f *File) {
	if len(src) > MaxBytes {
		return tooLong()
	}
	if depth := strings.Count(string(src), "[") + strings.Count(string(src), "{"); depth > maxNesting {
		return unusable(1, 1, fmt.Sprintf("the file has more than %d brackets", maxNesting))
	}
	defer func() {
		// No file may end its reader because of a panic in the parser.
		if p := recover(); p != nil {
			f = unusable(1, 1, "the file can't be read as YAML")
		}
	}()
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		line, column, message := 1, 1, "the file is not YAML"
		if fault, ok := errors.AsType[yaml.Error](err); ok {
			message += ": " + fault.GetMessage()
			if t := fault.GetToken(); t != nil && t.Position != nil {
				line, column = t.Position.Line, t.Position.Column
			}
		}
		return unusable(line, column, message)
	}
	f = new(File)
	for i, doc := range tree.Docs {
		if i > 0 {
			f.Fault(doc.Body, "the file has more than one document")
			break
		}
		f.Fields(doc.Body, "the file", func(key string, at, value ast.Node) {
			switch key {
			case "check", "run":
				if read := sections[key]; read != nil {
					read(f, value)
				}
			case "publish":
				f.published(value)
			default:
				f.Fault(at, "unknown key %q: the keys are \"check\", \"publish\" and \"run\"", Short(key))
			}
		})
	}
	return f
}

// Fault adds a fault at a node; nil means the beginning of the file.
func (f *File) Fault(at ast.Node, format string, args ...any) {
	line, column := 1, 1
	if at != nil {
		if t := at.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	f.Faults = append(f.Faults, Fault{line, column, fmt.Sprintf(format, args...)})
}

// Fields calls fn with the members of an object, which faults call what. An empty value
// has none.
func (f *File) Fields(n ast.Node, what string, fn func(key string, at, value ast.Node)) {
	var members []*ast.MappingValueNode
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentNode, *ast.CommentGroupNode:
		return
	case *ast.MappingNode:
		members = n.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{n}
	default:
		f.Fault(n, "%s is not a list of \"key: value\" lines", what)
		return
	}
	for _, m := range members {
		key := ""
		if t := m.Key.GetToken(); t != nil {
			key = t.Value
		}
		fn(key, m.Key, m.Value)
	}
}

// published reads which files are published besides those that the format serves.
func (f *File) published(value ast.Node) {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		f.Fault(value, "\"publish\" must be a list of patterns, in the form of a .gitignore")
		return
	}
	var lines strings.Builder
	for _, v := range list.Values {
		s, ok := v.(*ast.StringNode)
		if !ok || strings.ContainsAny(s.Value, "\r\n") || ignore.Parse(s.Value) == nil {
			f.Fault(v, "a pattern of \"publish\" must be a text such as \"*.txt\" or \"downloads/\"")
			continue
		}
		lines.WriteString(s.Value + "\n")
	}
	f.Publish = ignore.Parse(lines.String())
}

// Short truncates a text for a message.
func Short(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
