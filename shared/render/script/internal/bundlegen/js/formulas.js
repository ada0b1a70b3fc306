// Makes MathML of TeX. bundlegen writes a count into each function and loop of
// this program: $begin, $left and $charge are its own (count.go there).
import './temml.js'
import 'temml/contrib/mhchem/mhchem.js'
import 'temml/contrib/physics/physics.js'
import 'temml/contrib/texvc/texvc.js'
import buildMathML from 'temml/src/buildMathML.js'
import { StyleLevel } from 'temml/src/constants.js'
import { _mathmlGroupBuilders as builders } from 'temml/src/defineFunction.js'
import defineMacro from 'temml/src/defineMacro.js'
import MacroExpander from 'temml/src/MacroExpander.js'
import { MathNode } from 'temml/src/mathMLTree.js'
import ParseError from 'temml/src/ParseError.js'
import Parser from 'temml/src/Parser.js'
import parseTree from 'temml/src/parseTree.js'
import Settings from 'temml/src/Settings.js'
import Style from 'temml/src/Style.js'
import { hyphenate } from 'temml/src/utils.js'
import { macros } from './macros.js'

for (const [name, body] of macros) defineMacro(name, body)

// A command that is off, such as one for links, is an error, not red text.
Parser.prototype.formatUnsupportedCmd = (text) => {
  throw new ParseError(`${text} is not supported`)
}

// maxTokens bounds what one use of a macro unfolds to.
const maxTokens = 5000

// Temml puts arguments into a macro's body one by one and moves the rest each
// time. This does the same at once, and counts what it makes.
MacroExpander.prototype.expandOnce = function (expandableOnly) {
  const top = this.popToken()
  const expansion = top.noexpand ? null : this._getExpansion(top.text)
  if (expansion == null || (expandableOnly && expansion.unexpandable)) {
    if (expandableOnly && expansion == null && top.text[0] === '\\' && !this.isDefined(top.text)) {
      throw new ParseError(`Undefined control sequence: ${top.text}`)
    }
    this.pushToken(top)
    return false
  }
  if (++this.expansionCount > this.settings.maxExpand) throw new Limit('its macros unfold too often')
  const args = this.consumeArgs(expansion.numArgs, expansion.delimiters)
  let made = expansion.tokens
  if (expansion.numArgs) {
    made = []
    // Bodies and arguments stand in reverse order.
    for (let i = expansion.tokens.length - 1; i >= 0; i--) {
      const token = expansion.tokens[i]
      const arg = token.text === '#' && i > 0 ? expansion.tokens[--i].text : ''
      if (/^[1-9]$/.test(arg)) {
        const list = args[arg - 1] || []
        if (made.length + list.length > maxTokens) throw new Limit('its macros unfold to too much')
        for (let k = list.length - 1; k >= 0; k--) made.push(list[k])
      } else if (token.text === '#' && arg !== '#') {
        throw new ParseError('Not a valid argument number', token)
      } else {
        made.push(token)
      }
    }
    made.reverse()
  }
  if (made.length > maxTokens) throw new Limit('its macros unfold to too much')
  $charge(made.length)
  for (let i = 0; i < made.length; i++) this.stack.push(made[i])
  return made.length
}

MacroExpander.prototype.pushTokens = function (tokens) {
  for (let i = 0; i < tokens.length; i++) this.stack.push(tokens[i])
}

// Rows that are shorter than the first are filled with cells, which cost as much as
// others.
const array = builders.array
builders.array = (group, style) => {
  $charge(10 * group.body.length * group.body[0].length)
  return array(group, style)
}

// What is set over a letter is no exponent.
const supsub = builders.supsub
builders.supsub = (group, style) => {
  const node = supsub(group, style)
  if (!group.stack || !group.sup || group.sub || node.type !== 'msup') return node
  node.type = 'mover'
  return new MathNode('mrow', [node])
}

// Limit is an error about a bound of ours.
class Limit {
  constructor(message) {
    this.limit = message
  }
}

