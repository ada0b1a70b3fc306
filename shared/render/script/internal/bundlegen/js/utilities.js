// Makes the style sheet of utility classes.
import { compile } from 'tailwindcss'
import theme from 'tailwindcss/theme.css'
import compat from './compat.css'

const input = `@layer properties, bindery, utilities;
@layer utilities { ${theme} }
${compat}
@layer utilities { @tailwind utilities; }`

const escape = (name) => name.replace(/[^\w-\u0080-\uffff]/g, '\\$&').replace(/^(-?)(\d)/, (_, dash, digit) => `${dash}\\3${digit} `)

// Pairs of a colour and an opacity, as version 3 of Tailwind knew them: the
// colour with the opacity behind a slash, for elements that have both classes.
const opacity = /^((?:.*:)?(?:bg|text|border|divide|ring|placeholder))-opacity-(\d{1,3})$/
const maxPairs = 300

function pairs(names) {
  const found = []
  for (const o of names) {
    const m = opacity.exec(o)
    if (!m) continue
    for (const c of names) {
      if (found.length >= maxPairs) return found
      if (c.startsWith(m[1] + '-') && !c.includes('/') && !opacity.test(c)) found.push([c, o, `${c}/${m[2]}`])
    }
  }
  return found
}

// utilities gives the style sheet for class names and those that have no
// rule in it.
globalThis.utilities = async (names) => {
  const compiler = await compile(input, {})
  const extra = pairs(names)
  let css = compiler.build(names.concat(extra.map((p) => p[2])))
  const paired = new Set()
  for (const [color, alpha, both] of extra) {
    const rule = '.' + escape(both)
    if (names.includes(both) || !css.includes(rule)) continue
    css = css.replaceAll(rule, `.${escape(color)}.${escape(alpha)}`)
    paired.add(alpha)
  }
  const selectors = new Set(css.replace(/\/\*[^]*?\*\//g, '').match(/\.(?:-?\\3\d |\\.|[\w-\u0080-\uffff])+/g))
  const known = (name) => paired.has(name) || selectors.has('.' + escape(name))
  return { css, unknown: names.filter((n) => !known(n)) }
}
