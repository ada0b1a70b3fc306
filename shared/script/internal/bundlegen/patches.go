package main

import "strings"

// change is one place of beautiful-mermaid that is not as pages need it. old
// must occur exactly once in file, or with all set, at least once.
type change struct {
	file, why, old, new string
	all                 bool
}

// patches: what the library can't read must be an error and never be left out
// in silence, since the caller then shows the source; and what sites write
// often must be read.
var patches = []change{
	{file: "parser.ts", why: "arrows of any length", old: `/^(<)?(-->|-.->|==>|---|-\.-|===)(?:\|([^|]*)\|)?/`, new: `/^(<)?(-{2,}>|-\.+->|={2,}>|-{3,}|-\.+-|={3,})(?:\s*\|([^|]*)\|)?/`},
	{file: "parser.ts", why: "words within an arrow, with and without spaces", old: `/^(<)?(--|-\.|==)\s+(.+?)\s+(-->|---|\.\->|-\.\-|==>|===)/`, new: `/^(<)?(--|-\.|==)\s*([^\s>=.-].*?)\s*(-{2,}>|-{3,}|\.+->|\.+-|={2,}>|={3,})/`},
	{file: "parser.ts", why: "style of longer arrows", old: "if (op === '-.->') return 'dotted'", new: "if (op.startsWith('-.')) return 'dotted'"},
	{file: "parser.ts", why: "style of longer thick arrows", old: "if (op === '==>') return 'thick'", new: "if (op.startsWith('==')) return 'thick'"},
	{file: "parser.ts", why: "a bare name does not take an arrow's hyphens", old: `const BARE_NODE_REGEX = /^([\w-]+)/`, new: `const BARE_NODE_REGEX = /^([\w\u00aa-\uffff]+(?:[-.][\w\u00aa-\uffff]+)*)/`},
	{file: "parser.ts", why: "what is no arrow is an error", old: "if (!textMatch) break", new: "if (!textMatch) throw new Error('a line can not be read')"},
	{file: "parser.ts", why: "an arrow without an end is an error", old: "if (!nextGroup || nextGroup.ids.length === 0) break", new: "if (!nextGroup || nextGroup.ids.length === 0) throw new Error('an arrow leads nowhere')"},
	{file: "parser.ts", why: "a line without a node is an error", old: "if (!firstGroup || firstGroup.ids.length === 0) return", new: "if (/^(click|href|accTitle|accDescr)\\b/.test(remaining)) return\n" +
		"  if (!firstGroup || firstGroup.ids.length === 0) throw new Error('a line can not be read')"},
	{
		file: "text-metrics.ts", why: "room for wider fonts than Inter",
		old: "fontWeight >= 600 ? 0.60 : fontWeight >= 500 ? 0.57 : 0.54", new: "fontWeight >= 600 ? 0.66 : fontWeight >= 500 ? 0.63 : 0.60",
	},
	{
		file: "layout-engine.ts", why: "links that share lines can't be told apart",
		old: "  mergeEdges: true,", new: "  mergeEdges: false,",
	},
	{
		file: "layout-engine.ts", why: "without shared lines, nodes stay where their links end",
		old: "  alignLayerNodes(nodes, edges, graph.direction)\n", new: "",
	},
	{
		file: "layout-engine.ts", why: "compaction loses the places of graphs from forty nodes on",
		old: "'elk.layered.compaction.postCompaction.strategy': 'LEFT_RIGHT_CONSTRAINT_LOCKING',", new: "",
	},
	{file: "layout-engine.ts", why: "no wide margins", old: "  padding: 40,", new: "  padding: 12,"},
	// The engine knows no classes of Unicode in patterns.
	{file: "parser.ts", why: "letters of names of states", old: `[\w\p{L}`, new: `[\w\u00aa-\uffff`, all: true},
	// Labels in quotes may hold brackets; names may hold any letter.
	quoted("doublecircle", `^([\w-]+)\(\(\((.+?)\)\)\)`),
	quoted("stadium", `^([\w-]+)\(\[(.+?)\]\)`),
	quoted("circle", `^([\w-]+)\(\((.+?)\)\)`),
	quoted("subroutine", `^([\w-]+)\[\[(.+?)\]\]`),
	quoted("cylinder", `^([\w-]+)\[\((.+?)\)\]`),
	quoted("trapezoid", `^([\w-]+)\[\/(.+?)\\\]`),
	quoted("trapezoid-alt", `^([\w-]+)\[\\(.+?)\/\]`),
	quoted("hexagon", `^([\w-]+)\{\{(.+?)\}\}`),
	quoted("rectangle", `^([\w-]+)\[(.+?)\]`),
	quoted("rounded", `^([\w-]+)\((.+?)\)`),
	quoted("diamond", `^([\w-]+)\{(.+?)\}`),
}

// quoted lets the label of a node's pattern be in quotes with anything inside,
// and its name be of any letters, with hyphens and dots within.
func quoted(shape, pattern string) change {
	return change{
		file: "parser.ts", why: "quoted labels of " + shape, old: "/" + pattern + "/",
		new: "/" + strings.NewReplacer(`([\w-]+)`, `([\w\u00aa-\uffff]+(?:[-.][\w\u00aa-\uffff]+)*)`, `(.+?)`, `(\s*".*?"\s*|.+?)`).Replace(pattern) + "/",
	}
}
