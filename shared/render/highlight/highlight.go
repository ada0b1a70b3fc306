package highlight

import (
	"crypto/sha256"
	"slices"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/bindery-docs/bindery/shared/base/memo"
)

// MaxBytes is the length of code above which it stays plain: what a block may
// cost grows with its length (see limits). The longest of 3,500 blocks of real
// sites has 25 kB.
const MaxBytes = 128 << 10

// Run is a stretch of code of one class, in bytes: code[Start:End].
type Run struct {
	Class      Class
	Start, End int
}

// Options says how a Highlighter works. The zero value is ready to use.
type Options struct {
	// CacheBytes bounds the memory of remembered runs, about; 0 means 32 MiB.
	CacheBytes int
}

// Highlighter turns code into runs. It is safe for concurrent use. It loads
// grammars when they are first used and keeps them, so one Highlighter should
// serve a whole process.
type Highlighter struct {
	languages *languages
	cache     *memo.Cache[[]Run]
	machines  sync.Pool // of *machine
}

// New makes a Highlighter.
func New(opt Options) *Highlighter {
	const defaultCacheBytes = 32 << 20
	if opt.CacheBytes <= 0 {
		opt.CacheBytes = defaultCacheBytes
	}
	h := &Highlighter{languages: newLanguages(), cache: newCache(opt.CacheBytes)}
	h.machines.New = func() any { return newMachine(h.languages) }
	return h
}

// Language resolves the label of a code fence, in any case: a language's name,
// an alias of it or a file extension. name is the language's name; known is
// false for an empty label and for one that means no language. Text and
// diagrams are known languages whose code stays plain.
func (h *Highlighter) Language(label string) (name string, known bool) {
	if lang := h.languages.find(label); lang != nil {
		return lang.name, true
	}
	return "", false
}

// Runs returns the runs of code in the language of a label (see Language). They
// cover the code exactly, in order; none is empty, and neighbours differ in
// class. Code of an unknown language, and code longer than MaxBytes, is one
// plain run. Equal calls share one slice, which callers must not change.
func (h *Highlighter) Runs(label, code string) []Run {
	if code == "" {
		return nil
	}
	lang := h.languages.find(label)
	if lang == nil || lang.lexer == nil && lang.lex == nil || len(code) > MaxBytes {
		return []Run{{Plain, 0, len(code)}}
	}
	return h.cache.Get(cacheKey(lang.name, code), func() []Run {
		if lang.lex == nil {
			return h.grammarRuns(lang, code)
		}
		var runs []Run
		switch lang.name {
		case markdownName, mdxName:
			runs, _ = lexMarkup(code, lang.name == mdxName, h.others)
		default:
			runs, _ = lang.lex(code)
		}
		return slices.Clip(runs)
	})
}

func newCache(limit int) *memo.Cache[[]Run] {
	return memo.New(limit, func(runs []Run) int { return len(runs) * int(unsafe.Sizeof(Run{})) })
}

func cacheKey(name, code string) [sha256.Size]byte {
	// A NUL ends the name: no language has one in its name.
	buffer := make([]byte, 0, 4096)
	buffer = append(buffer, name...)
	buffer = append(buffer, 0)
	buffer = append(buffer, code...)
	return sha256.Sum256(buffer)
}

// others returns the runs of code within Markdown in a language without an own
// lexer; nil where it is unknown, or plain, or holds code of further languages.
func (h *Highlighter) others(label, code string) []Run {
	lang := h.languages.find(label)
	if lang == nil || lang.lexer == nil || lang.lex != nil {
		return nil
	}
	return h.grammarRuns(lang, code)
}

func (h *Highlighter) grammarRuns(lang *language, code string) []Run {
	text, offsets := characters(code)
	m := h.machines.Get().(*machine)
	defer h.machines.Put(m)
	h.tokenise(m, lang, text)
	return join(m.tokens, text, offsets, len(code))
}

func (h *Highlighter) tokenise(m *machine, lang *language, text []rune) {
	// The grammars are data of others, compiled by others: should that lead to
	// a panic, the block stays plain from there on.
	defer func() {
		if recover() != nil {
			m.fail()
		}
	}()
	m.reset(len(text))
	m.text(lang, text, 0, 0)
}

// characters returns the characters of code as grammars take them: line ends are
// line feeds, and a byte that is not UTF-8 is U+FFFD. offsets[i] is where
// character i begins in code, and its last element is len(code); it is nil
// where that is i itself. A line feed follows the end of text, in its
// capacity, for grammars that want one.
func characters(code string) (text []rune, offsets []int) {
	text = make([]rune, 0, len(code)+1)
	simple := true
	for i := 0; i < len(code); i++ {
		if code[i] >= utf8.RuneSelf || code[i] == '\r' {
			simple = false
			break
		}
		text = append(text, rune(code[i]))
	}
	if !simple {
		text = text[:0]
		offsets = make([]int, 0, len(code)+1)
		for i, r := range code {
			if r == '\r' {
				r = '\n'
			} else if r == '\n' && i > 0 && code[i-1] == '\r' {
				continue // the carriage return before it stands for both
			}
			text = append(text, r)
			offsets = append(offsets, i)
		}
		offsets = append(offsets, len(code))
	}
	text = append(text, '\n')
	return text[:len(text)-1], offsets
}

// join turns tokens into runs. Grammars may leave text out or emit a stretch
// twice; runs do neither.
func join(tokens []token, text []rune, offsets []int, size int) []Run {
	runs := make([]Run, 0, len(tokens)/2+1)
	add := func(class Class, end int) {
		start := 0
		if n := len(runs); n > 0 {
			start = runs[n-1].End
			if runs[n-1].Class == class {
				runs[n-1].End = max(start, end)
				return
			}
		}
		if start < end {
			runs = append(runs, Run{class, start, end})
		}
	}
	offset := func(i int) int {
		if offsets == nil {
			return i
		}
		return offsets[i]
	}
	at := 0
	for _, t := range tokens {
		start := max(t.start, at)
		if start >= t.end {
			continue
		}
		if start > at {
			add(Plain, offset(start))
		}
		add(t.traits.classOf(t.typ, text, start, t.end), offset(t.end))
		at = t.end
	}
	if at < len(text) {
		add(Plain, size)
	}
	return slices.Clip(runs)
}
