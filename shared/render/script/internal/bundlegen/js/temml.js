// What Temml's plugins look for as the global variable temml.
import defineMacro from 'temml/src/defineMacro.js'
import { defineSymbol } from 'temml/src/symbols.js'

globalThis.temml = { __defineMacro: defineMacro, __defineSymbol: defineSymbol }