const escapes = Object.assign(Object.create(null), { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })
const special = /[&<>"]/g
const escape = (s) => {
  s = String(s)
  if (s.length < 2) return escapes[s] || s
  return s.replace(special, (c) => escapes[c])
}

// A page has room for other names: Temml's classes get a beginning of their own.
const className = (c) => 'bdy-tml-' + (c.startsWith('tml-') ? c.slice(4) : c)

const sorted = (o) => {
  const keys = Object.keys(o)
  return keys.length > 1 ? keys.sort() : keys
}

// declarations are the style of an element.
const declarations = (n, name, first) => {
  let style = first
  // Cells that fill a short row have Temml's own state there.
  if (!n.style || Object.getPrototypeOf(n.style) !== Object.prototype) return style
  const keys = sorted(n.style)
  for (let i = 0; i < keys.length; i++) {
    const value = n.style[keys[i]]
    if (value !== undefined && value !== '' && !(name === 'math' && keys[i] === 'display')) style += `${style && ';'}${hyphenate(keys[i])}:${value}`
  }
  return style
}

// Writer writes a tree as text and styles in turns: after each text but the last
// one comes the declarations of the element that it ends in.
class Writer {
  constructor(maxBytes, maxDepth) {
    this.parts = []
    this.out = []
    this.left = maxBytes
    this.maxDepth = maxDepth
  }
  raw(s) {
    if ((this.left -= s.length) < 0) throw new Limit('it is drawn with too many elements')
    this.out.push(s)
  }
  end() {
    this.parts.push(this.out.join(''))
    this.out = []
  }
  node(n, depth) {
    if (depth > this.maxDepth) throw new Limit('it is nested too deep')
    if (n.text !== undefined) return this.raw(escape(n.text))
    const name = n.type
    if (!name) {
      if (n.href === undefined && n.src === undefined && !n.attributes && n.children) return this.all(n.children, depth) // a fragment
      throw new ParseError('links and pictures are not supported')
    }
    const attributes = n.attributes || {}
    let tag = '<' + name
    let style = ''
    const keys = sorted(attributes)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]
      if (key === 'style') {
        style = attributes[key]
      } else if (key !== 'id') {
        // A rule is as black as its text.
        const value = key === 'mathbackground' && name === 'mspace' && attributes[key] === 'black' ? 'currentcolor' : attributes[key]
        tag += ` ${key}="${escape(value)}"`
      }
    }
    style = declarations(n, name, style)
    // The number of an equation is an empty span in a text, which CSS counts.
    let { children = [], classes = [] } = n
    if (name === 'mtext' && children.length === 1 && children[0].classes && !children[0].type) {
      classes = classes.concat(children[0].classes)
      children = []
    }
    const names = classes.length > 0 ? classes.filter((c) => c).map(className).join(' ') : ''
    if (style) {
      this.raw(`${tag} class="${names}${names && ' '}`)
      this.end()
      this.left -= style.length
      this.parts.push(style)
      tag = '">'
    } else {
      tag += names ? ` class="${names}">` : '>'
    }
    this.raw(tag)
    this.all(children, depth + 1)
    this.raw(`</${name}>`)
  }
  all(list, depth) {
    for (let i = 0; i < list.length; i++) this.node(list[i], depth)
  }
}

// formula draws one formula. It keeps nothing for the next.
globalThis.formula = (tex, display, steps, maxBytes, maxDepth) => {
  $begin(steps)
  try {
    const settings = new Settings({ displayMode: display, throwOnError: true, maxExpand: 100, trust: false, maxSize: [40, 1000] })
    const tree = parseTree(tex, settings)
    const style = new Style({ level: display ? StyleLevel.DISPLAY : StyleLevel.TEXT, maxSize: settings.maxSize })
    const math = buildMathML(tree, tex, style, settings)
    const writer = new Writer(maxBytes, maxDepth)
    writer.node(math, 0)
    writer.end()
    return { parts: writer.parts, steps: steps - $left() }
  } catch (e) {
    const used = steps - $left()
    if ($left() < 0) return { limit: 'it takes too much work', steps: used }
    if (e instanceof Limit) return { limit: e.limit, steps: used }
    const text = Array.isArray(e) ? e[1] : e && e.message
    return { error: String(text || e).replace(/\u0332/g, ''), steps: used }
  } finally {
    $begin(Infinity)
  }
}
