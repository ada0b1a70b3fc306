// Draws formulas with KaTeX: a line of JSON in, {tex, display}, a line of JSON out,
// the MathML or null.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const { default: katex } = await import(pathToFileURL(process.argv[2]))
console.log = console.warn = console.error = () => {} // KaTeX speaks of what it reads
for await (const line of createInterface({ input: process.stdin })) {
  const { tex, display } = JSON.parse(line)
  let mathml = null
  try {
    mathml = katex.renderToString(tex, { displayMode: display, output: 'mathml', throwOnError: true, strict: false })
  } catch {}
  process.stdout.write(JSON.stringify(mathml) + '\n')
}
