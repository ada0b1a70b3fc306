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
	{file: "parser.ts", why: "anything but an arrow is an error", old: "if (!textMatch) break", new: "if (!textMatch) throw new Error('a line can not be read')"},
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
	{
		file: "layout-engine.ts", why: "what comes first in a circle of links stands first",
		old: "'elk.layered.wrapping.strategy': 'OFF',", new: "'elk.layered.wrapping.strategy': 'OFF',\n'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',",
	},
	{
		file: "layout-engine.ts", why: "nodes and groups stand in the order of the source",
		old: "  return elkGraph\n", new: orderLines + "  return elkGraph\n",
	},
	{
		file: "layout-engine.ts", why: "notes stand beside their states", all: true,
		old: "labels: [{ text: node.label }],", new: "labels: [{ text: node.label }], ...(node.shape === 'note' ? { layoutOptions: { 'elk.commentBox': 'true' } } : {}),",
	},
	{
		file: "renderer.ts", why: "heads at the beginnings of links point outwards", all: true,
		old: `orient="auto-start-reverse"`, new: `orient="auto"`,
	},
	{file: "parser.ts", why: "notes, choices and states without words", old: "    // --- state description: `s1 : Description` ---\n", new: stateLines},
	{
		file: "parser.ts", why: "words for a state that was named before; a line that does not name states is an error",
		old: "      registerStateNode(graph, compositeStack, { id, label, shape: 'rounded' })\n      continue\n    }\n  }\n",
		new: "      registerStateNode(graph, compositeStack, { id, label, shape: 'rounded' })\n      const named = graph.nodes.get(id)!\n" +
			"      if (compositeStateIds.has(id)) throw new Error('a line can not be read')\n      named.label = label\n      continue\n    }\n" +
			"    if (/^(hide empty description|scale\\s|classDef\\s|class\\s|style\\s|click\\s|accTitle|accDescr)/.test(line)) continue\n" +
			"    throw new Error('a line can not be read')\n  }\n",
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

// stateLines are lines of state diagrams that the library does not know. A note
// is a node of the shape "note" with a dotted link to its state.
const stateLines = `    const noteMatch = line.match(/^note\s+(left|right)\s+of\s+([\w\u00aa-\uffff.-]+)\s*(?::\s*(.+))?$/i)
    if (noteMatch) {
      const body = []
      if (noteMatch[3]) body.push(noteMatch[3])
      else {
        for (i++; i < lines.length && !/^end\s+note$/i.test(lines[i]!); i++) body.push(lines[i]!)
        if (i >= lines.length) throw new Error('a note has no end')
      }
      const about = noteMatch[2]!
      if (!compositeStateIds.has(about)) ensureStateNode(graph, compositeStack, about)
      const id = '_note' + graph.nodes.size
      registerStateNode(graph, compositeStack, { id, label: normalizeBrTags(body.join('<br>')), shape: 'note' as any })
      graph.nodeStyles.set(id, { fill: 'var(--d-note)', stroke: 'var(--d-note-edge)' })
      const [source, target] = /^left/i.test(noteMatch[1]!) ? [id, about] : [about, id]
      graph.edges.push({ source, target, style: 'dotted', hasArrowStart: false, hasArrowEnd: false })
      continue
    }
    const choiceMatch = line.match(/^state\s+([\w\u00aa-\uffff]+)\s*<<choice>>$/i)
    if (choiceMatch) {
      registerStateNode(graph, compositeStack, { id: choiceMatch[1]!, label: '', shape: 'diamond' })
      continue
    }
    const bareMatch = line.match(/^(?:state\s+)?([\w\u00aa-\uffff]+)$/)
    if (bareMatch) {
      if (!compositeStateIds.has(bareMatch[1]!)) ensureStateNode(graph, compositeStack, bareMatch[1]!)
      continue
    }

`

// orderLines sort nodes and groups by their first mention. A group is mentioned
// where the first node in it is.
const orderLines = `  const places = new Map([...graph.nodes.keys()].map((id, i) => [id, i] as [string, number]))
  const first = (n: any): number => Math.min(places.get(n.id) ?? Infinity, ...(n.children ?? []).map(first))
  const arrange = (n: any): void => {
    if (!n.children) return
    n.children.sort((a: any, b: any) => { const d = first(a) - first(b); return d === d ? d : 0 })
    n.children.forEach(arrange)
  }
  arrange(elkGraph)
`

// quoted lets the label of a node's pattern be in quotes with anything inside,
// and its name be of any letters, with hyphens and dots within.
func quoted(shape, pattern string) change {
	return change{
		file: "parser.ts", why: "quoted labels of " + shape, old: "/" + pattern + "/",
		new: "/" + strings.NewReplacer(`([\w-]+)`, `([\w\u00aa-\uffff]+(?:[-.][\w\u00aa-\uffff]+)*)`, `(.+?)`, `(\s*".*?"\s*|.+?)`).Replace(pattern) + "/",
	}
}
