// What KaTeX has and Temml has not, by the documentation of both.

// The colours that KaTeX keeps for Khan Academy's exercises.
const colors = {
  blue: '6495ed', blueA: 'ccfaff', blueB: '80f6ff', blueC: '63d9ea', blueD: '11accd', blueE: '0c7f99',
  tealA: '94fff5', tealB: '26edd5', tealC: '01d1c1', tealD: '01a995', tealE: '208170',
  green: '28ae7b', greenA: 'b6ffb0', greenB: '8af281', greenC: '74cf70', greenD: '1fab54', greenE: '0d923f',
  goldA: 'ffd0a9', goldB: 'ffbb71', goldC: 'ff9c39', goldD: 'e07d10', goldE: 'a75a05',
  red: 'df0030', redA: 'fca9a9', redB: 'ff8482', redC: 'f9685d', redD: 'e84d39', redE: 'bc2612',
  maroonA: 'ffbde0', maroonB: 'ff92c6', maroonC: 'ed5fa6', maroonD: 'ca337c', maroonE: '9e034e',
  purple: '9d38bd', purpleA: 'ddd7ff', purpleB: 'c6b9fc', purpleC: 'aa87ff', purpleD: '7854ab', purpleE: '543b78',
  mintA: 'f5f9e8', mintB: 'edf2df', mintC: 'e0e5cc',
  gray: '808080', grayA: 'f6f7f7', grayB: 'f0f1f2', grayC: 'e3e5e6', grayD: 'd6d8da', grayE: 'babec2', grayF: '888d93', grayG: '626569', grayH: '3b3e40', grayI: '21242c',
  kaBlue: '314453', kaGreen: '71b307', orange: 'ffa500', pink: 'ff00af',
}

// The other names, and a few that Temml shows otherwise than KaTeX does.
const others = {
  KaTeX: '\\mathrm{K}\\kern-.17em\\raisebox{.2em}{$\\scriptstyle\\mathrm{A}$}\\kern-.15em\\TeX',
  approxcolon: '\\mathrel{\\approx\\mathrel{:}}',
  approxcoloncolon: '\\mathrel{\\approx\\mathrel{\u2237}}',
  simcolon: '\\mathrel{\\sim\\mathrel{:}}',
  simcoloncolon: '\\mathrel{\\sim\\mathrel{\u2237}}',
  minuso: '\\mathbin{\u29b5}',
  overlinesegment: '\\overline{#1}',
  underlinesegment: '\\underline{#1}',
  textcopyright: '\\text{\u00a9}',
  textregistered: '\\text{\u00ae}',
  xleftequilibrium: '\\xleftrightharpoons',
  xrightequilibrium: '\\xrightleftharpoons',
  xrightleftarrows: '\\xtofrom',
}

export const macros = [
  ...Object.entries(colors).map(([name, hex]) => [`\\${name}`, `\\textcolor{##${hex}}{#1}`]),
  ...Object.entries(others).map(([name, body]) => [`\\${name}`, body]),
]
