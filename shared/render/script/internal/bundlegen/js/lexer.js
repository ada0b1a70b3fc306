// Reads the tokens of TeX, in place of Temml's own lexer: its regular expression
// takes a quarter of a formula's time in this engine.
import ParseError from 'temml/src/ParseError.js'
import SourceLocation from 'temml/src/SourceLocation.js'
import { Token } from 'temml/src/Token.js'

export const combiningDiacriticalMarksEndRegex = /[\u0300-\u036f]+$/

const comment = 14
const active = 13

const isSpace = (c) => c === 32 || c === 9 || c === 10 || c === 13
const isName = (c) => (c >= 97 && c <= 122) || (c >= 64 && c <= 90)
const isLineEnd = (c) => c === 10 || c === 13 || c === 0x2028 || c === 0x2029
const isCharacter = (c) => (c > 32 && c <= 0x2027 && c !== 92) || (c >= 0x202a && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xffff)

export default class Lexer {
  constructor(input, settings) {
    this.input = input
    this.settings = settings
    this.at = 0
    this.catcodes = { '%': comment, '~': active }
  }

  setCatcode(char, code) {
    this.catcodes[char] = code
  }

  // lex returns the next token; EOF at the end, as often as it is asked for.
  lex() {
    const input = this.input
    for (;;) {
      const begin = this.at
      if (begin >= input.length) return new Token('EOF', new SourceLocation(this, begin, begin))
      const text = this.read(begin)
      if (this.catcodes[text] !== comment) return new Token(text, new SourceLocation(this, begin, this.at))
      const end = input.indexOf('\n', this.at)
      this.at = end < 0 ? input.length : end + 1
    }
  }

  // read returns the text of the token at an offset, and goes past it.
  read(begin) {
    const input = this.input
    const c = input.charCodeAt(begin)
    let at = begin + 1
    if (c > 32 && c < 127 && c !== 92 && !(input.charCodeAt(at) >= 0x300)) {
      this.at = at
      return input[begin]
    }
    if (isCharacter(c)) {
      this.at = this.marks(at)
      return this.at === at ? input[begin] : input.slice(begin, this.at)
    }
    if (isSpace(c)) {
      while (isSpace(input.charCodeAt(at))) at++
      this.at = at
      return ' '
    }
    const next = input.charCodeAt(at) // NaN at the end
    if (c >= 0xd800 && c <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
      this.at = this.marks(at + 1)
      return input.slice(begin, this.at)
    }
    if (c !== 92 || at === input.length || (next >= 0xd800 && next <= 0xdfff)) this.fail(begin)
    if (isSpace(next)) {
      const blanks = () => {
        while (isSpace(input.charCodeAt(at)) && input[at] !== '\n') at++
      }
      blanks()
      if (input[at] === '\n') at++
      blanks()
      this.at = at
      return '\\ '
    }
    if (!isName(next)) {
      this.at = at + 1
      return input.slice(begin, this.at)
    }
    const end = input.startsWith('verb', at) ? this.verb(at + 4) : -1
    if (end >= 0) {
      this.at = end
      return input.slice(begin, end)
    }
    while (isName(input.charCodeAt(at))) at++
    const name = input.slice(begin, at)
    while (isSpace(input.charCodeAt(at))) at++
    this.at = at
    return name
  }

  // marks is the offset after the combining marks at an offset.
  marks(at) {
    for (let c = this.input.charCodeAt(at); c >= 0x300 && c <= 0x36f; c = this.input.charCodeAt(at)) at++
    return at
  }

  // verb is the offset after a text between two equal signs, on one line; -1 for none.
  verb(at) {
    const input = this.input
    const closed = (at) => {
      if (at >= input.length) return -1
      const end = input.indexOf(input[at], at + 1)
      for (let i = at + 1; i < end; i++) {
        if (isLineEnd(input.charCodeAt(i))) return -1
      }
      return end < 0 ? -1 : end + 1
    }
    if (input[at] === '*') return closed(at + 1)
    const c = input.charCodeAt(at)
    return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) ? -1 : closed(at)
  }

  fail(at) {
    const c = this.input[at]
    throw new ParseError(`Unexpected character: '${c}'`, new Token(c, new SourceLocation(this, at, at + 1)))
  }
}
