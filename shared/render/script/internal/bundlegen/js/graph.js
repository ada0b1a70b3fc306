// Draws graphs: flowcharts, states, classes, entities. The layout engine is a
// program of its own (elk.js), which the host runs when it is called for.
import { parseMermaid } from 'beautiful-mermaid/parser.ts'
import { layoutGraphSync } from 'beautiful-mermaid/layout.ts'
import { renderSvg } from 'beautiful-mermaid/renderer.ts'
import { parseClassDiagram } from 'beautiful-mermaid/class/parser.ts'
import { layoutClassDiagramSync } from 'beautiful-mermaid/class/layout.ts'
import { renderClassSvg } from 'beautiful-mermaid/class/renderer.ts'
import { parseErDiagram } from 'beautiful-mermaid/er/parser.ts'
import { layoutErDiagramSync } from 'beautiful-mermaid/er/layout.ts'
import { renderErSvg } from 'beautiful-mermaid/er/renderer.ts'

const colors = { bg: 'var(--d-bg)', fg: 'var(--d-text)' }

const kinds = {
  graph: [parseMermaid, layoutGraphSync, renderSvg, (g) => g.nodes.size + g.edges.length],
  class: [(t) => parseClassDiagram(lines(t)), layoutClassDiagramSync, renderClassSvg,
    (g) => g.classes.length + g.relationships.length],
  er: [(t) => parseErDiagram(lines(t)), layoutErDiagramSync, renderErSvg,
    (g) => g.entities.length + g.relationships.length],
}

const lines = (text) => text.split('\n').map((l) => l.trim()).filter((l) => l)

// draw gives the SVG and the texts of the drawing's relations and notes, or why it is
// not drawn. limit bounds nodes and edges together.
globalThis.draw = (kind, text, limit) => {
  const [parse, layout, render, size] = kinds[kind]
  const graph = parse(text)
  const n = size(graph)
  if (n > limit) return { large: n }
  if (n === 0) return { empty: true }
  const svg = render(layout(graph, { padding: 12, layerSpacing: 60 }), colors, 'x', true)
  const edges = []
  const notes = []
  for (const e of graph.edges ?? []) {
    const source = graph.nodes.get(e.source)
    const target = graph.nodes.get(e.target)
    if (source?.shape === 'note') notes.push([nameOf(graph, e.target), source.label])
    else if (target?.shape === 'note') notes.push([nameOf(graph, e.source), target.label])
    else edges.push([nameOf(graph, e.source), e.label ?? '', nameOf(graph, e.target), e.hasArrowStart && e.hasArrowEnd ? 'both' : ''])
  }
  return { svg, edges, notes }
}

const nameOf = (graph, id) => {
  if (/^_(start|end)\d*$/.test(id)) return id.startsWith('_start') ? 'start' : 'end'
  const find = (groups) => {
    for (const g of groups) {
      if (g.id === id) return g.label
      const inner = find(g.children)
      if (inner) return inner
    }
  }
  return graph.nodes.get(id)?.label || find(graph.subgraphs) || id
}
