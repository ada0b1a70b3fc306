package backtrack

import (
	"errors"
	"fmt"

	"github.com/dlclark/regexp2/v2/syntax"
)

// errUnsupported is returned for expressions that are valid, but that this
// package doesn't run; the package comment lists them.
var errUnsupported = errors.New("backtrack: unsupported expression")

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	code      []inst
	strings   [][]rune
	tables    []table
	slots     int // groups, the whole match included
	minLength int // characters that a match has at least
	// room is how much an attempt may push on a stack between two jumps
	// backwards: four for each instruction that pushes.
	room int
}

// op is what an instruction does. Those that end in RTL go from right to left,
// inside what looks behind.
type op uint8

const (
	opNothing op = iota // fails
	opStop
	opNop
	opGoto // a: target

	// One character; a: the character, class: of the sets.
	opOne
	opNotone
	opSet
	// So many characters; b: how many, 1 for one from right to left.
	opRep
	opRepRTL
	// As many characters as there are, at most b. An atomic loop doesn't give any back.
	opOneLoop
	opNotoneLoop
	opSetLoop
	opLoopRTL
	// As few characters as will do, at most b.
	opLazy

	opString // a: index of the string
	opStringRTL
	opRef      // a: group
	opDispatch // a: index of the table

	opBol
	opEol
	opBoundary
	opNonboundary
	opBeginning
	opStart
	opEndZ

	opLazybranch     // a: where to go on if what follows fails
	opBranchmark     // a: target
	opLazybranchmark // a: target
	opNullcount      // a: count
	opSetcount       // a: count
	opBranchcount    // a: target, b: limit
	opNullmark
	opSetmark
	opCapturemark // a: group
	opGetmark
	opSetjump
	opBackjump
	opForejump
)

// kind is which characters an instruction takes.
type kind uint8

const (
	kindOne kind = iota
	kindNotone
	kindSet
)

type inst struct {
	op     op
	kind   kind
	atomic bool // of loops
	rtl    bool // from right to left; those that are hot have an op of their own
	fold   bool // of opRef: in any case
	a, b   int32
	class  *class // of kindSet
}

func (in *inst) takes(r rune) bool {
	switch in.kind {
	case kindOne:
		return r == in.a
	case kindNotone:
		return r != in.a
	default:
		return in.class.has(r)
	}
}

// table says where to go on after each next character, which no two of its
// branches share.
type table struct {
	ascii    [128]int32 // targets; -1 fails
	classes  []*class
	branches []int32
}

func (t *table) target(r rune) int32 {
	if uint32(r) < uint32(len(t.ascii)) {
		return t.ascii[r]
	}
	for i, c := range t.classes {
		if c.has(r) {
			return t.branches[i]
		}
	}
	return -1
}

// Compile parses and compiles an expression. The error is regexp2's for one
// that it can't read, and wraps errUnsupported for one that it can.
func Compile(expression string) (*Program, error) {
	tree, err := syntax.Parse(expression, syntax.ParseOptions{})
	if err != nil {
		return nil, err
	}
	const refused = syntax.RightToLeft | syntax.ECMAScript | syntax.RE2
	if tree.Options&refused != 0 {
		return nil, fmt.Errorf("%w: its mode", errUnsupported)
	}
	code, err := syntax.Write(tree)
	if err != nil {
		return nil, err
	}
	return decode(code)
}

// Groups is the number of the expression's groups, without the whole match.
func (p *Program) Groups() int { return p.slots - 1 }

// trackSlots is how much an instruction that pushes pushes at most.
const trackSlots = 4

func decode(code *syntax.Code) (*Program, error) {
	d := decoder{
		from:    code,
		index:   make(map[int]int32, len(code.Codes)/2),
		classes: make([]*class, len(code.Sets)),
		program: &Program{
			strings: code.Strings,
			slots:   code.Capsize,
			room:    code.TrackCount * trackSlots,
		},
	}
	if code.RightToLeft {
		return nil, fmt.Errorf("%w: its direction", errUnsupported)
	}
	if code.FindOptimizations != nil {
		d.program.minLength = code.FindOptimizations.MinRequiredLength
	}
	for i, set := range code.Sets {
		d.classes[i] = newClass(set)
	}
	for at := 0; at < len(code.Codes); {
		d.index[at] = int32(len(d.program.code))
		in, size, err := d.instruction(at)
		if err != nil {
			return nil, err
		}
		d.program.code = append(d.program.code, in)
		at += size
	}
	return d.program, d.resolve()
}

type decoder struct {
	from    *syntax.Code
	index   map[int]int32 // of the instruction that begins at a place of the code
	classes []*class
	program *Program
}

// instruction decodes what begins at a place of the code. Targets of jumps stay
// places until resolve.
func (d *decoder) instruction(at int) (in inst, size int, err error) {
	word := syntax.InstOp(d.from.Codes[at])
	how, found := forms[word&syntax.Mask]
	if !found || at+how.size > len(d.from.Codes) {
		return in, 0, fmt.Errorf("%w: instruction %d", errUnsupported, word)
	}
	in.op = how.op
	if in.rtl = word&syntax.Rtl != 0; in.rtl && how.rtl != opNothing {
		in.op, in.b = how.rtl, 1
	}
	if how.size > 1 {
		in.a = int32(d.from.Codes[at+1])
	}
	if how.size > 2 {
		in.b = int32(d.from.Codes[at+2])
	}
	switch word & syntax.Mask {
	case syntax.Ref:
		in.fold = word&syntax.Ci != 0
	case syntax.Multi:
		if word&syntax.Ci != 0 {
			return in, 0, fmt.Errorf("%w: string of any case", errUnsupported)
		}
	case syntax.Capturemark:
		if in.b != -1 {
			return in, 0, fmt.Errorf("%w: balancing group", errUnsupported)
		}
	}
	if how.kind != noKind {
		in.kind = kind(how.kind)
		in.atomic = how.atomic
		if in.kind == kindSet {
			in.class = d.classes[in.a]
		}
	}
	return in, how.size, nil
}

