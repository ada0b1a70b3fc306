// The figures of dagre for the graphs of the suite:
//
//   go test . -run TestDagre -graphs graphs.json
//   npm install dagre-d3-es@7.0.14
//   node testdata/dagre.mjs graphs.json testdata/dagre.tsv
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.cwd() + '/')
const load = (path) => import(pathToFileURL(require.resolve('dagre-d3-es/src/' + path)))
const { layout } = await load('dagre/index.js')
const { Graph } = await load('graphlib/index.js')

const out = []
for (const { Name, Digest, Graph: g } of JSON.parse(fs.readFileSync(process.argv[2]))) {
  const graph = new Graph({ multigraph: true, compound: true })
  graph.setGraph({ rankdir: ['TB', 'BT', 'LR', 'RL'][g.Direction], nodesep: g.NodeSpacing, ranksep: g.RankSpacing })
  g.Nodes.forEach((n, i) => graph.setNode('n' + i, { width: n.Width, height: n.Height }))
  g.Clusters?.forEach((c, i) => graph.setNode('c' + i, {}))
  g.Nodes.forEach((n, i) => n.Parent >= 0 && graph.setParent('n' + i, 'c' + n.Parent))
  g.Clusters?.forEach((c, i) => c.Parent >= 0 && graph.setParent('c' + i, 'c' + c.Parent))
  g.Edges?.forEach((e, i) =>
    graph.setEdge('n' + e.From, 'n' + e.To, { width: e.LabelWidth, height: e.LabelHeight, labelpos: 'c', minlen: e.MinLength || 1 }, 'e' + i))
  layout(graph)
  const pieces = []
  let length = 0
  g.Edges?.forEach((e, i) => {
    const p = graph.edge('n' + e.From, 'n' + e.To, 'e' + i).points
    for (let k = 1; k < p.length; k++) {
      length += Math.hypot(p[k].x - p[k - 1].x, p[k].y - p[k - 1].y)
      pieces.push([p[k - 1], p[k], e])
    }
  })
  const side = (a, b, c) => (b.x - a.x) * (c.y - a.y) > (b.y - a.y) * (c.x - a.x)
  const apart = (a, b, c, d) => Math.max(a, b) < Math.min(c, d) || Math.max(c, d) < Math.min(a, b)
  let crossings = 0
  pieces.forEach(([a, b, e], i) => {
    for (const [c, d, o] of pieces.slice(0, i)) {
      if (e.From === o.From || e.From === o.To || e.To === o.From || e.To === o.To) continue
      if (apart(a.x, b.x, c.x, d.x) || apart(a.y, b.y, c.y, d.y)) continue
      if (side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b)) crossings++
    }
  })
  out.push([Name, Digest, crossings, Math.round(length)].join('\t'))
}
fs.writeFileSync(process.argv[3], out.join('\n') + '\n')