// noKind is for instructions that take no characters of a kind.
const noKind = -1

// form is how one of regexp2's instructions is written and what it becomes.
type form struct {
	op     op
	rtl    op  // from right to left; opNothing where the direction doesn't matter
	size   int // with its operands
	kind   int
	atomic bool
}

func character(op, rtl op, kind kind, size int) form {
	return form{op: op, rtl: rtl, size: size, kind: int(kind)}
}

func atomic(f form) form {
	f.atomic = true
	return f
}

func directed(op, rtl op, size int) form {
	return form{op: op, rtl: rtl, size: size, kind: noKind}
}

func plain(op op, size int) form { return form{op: op, size: size, kind: noKind} }

// forms are the forms of regexp2's instructions; those that aren't here are not
// supported.
var forms = map[syntax.InstOp]form{
	syntax.One:              character(opOne, opRepRTL, kindOne, 2),
	syntax.Notone:           character(opNotone, opRepRTL, kindNotone, 2),
	syntax.Set:              character(opSet, opRepRTL, kindSet, 2),
	syntax.Onerep:           character(opRep, opRepRTL, kindOne, 3),
	syntax.Notonerep:        character(opRep, opRepRTL, kindNotone, 3),
	syntax.Setrep:           character(opRep, opRepRTL, kindSet, 3),
	syntax.Oneloop:          character(opOneLoop, opLoopRTL, kindOne, 3),
	syntax.Notoneloop:       character(opNotoneLoop, opLoopRTL, kindNotone, 3),
	syntax.Setloop:          character(opSetLoop, opLoopRTL, kindSet, 3),
	syntax.Oneloopatomic:    atomic(character(opOneLoop, opLoopRTL, kindOne, 3)),
	syntax.Notoneloopatomic: atomic(character(opNotoneLoop, opLoopRTL, kindNotone, 3)),
	syntax.Setloopatomic:    atomic(character(opSetLoop, opLoopRTL, kindSet, 3)),
	syntax.Onelazy:          character(opLazy, opNothing, kindOne, 3),
	syntax.Notonelazy:       character(opLazy, opNothing, kindNotone, 3),
	syntax.Setlazy:          character(opLazy, opNothing, kindSet, 3),

	syntax.Multi:    directed(opString, opStringRTL, 2),
	syntax.Ref:      plain(opRef, 2),
	syntax.Dispatch: plain(opDispatch, 2),

	syntax.Bol:             plain(opBol, 1),
	syntax.Eol:             plain(opEol, 1),
	syntax.Boundary:        plain(opBoundary, 1),
	syntax.Nonboundary:     plain(opNonboundary, 1),
	syntax.Beginning:       plain(opBeginning, 1),
	syntax.Start:           plain(opStart, 1),
	syntax.EndZ:            plain(opEndZ, 1),
	syntax.Nothing:         plain(opNothing, 1),
	syntax.Stop:            plain(opStop, 1),
	syntax.UpdateBumpalong: plain(opNop, 1), // for searching alone
	syntax.Goto:            plain(opGoto, 2),
	syntax.Lazybranch:      plain(opLazybranch, 2),
	syntax.Branchmark:      plain(opBranchmark, 2),
	syntax.Lazybranchmark:  plain(opLazybranchmark, 2),
	syntax.Nullcount:       plain(opNullcount, 2),
	syntax.Setcount:        plain(opSetcount, 2),
	syntax.Branchcount:     plain(opBranchcount, 3),
	syntax.Nullmark:        plain(opNullmark, 1),
	syntax.Setmark:         plain(opSetmark, 1),
	syntax.Capturemark:     plain(opCapturemark, 3),
	syntax.Getmark:         plain(opGetmark, 1),
	syntax.Setjump:         plain(opSetjump, 1),
	syntax.Backjump:        plain(opBackjump, 1),
	syntax.Forejump:        plain(opForejump, 1),
}

// resolve turns the targets of jumps into indexes of instructions.
func (d *decoder) resolve() error {
	target := func(place int) (int32, error) {
		index, ok := d.index[place]
		if !ok {
			return 0, fmt.Errorf("backtrack: no instruction at %d", place)
		}
		return index, nil
	}
	for i := range d.program.code {
		in := &d.program.code[i]
		var err error
		switch in.op {
		case opGoto, opLazybranch, opBranchmark, opLazybranchmark, opBranchcount:
			in.a, err = target(int(in.a))
		}
		if err != nil {
			return err
		}
	}
	for _, from := range d.from.Dispatches {
		var t table
		for i := range t.ascii {
			t.ascii[i] = -1
		}
		for i, set := range from.Sets {
			to, err := target(from.Branches[i])
			if err != nil {
				return err
			}
			t.classes = append(t.classes, d.classes[set])
			t.branches = append(t.branches, to)
			for r := range t.ascii {
				if t.ascii[r] < 0 && d.classes[set].has(rune(r)) {
					t.ascii[r] = to
				}
			}
		}
		d.program.tables = append(d.program.tables, t)
	}
	return nil
}
