// Asks an index. Nothing here knows of pages or of how files come: load(name)
// promises a file's data.

// How much a question may fetch with the root, in bytes, and how many files
// besides it; where the root does not list the pages, twice as much. The other
// sizes are about those of a run of terms, of words and of texts (builder.go).
var MAX_BYTES = 148000, MAX_RUNS = 11, TERM_BYTES = 8600, LIST_BYTES = 12700, TEXT_BYTES = 19000;
var MAX_PAGES = 8, MAX_SECTIONS = 3, MAX_CHECKED = 24;
var POSTINGS = 2000, MAX_EXPANSIONS = 60;

// How much of a question counts: what was pasted by mistake must not keep the
// browser busy.
var MAX_QUERY = 500, MAX_WORDS = 16;

// The characters that are no letters; words.go has the same table.
var RANGES = [
  [0x80, 0xBF, 0], [0xD7, 0xD7, 0], [0xF7, 0xF7, 0],
  [0x2B0, 0x2FF, 0], [0x37E, 0x37E, 0], [0x387, 0x387, 0],
  [0x55A, 0x55F, 0], [0x589, 0x58F, 0],
  [0x5BE, 0x5BE, 0], [0x5C0, 0x5C0, 0], [0x5C3, 0x5C3, 0], [0x5F3, 0x5F4, 0],
  [0x600, 0x61F, 0], [0x66A, 0x66D, 0], [0x6D4, 0x6D4, 0],
  [0x964, 0x965, 0], [0xE00, 0xE3E, 2], [0xE3F, 0xE3F, 0], [0xE40, 0xE4E, 2],
  [0xE4F, 0xE4F, 0], [0xE50, 0xE59, 2], [0xE5A, 0xE5B, 0], [0xE80, 0xEFF, 2],
  [0x1000, 0x1049, 2], [0x104A, 0x104F, 0], [0x1050, 0x109F, 2], [0x1100, 0x11FF, 2],
  [0x1780, 0x17D3, 2], [0x17D4, 0x17DB, 0], [0x17DC, 0x17FF, 2],
  [0x2000, 0x20CF, 0], [0x2100, 0x2BFF, 0], [0x2E00, 0x2E7F, 0], [0x2E80, 0x2FDF, 2],
  [0x2FE0, 0x3004, 0], [0x3005, 0x3007, 2], [0x3008, 0x3040, 0], [0x3041, 0x3096, 2],
  [0x3097, 0x309C, 0], [0x309D, 0x309F, 2], [0x30A0, 0x30A0, 0], [0x30A1, 0x30FA, 2],
  [0x30FB, 0x30FB, 0], [0x30FC, 0x31BF, 2], [0x31C0, 0x31EF, 0], [0x31F0, 0x31FF, 2],
  [0x3200, 0x33FF, 0], [0x3400, 0x9FFF, 2], [0xA960, 0xA97F, 2], [0xAC00, 0xD7FF, 2],
  [0xD800, 0xF8FF, 0], [0xF900, 0xFAFF, 2], [0xFD3E, 0xFD3F, 0], [0xFE00, 0xFE6F, 0],
  [0xFEFF, 0xFEFF, 0], [0xFF00, 0xFFFF, 0]
];

// kindOf: 0 separates, 1 is a letter, 2 is of a script without spaces.
function kindOf(c) {
  if (c < 0x80) return c >= 48 && c <= 57 || c >= 97 && c <= 122 || c >= 65 && c <= 90 ? 1 : 0;
  var lo = 0, hi = RANGES.length;
  while (lo < hi) {
    var m = (lo + hi) >> 1;
    if (c > RANGES[m][1]) lo = m + 1;
    else if (c < RANGES[m][0]) hi = m;
    else return RANGES[m][2];
  }
  return 1;
}

function ignored(c) {
  return c >= 0x300 && c <= 0x36F || c === 0xAD || c >= 0x591 && c <= 0x5BD || c === 0x5BF || c === 0x5C1 || c === 0x5C2 ||
    c === 0x5C4 || c === 0x5C5 || c === 0x5C7 || c === 0x640 || c >= 0x64B && c <= 0x65F || c === 0x670 || c >= 0x200B && c <= 0x200D;
}

var FOLDED = { "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "ς": "σ" };

function fold(word) {
  var out = "";
  for (var i = 0; i < word.length; i++) {
    var lower = word[i].toLowerCase();
    for (var j = 0; j < lower.length; j++) {
      var c = lower.charCodeAt(j), r = lower[j];
      if (c < 0x80) out += r;
      else if (ignored(c)) continue;
      else if (FOLDED[r]) out += FOLDED[r];
      else if (c >= 0xC0 && c < 0x530 || c >= 0x1E00 && c < 0x2000) out += r.normalize("NFD")[0];
      else out += r;
    }
  }
  return out;
}

// runs calls fn with each run of letters of a text that is normalized already:
// where it begins and ends, and its kind.
function runs(text, fn) {
  for (var i = 0; i < text.length;) {
    var kind = kindOf(text.charCodeAt(i)), start = i++;
    if (!kind) continue;
    for (; i < text.length; i++) {
      var c = text.charCodeAt(i);
      if (!ignored(c) && kindOf(c) !== kind) break;
    }
    fn(start, i, kind);
  }
}

// joined is the term for a word that is tied to the one before it, or begins
// with a mark, and languageName that for "C++"; words.go has the same.
function joined(before, gap, run) {
  if (!gap) return "";
  if (!/^([_.\-\/:@#]|::|->)$/.test(gap)) {
    if (!/[-.$@]$/.test(gap)) return "";
    before = "";
  }
  var number = /^\d*$/;
  if (gap === "." && /^v\d+$/i.test(before) && number.test(run)) before = before.slice(1);
  var n = before.length + run.length, digits = [before, run].filter(function (w) { return number.test(w); }).length;
  if (digits === 2 ? gap !== "." || !before || n > 8 : n > 40 || n < 3 && !(n === 2 && gap === "/" && !digits)) return "";
  return fold(before) + "_" + fold(run);
}

function languageName(run, after) {
  var m = /^(#|\+\+)(.?)/.exec(after);
  return !/^[a-z]$/i.test(run) || !m || m[2] && kindOf(m[2].charCodeAt(0)) ? "" : fold(run) + (m[1] === "#" ? "_sharp" : "_plusplus");
}

// wordsOf returns the words of a question. The last one may be still in the
// making; dense marks a pair of characters, and name a pair of words.
function wordsOf(query) {
  var out = [], seen = {}, text = query.normalize("NFKC"), before = "", last = 0;
  function add(word, open, dense, name) {
    if (!word) return;
    if (seen["$" + word]) { seen["$" + word].open = seen["$" + word].open || open; return; }
    out.push(seen["$" + word] = { text: word, open: open, dense: dense, name: name });
  }
  runs(text, function (start, end, kind) {
    var run = text.slice(start, end), word = fold(run), open = end === text.length;
    if (kind === 1) {
      add(word, open, false, false);
      add(languageName(run, text.slice(end, end + 3)), false, false, true);
      add(joined(before, text.slice(last, start), run), open, false, true);
    }
    before = kind === 1 ? run : "";
    last = end;
    if (kind === 1) return;
    if (word.length < 2) add(word, true, true);
    else for (var i = 1; i < word.length; i++) add(word.slice(i - 1, i + 1), false, true);
  });
  return out;
}

// Words that say little, left out where others remain.
var STOP = {
  en: "a about am an and any are as at be been but by can could did do does find for from had has have how i if in into is it its may me my need of on or our please really should so some than that the their them then there these they this those to us use used want was we were what when where which who why will with would you your",
  de: "als am an auf aus bei das dem den der des die ein eine einem einen einer es für ich im in ist kann mein mit nicht oder sich und von was wenn wie wo zu zum zur",
  fr: "a au aux avec ce ces comment dans de des du elle en est et il je la le les mes mon ou par pas pour quand que qui sa se ses son sur un une vous",
  es: "a al como con cuando de del donde el en es esta este la las lo los mi o para por que se si son su un una unos y"
};

// What is in quotes is asked for as it stands.
var QUOTED = /["“”„«»「『]([^"“”„«»「」『』]+)["“”«»」』]/g;

// What a word of the question counts where it stands with another ending, and
// where another word for the same stands.
var STEM_W = .85, SYN_W = .75;

// How a page is weighed: by its best section and by all of it, by how much of
// the question it has at all, and has in that section, and by its title.
var LEN_W = .25, TOP_W = .6, COV_P = 1, SEC_P = .5, TITLE_W = 1.2;

// Endings by language, the longest first: what is left, with the second in its
// place, is the stem; the third is how many letters must be left.
var ENDINGS = {
  en: [["ations", "at", 3], ["ation", "at", 3], ["ators", "at", 3], ["ator", "at", 3], ["ating", "at", 3], ["ated", "at", 3], ["ates", "at", 3], ["ate", "at", 3],
    ["nesses", "", 4], ["ements", "", 4], ["ment", "", 4], ["ments", "", 4], ["ement", "", 4], ["ness", "", 4], ["ings", "", 3], ["ing", "", 3],
    ["iers", "i", 3], ["ied", "i", 2], ["ies", "i", 2], ["ers", "", 4], ["er", "", 4], ["ed", "", 3], ["sses", "ss", 2], ["es", "", 3], ["ss", "ss", 1], ["us", "us", 2], ["s", "", 3], ["y", "i", 3], ["e", "", 3]],
  de: [["ungen", "", 3], ["ung", "", 3], ["ern", "", 3], ["em", "", 3], ["en", "", 3], ["er", "", 3], ["es", "", 3], ["e", "", 3], ["n", "", 4], ["s", "", 4]],
  fr: [["issements", "", 3], ["issement", "", 3], ["ations", "", 3], ["ation", "", 3], ["ements", "", 3], ["ement", "", 3], ["eaux", "eau", 2], ["aux", "al", 2],
    ["ees", "", 3], ["ee", "", 3], ["es", "", 3], ["er", "", 3], ["ez", "", 3], ["s", "", 3], ["e", "", 3]],
  es: [["aciones", "", 3], ["acion", "", 3], ["iones", "ion", 3], ["mente", "", 4], ["ando", "", 3], ["iendo", "", 3], ["ados", "", 3], ["adas", "", 3], ["ado", "", 3], ["ada", "", 3],
    ["ces", "z", 2], ["es", "", 3], ["os", "", 3], ["as", "", 3], ["ar", "", 3], ["er", "", 3], ["ir", "", 3], ["o", "", 3], ["a", "", 3], ["e", "", 3], ["s", "", 3]]
};

// stem leaves out what grammar puts at a word's end, about. It is asked for
// words of the question and of the index alike, so that it need not be a word.
function stem(word, lang) {
  var list = ENDINGS[lang];
  if (!list || word.length < 4) return word;
  for (var i = 0; i < list.length; i++) {
    var e = list[i], left = word.length - e[0].length;
    if (left >= e[2] && word.endsWith(e[0])) {
      if (e[0] === "y" && /[aeiou]/.test(word[left - 1])) return word;
      var s = word.slice(0, left) + e[1], n = s.length;
      // "stopp" and "stop" are one.
      return lang === "en" && n > 3 && s[n - 1] === s[n - 2] && !/[aeiouls]/.test(s[n - 1]) ? s.slice(0, -1) : s;
    }
  }
  return word;
}

// akin reports whether a term is a word in another form; s is the word's stem.
// A short word has its plural alone: "note" is not a form of "not".
function akin(w, t, s, lang) { return w.length < 4 || t.length < 4 ? t === w + "s" || w === t + "s" : stem(t, lang) === s; }

// distance is how many letters differ between two words: replaced, left out,
// put in or swapped; more than max is max + 1. With open, b may go on.
function distance(a, b, max, open) {
  if (a.length - b.length > max || !open && b.length - a.length > max) return max + 1;
  var width = Math.min(b.length, a.length + max), before = [], last, row = [], i, j, best;
  for (j = 0; j <= width; j++) row.push(j);
  for (i = 1; i <= a.length; i++) {
    last = before; before = row; row = [i]; best = i;
    for (j = 1; j <= width; j++) {
      var same = a[i - 1] === b[j - 1];
      var d = Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, last[j - 2] + 1);
      row.push(d);
      if (d < best) best = d;
    }
    if (best > max) return max + 1;
  }
  best = open ? Math.min.apply(null, row) : width < b.length ? max + 1 : row[width];
  return Math.min(best, max + 1);
}

// allowed is how many letters of a word may be wrong.
function allowed(word) { return /\d/.test(word) || word.length < 4 ? 0 : word.length < 8 ? 1 : 2; }

// nearness is the weight of a word in the place of one that was mistyped.
function nearness(asked, word, wrong) { return (wrong > 1 ? .3 : .5) * Math.sqrt(Math.min(1, asked.length / word.length)); }

// Numbers as code.go writes them.
var VALUES = {};
"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_".split("").forEach(function (c, i) { VALUES[c] = i; });

function Numbers(text, at) { this.text = text; this.at = at; }
Numbers.prototype.next = function () {
  var n = 0, shift = 1, v;
  do {
    v = VALUES[this.text[this.at++]];
    n += (v & 31) * shift;
    shift *= 32;
  } while (v & 32);
  return n;
};
function sums(text) {
  var out = [0], in_ = new Numbers(text, 0), sum = 0;
  while (in_.at < text.length) out.push(sum += in_.next());
  return out;
}

// upTo finds the last entry of a sorted list that is not above a value; -1 if
// all are.
function upTo(list, value) {
  var lo = 0, hi = list.length;
  while (lo < hi) {
    var m = (lo + hi) >> 1;
    if (list[m] <= value) lo = m + 1; else hi = m;
  }
  return lo - 1;
}

// fronted reads words of which each is a number, how much it has in common with
// the one before, and its rest; between them stand others, which fn gets.
function fronted(text, step, fn) {
  var parts = text ? text.split(" ") : [], before = "";
  for (var i = 0; i < parts.length; i += step) {
    var in_ = new Numbers(parts[i], 0), n = in_.next();
    before = before.slice(0, n) + parts[i].slice(in_.at);
    fn(before, parts[i + 1]);
  }
}

// Index is a division's index. load(name) promises the data of a file.
function Index(root, load) {
  this.load = load;
  this.suffix = root.d;
  this.lang = (root.l || "").toLowerCase().split("-")[0];
  this.sections = root.n;
  this.groups = root.s || "";
  this.first = sums(root.c);
  this.begins = root.t ? root.t.split(" ") : [];
  // The first section of each run of texts, and its file's name, which has 14
  // characters of its digest, as text.go writes them.
  this.texts = [0];
  this.textNames = [];
  for (var in_ = new Numbers(root.x, 0), i = 0, sections = 0; in_.at < root.x.length; i++) {
    this.textNames.push("x." + root.r.slice(i * 14, i * 14 + 14));
    this.texts.push(sections += in_.next());
  }
  this.boosts = root.b || [];
  this.lists = root.y ? root.y.split(" ") : [];
  this.parsed = {};
  this.factor = root.p ? 1 : 2;
  this.size = JSON.stringify(root).replace(/[^\x00-\x7f]/g, "xxx").length;
  var common = this.common = [], pages = this.pages = root.p ? [] : null;
  fronted(root.w, 1, function (w) { common.push(w); });
  if (pages) root.p.split("\n").forEach(function (line, i, lines) {
    if (i % 2 || i + 1 >= lines.length) return;
    var in_ = new Numbers(line, 0), trail = root.h[in_.next()], n = in_.next(), before = i ? pages[i / 2 - 1].path : "";
    pages.push({ title: lines[i + 1], path: before.slice(0, n) + line.slice(in_.at), trail: trail });
  });
}

Index.prototype.boost = function (page) {
  for (var i = 0; i < this.boosts.length; i++) {
    var b = this.boosts[i];
    // A weight moves a page among its like; it neither fills nor buries.
    if (page >= b[0] && page < b[1]) return Math.min(Math.max(Math.sqrt(b[2]), .2), 3);
  }
  return 1;
};

// once promises what parse makes of a file, and keeps it.
Index.prototype.once = function (name, parse) {
  var parsed = this.parsed;
  return parsed[name] || (parsed[name] = this.load(name).then(parse).catch(function (err) { delete parsed[name]; throw err; }));
};

// terms promises a run of terms: [term, sections, postings] in order.
Index.prototype.terms = function (run) {
  return this.once("t" + run + this.suffix, function (text) {
    var out = [];
    fronted(text, 2, function (term, data) {
      var in_ = new Numbers(data, 0), n = in_.next();
      out.push([term, n, data.slice(in_.at)]);
    });
    return out;
  });
};

// text promises a run of sections: { number: section }, each with its page.
Index.prototype.text = function (run) {
  var number = this.texts[run];
  return this.once(this.textNames[run], function (text) {
    var out = {}, page;
    text.split("\n").forEach(function (line) {
      var f = line.split("\t");
      if (f.length > 3) page = { title: f[0], path: f[1], trail: f[2] };
      if (f.length === 4) out[number++] = { heading: "", id: "", text: f[3], page: page };
      if (f.length === 3) out[number++] = { heading: f[0], id: f[1], text: f[2], page: page };
    });
    return out;
  });
};

// alternatives maps what a question may say, words by their stems, to what pages
// may say instead.
Index.prototype.alternatives = function () {
  var self = this, out = this.synonyms;
  if (out) return out;
  out = this.synonyms = {};
  this.groups.split(";").forEach(function (group) {
    var words = group.split(",");
    words.forEach(function (w) {
      var key = "$" + (w.indexOf(" ") < 0 ? stem(w, self.lang) : w);
      out[key] = (out[key] || []).concat(words.filter(function (o) { return o !== w && o.indexOf(" ") < 0; }));
    });
  });
  return out;
};

// chosen takes the words of a question, and the runs of terms for them that fit
// into what it may fetch: first each word's own, names and long words before
// others, then those of other endings, then those of other words for the same.
// Words that say little count where nothing else is asked. A single letter says
// something, as in "C#", where it is known which words say little.
Index.prototype.chosen = function (query) {
  var stop = " " + (STOP[this.lang] || "") + " ", self = this, text = query.slice(0, MAX_QUERY), phrases = [], exact = {};
  var words = wordsOf(text), said = " ", also = this.alternatives(), used = [];
  var purse = { bytes: MAX_BYTES * this.factor - this.size, files: MAX_RUNS * this.factor };
  text.replace(QUOTED, function (all, inner) {
    phrases.push(plain(inner));
    wordsOf(inner).forEach(function (w) { if (!w.name) exact["$" + w.text] = true; });
    return all;
  });
  function little(w) { return stop.indexOf(" " + w.text + " ") >= 0 || self.lang === "ja" && w.dense && /^[\u3041-\u3096]+$/.test(w.text); }
  var rest = words.filter(function (w) {
    return w.open && !w.dense && w.text.length > 1 && !little(w) || !little(w) && (w.dense || w.text.length > 1 || stop.length > 2);
  });
  if (!rest.length) rest = words;
  words.forEach(function (w) { if (!w.name) said += w.text + " "; });
  rest = rest.slice().sort(function (a, b) { return b.name - a.name || b.text.length - a.text.length; }).slice(0, MAX_WORDS);
  rest.forEach(function (w) {
    w.exact = exact["$" + w.text];
    w.stem = w.dense || w.name ? w.text : stem(w.text, self.lang);
    w.runs = [];
    w.also = w.exact || w.name ? [] : (also["$" + w.stem] || []);
  });
  Object.keys(also).forEach(function (key) {
    var at = key.indexOf(" ") < 0 ? -1 : said.indexOf(" " + key.slice(1) + " ");
    if (at < 0) return;
    var parts = key.slice(1).split(" "), w = rest.filter(function (w) { return parts.indexOf(w.text) >= 0 && !w.exact; })[0];
    if (w) w.also = also[key].concat(w.also);
  });
  // Besides these runs there must be room for two of texts.
  function want(w, term, next) {
    var r = upTo(self.begins, term);
    if (next) r = Math.min(r, upTo(self.begins, w.text) + 1);
    r = Math.max(r, 0);
    if (r >= self.begins.length || w.runs.indexOf(r) >= 0) return;
    if (used.indexOf(r) < 0) {
      if (purse.bytes < TERM_BYTES + 2 * TEXT_BYTES || purse.files < 3) return;
      pay(purse, TERM_BYTES);
      used.push(r);
    }
    w.runs.push(r);
  }
  rest.forEach(function (w) { w.alsoStems = w.also.map(function (a) { return w.dense ? a : stem(a, self.lang); }); want(w, w.text); });
  rest.forEach(function (w) { if (w.open) want(w, w.text + "\uffff", true); if (!w.exact) want(w, w.stem); });
  for (var i = 0; i < 6; i++) rest.forEach(function (w) { if (w.also[i]) want(w, w.also[i]); });
  return { words: rest.filter(function (w) { return w.runs.length; }), used: used, purse: purse, phrases: phrases };
};

// pay takes a file's size from what may still be fetched; false if it is too much.
function pay(purse, bytes) {
  if (purse.bytes < bytes || purse.files < 1) return false;
  purse.bytes -= bytes;
  purse.files--;
  return true;
}

// plain is a text as phrases are compared: words alone, between spaces.
function plain(text) {
  var out = " ";
  text = text.normalize("NFKC");
  runs(text, function (start, end) { out += fold(text.slice(start, end)) + " "; });
  return out;
}

// says reports whether a plain text has a plain phrase. In a script without
// spaces it may begin and end within a run.
function says(text, phrase) {
  var from = kindOf(phrase.charCodeAt(1)) === 2 ? 1 : 0, to = phrase.length - (kindOf(phrase.charCodeAt(phrase.length - 2)) === 2 ? 1 : 0);
  return text.indexOf(phrase.slice(from, to)) >= 0;
}

// expand lists the terms of a run that a word may mean: [term entry, weight].
Index.prototype.expand = function (word, entries) {
  var out = [], w = word.text, lang = this.lang, max = allowed(w), near = [], literal = false;
  entries.forEach(function (e) { literal = literal || e[0] === w; });
  entries.forEach(function (e) {
    var t = e[0], named = t.indexOf("_") >= 0;
    if (t === w) out.push([e, 1]);
    else if (word.exact) return;
    else if (named || word.name) { if (word.name && word.open && t.startsWith(w)) out.push([e, .8]); }
    else if (word.dense ? word.open && t[0] === w : t[0] === w[0] && akin(w, t, word.stem, lang)) out.push([e, STEM_W]);
    // A word that is there, and short, is not the beginning of another.
    else if (!word.dense && t.startsWith(w) && w.length > (word.open ? 1 : 3)) out.push([e, (word.open ? literal && w.length < 4 ? .5 : .8 : .4) * Math.sqrt(w.length / t.length)]);
    else if (word.alsoStems.some(function (a) { return a[0] === t[0] && a === (word.dense ? t : stem(t, lang)); })) out.push([e, SYN_W, true]);
    else if (!word.dense && max) {
      var d = distance(w, t, max, word.open);
      if (d > max) return;
      if (d < max) { max = d; near = []; } // only the nearest ones
      near.push([e, nearness(w, t, d)]);
    }
  });
  word.astray = !out.length && !word.exact && !word.name;
  word.near = near.length ? max : 9;
  if (!out.length && !word.exact) out = near;
  return out.sort(function (a, b) { return b[1] * Math.log(2 + b[0][1]) - a[1] * Math.log(2 + a[0][1]) || (a[0][0] < b[0][0] ? -1 : 1); }).slice(0, MAX_EXPANSIONS);
};

// guess lists the words of a list that are nearest to one: [word, distance].
Index.prototype.guess = function (word, list) {
  var w = word.text, max = allowed(w), out = [];
  list.forEach(function (t) {
    var d = distance(w, t, max, word.open);
    if (d > max) return;
    if (d < max) { max = d; out = []; }
    out.push([t, d]);
  });
  return out.sort(function (a, b) { return Math.abs(a[0].length - w.length) - Math.abs(b[0].length - w.length) || (a[0] < b[0] ? -1 : 1); });
};

function backward(word) { return word.split("").reverse().join(""); }

// correct promises that a word that stands nowhere has the terms that it may
// have been meant as: from the words with the same end, should it be wrong near
// its beginning, and from the words of names.
Index.prototype.correct = function (word, used, purse) {
  var self = this, ends = backward(word.text);
  if (word.dense || !allowed(word.text)) return null;
  // Besides the list there must be room for a run of terms and one of texts.
  var fetch = this.lists.length && purse.files > 2 && purse.bytes > TERM_BYTES + TEXT_BYTES + LIST_BYTES && pay(purse, LIST_BYTES);
  return (fetch ? this.once("w" + Math.max(0, upTo(this.lists, ends)) + this.suffix, function (text) {
    var out = [];
    fronted(text, 1, function (w) { out.push(backward(w)); });
    return out;
  }) : Promise.resolve([])).then(function (list) {
    var seen = {}, near = [];
    self.guess(word, list.concat(self.common)).forEach(function (g) {
      if (near.length < 3 && !seen["$" + g[0]]) near.push(g);
      seen["$" + g[0]] = true;
    });
    seen = {};
    if (!near.length || near[0][1] > word.near) return null;
    if (near[0][1] < word.near) word.found = [];
    word.found.forEach(function (f) { seen["$" + f[0][0]] = true; });
    return Promise.all(near.map(function (g) {
      var r = Math.max(0, upTo(self.begins, g[0]));
      if (seen["$" + g[0]]) return null;
      if (used.indexOf(r) < 0) {
        if (purse.bytes < TERM_BYTES + TEXT_BYTES || purse.files < 2) return null;
        pay(purse, TERM_BYTES);
        used.push(r);
      }
      return self.terms(r).then(function (entries) {
        entries.forEach(function (e) { if (e[0] === g[0]) word.found.push([e, nearness(word.text, g[0], g[1])]); });
      });
    }));
  });
};

// search promises what a question finds: pages in order, each with its sections
// as numbers, the terms to mark, and what the question may still fetch.
Index.prototype.search = function (query) {
  var self = this, chosen = this.chosen(query), words = chosen.words, used = chosen.used;
  return Promise.all(used.map(function (r) { return self.terms(r); })).then(function () {
    return Promise.all(words.map(function (w) {
      return Promise.all(w.runs.map(function (r) { return self.terms(r); })).then(function (lists) {
        w.found = self.expand(w, [].concat.apply([], lists));
      });
    }));
  }).then(function () {
    return words.reduce(function (before, w) {
      return before.then(function () { return w.astray ? self.correct(w, used, chosen.purse) : null; });
    }, Promise.resolve());
  }).then(function () {
    var found = self.rank(words.filter(function (w) { return w.found.length || !w.name; }));
    found.purse = chosen.purse;
    found.phrases = chosen.phrases;
    return found;
  });
};

// rarity weighs a word that n sections have.
Index.prototype.rarity = function (n) { return Math.log(1 + (this.sections + 1) / (Math.min(n, this.sections) + .5)); };

Index.prototype.rank = function (words) {
  var self = this, pages = {}, order = [], marks = [], asked = 0;
  words.forEach(function (w, at) {
    var own = 0, all = 0, best = {}, form = {}, numbers = [];
    w.found.forEach(function (f) { all += f[0][1]; if (!f[2]) own += f[0][1]; });
    w.rarity = w.found.length ? self.rarity(own || all) : 0;
    asked += w.rarity;
    w.common = w.found.some(function (f) { return f[0][1] > POSTINGS && f[1] >= .5; });
    w.found.forEach(function (f) {
      marks.push(f[0][0]);
      // What was asked for letter by letter is as rare as it is; the rest is as
      // common as all of its kind, lest the rarest of it win.
      var data = f[0][2], in_ = new Numbers(data, 0), weight = f[1] * self.rarity(f[1] === 1 ? f[0][1] : f[2] ? all : own);
      while (in_.at < data.length) {
        var score = VALUES[data[in_.at++]] / 63 * weight, n = in_.next(), section = 0;
        for (; n > 0; n--) {
          section += in_.next();
          if (best[section] === undefined) { best[section] = score; form[section] = f[1]; numbers.push(section); continue; }
          if (best[section] < score) best[section] = score;
          if (form[section] < f[1]) form[section] = f[1];
        }
      }
    });
    numbers.forEach(function (section) {
      var number = upTo(self.first, section), p = pages[number];
      if (!p) order.push(p = pages[number] = { number: number, words: [], forms: [], sections: {} });
      var score = best[section], s = p.sections[section] || (p.sections[section] = { number: section, score: 0, has: 0 });
      p.words[at] = Math.max(p.words[at] || 0, score);
      p.forms[at] = Math.max(p.forms[at] || 0, form[section]);
      s.score += score;
      s.has += w.rarity * form[section];
    });
  });
  order.forEach(function (p) {
    var sum = 0, has = 0;
    words.forEach(function (w, at) {
      sum += p.words[at] || 0;
      // A word that is nearly everywhere is not told of every section.
      has += w.rarity * (p.forms[at] || (w.common ? .8 : 0));
    });
    p.sections = Object.keys(p.sections).map(function (k) { return p.sections[k]; }).sort(function (a, b) {
      return b.score - a.score || a.number - b.number;
    });
    p.score = (sum * (1 - TOP_W) + p.sections[0].score * TOP_W) * Math.pow(has / asked, COV_P) * Math.pow(p.sections[0].has / asked, SEC_P) * self.called(p.number, words, asked) / (1 + LEN_W * Math.log(1 + (self.first[p.number + 1] || self.sections) - self.first[p.number]));
  });
  this.weigh(order, words);
  order.sort(function (a, b) { return b.score - a.score || a.number - b.number; });
  return { pages: order, terms: marks };
};

// weigh applies the weights of pages. Where some say all that was asked for
// letter by letter, no weight lifts another one, nor sinks all of these.
Index.prototype.weigh = function (pages, words) {
  var self = this, sunk = true, known = words.filter(function (w) { return w.rarity; });
  function literal(p) { return known.length && words.every(function (w, at) { return !w.rarity || p.forms[at] === 1; }); }
  var said = pages.filter(literal);
  said.forEach(function (p) { p.literal = true; sunk = sunk && self.boost(p.number) < 1; });
  pages.forEach(function (p) {
    var by = self.boost(p.number);
    if (said.length) by = p.literal ? (sunk ? 1 : by) : Math.min(by, 1);
    p.score *= by;
  });
};

// called weighs how much a page's title and the question are the same.
Index.prototype.called = function (number, words, asked) {
  var page = this.pages && this.pages[number], lang = this.lang, stop = " " + (STOP[lang] || "") + " ", got = 0, hit = 0;
  if (!page) return 1;
  var title = page.words || (page.words = wordsOf(page.title).filter(function (w) { return !w.name; }).map(function (w) { return w.dense ? w.text : stem(w.text, lang); }));
  words.forEach(function (w) {
    var by = w.name ? 0 : title.indexOf(w.stem) >= 0 ? 1 : w.alsoStems.some(function (a) { return title.indexOf(a) >= 0; }) ? SYN_W : 0;
    hit += by;
    got += by * w.rarity;
  });
  var all = title.filter(function (t) { return stop.indexOf(" " + t + " ") < 0; }).length || title.length;
  return 1 + TITLE_W * Math.min(1, hit / all) * (asked ? got / asked : 0);
};

// find promises the pages that a question finds, as they are shown: with title,
// path and trail, and the first ones with their best sections, as far as the
// question may fetch them. The others' come with more(). Where nothing is found,
// near is true and the pages are those with the nearest titles.
Index.prototype.find = function (query) {
  var self = this, fetched = {}, texts = 0;
  return this.search(query).then(function (found) {
    if (!found.pages.length) return self.nearest(query);
    function fetch(p) {
      var run = upTo(self.texts, p.sections[0].number);
      if (!fetched[run] && pay(found.purse, TEXT_BYTES)) { fetched[run] = true; texts++; }
      return fetched[run];
    }
    return self.quoted(found, fetch).then(function (pages) {
      var shown = [];
      pages.slice(0, MAX_PAGES).forEach(function (p) {
        // Where the root lists the pages, the first three are enough to begin with.
        var here = (!self.pages || texts < 3 || fetched[upTo(self.texts, p.sections[0].number)]) && fetch(p);
        if (here || self.pages) shown.push(self.shown(p, here));
      });
      return Promise.all(shown);
    }).then(function (pages) { return { pages: pages, terms: found.terms }; });
  });
};

// quoted promises the pages in order: first those that say what the question
// has in quotes, as far as their texts can be fetched.
Index.prototype.quoted = function (found, fetch) {
  var self = this;
  if (!found.phrases.length) return Promise.resolve(found.pages);
  return Promise.all(found.pages.slice(0, MAX_CHECKED).map(function (p) {
    if (!fetch(p)) return null;
    return self.text(upTo(self.texts, p.sections[0].number)).then(function (run) {
      p.sections.some(function (s, i) {
        var section = run[s.number], text = section && plain((section.heading || section.page.title) + "\n" + section.text);
        if (!text || !found.phrases.every(function (phrase) { return says(text, phrase); })) return false;
        p.said = true;
        p.sections.unshift(p.sections.splice(i, 1)[0]);
        return true;
      });
    }, function () { /* it stays where it is */ });
  })).then(function () {
    return found.pages.filter(function (p) { return p.said; }).concat(found.pages.filter(function (p) { return !p.said; }));
  });
};

// nearest promises the pages whose titles have most pairs of letters in common
// with a question that finds nothing.
Index.prototype.nearest = function (query) {
  function pairs(text) {
    var out = {}, n = 0;
    text = plain(text.slice(0, MAX_QUERY));
    for (var i = 1; i < text.length; i++) { var k = text.slice(i - 1, i + 1); if (k !== " " && !out["$" + k]) { out["$" + k] = true; n++; } }
    return { has: out, n: n };
  }
  var self = this, asked = pairs(query), near = [];
  (this.pages || []).forEach(function (page, i) {
    var title = pairs(page.title), both = 0;
    Object.keys(title.has).forEach(function (k) { if (asked.has[k]) both++; });
    if (both > 1 && both * 5 > asked.n + title.n) near.push({ page: page, score: 2 * both / (asked.n + title.n), number: i });
  });
  near.sort(function (a, b) { return b.score - a.score || a.number - b.number; });
  return Promise.resolve({ near: true, terms: [], pages: near.slice(0, 5).map(function (n) {
    return { title: n.page.title, path: n.page.path, trail: n.page.trail, score: n.score, sections: null, parts: [{ number: self.first[n.number] }] };
  }) });
};

Index.prototype.shown = function (p, withText) {
  var out = { parts: p.sections, score: p.score, sections: null }, page = this.pages && this.pages[p.number];
  function name(page) { out.title = page.title; out.path = page.path; out.trail = page.trail; return out; }
  if (!withText) return Promise.resolve(name(page));
  return this.more(out).then(function (sections) { out.sections = sections; return name(page || sections[0].page); }, function (err) {
    if (!page) throw err;
    return name(page); // without its text it is still a way to go
  });
};

// more promises the best sections of a page, as far as they lie in one run with
// the very best.
Index.prototype.more = function (page) {
  return this.text(upTo(this.texts, page.parts[0].number)).then(function (run) {
    return page.parts.slice(0, MAX_SECTIONS).map(function (s) { return run[s.number]; }).filter(Boolean);
  });
};

// excerpt cuts a text around the first of the terms, and tells what to mark:
// pieces in turn plain and marked.
function excerpt(text, terms, length) {
  var known = {}, marks = [], pair = "";
  terms.forEach(function (t) { known["$" + t] = true; });
  runs(text, function (start, end, kind) {
    if (kind === 1) {
      if (known["$" + fold(text.slice(start, end))]) marks.push([start, end]);
      return;
    }
    for (var i = start; i < end; i++) {
      pair = fold(text.slice(i, i + 2));
      if (known["$" + pair] || known["$" + pair[0]] && pair.length < 2) {
        var m = marks[marks.length - 1], to = Math.min(i + 2, end);
        if (m && m[1] >= i) m[1] = to; else marks.push([i, to]);
      }
    }
  });
  var from = 0, to = text.length;
  if (length && to > length) {
    // The window that holds most marks.
    var best = 0, most = -1;
    marks.forEach(function (m, i) {
      var n = 0;
      while (marks[i + n] && marks[i + n][1] <= m[0] + length * .8) n++;
      if (n > most) { most = n; best = i; }
    });
    from = marks.length ? Math.max(0, marks[best][0] - Math.floor(length / 5)) : 0;
    if (from) { var space = text.indexOf(" ", from); if (space >= 0 && space < marks[best][0]) from = space + 1; }
    to = Math.min(text.length, from + length);
    if (to < text.length) { var end = text.lastIndexOf(" ", to); if (end > from + length / 2) to = end; }
  }
  var out = [], at = from;
  marks.forEach(function (m) {
    if (m[0] < at || m[1] > to) return;
    out.push(text.slice(at, m[0]), text.slice(m[0], m[1]));
    at = m[1];
  });
  out.push(text.slice(at, to));
  if (from) out[0] = "… " + out[0];
  if (to < text.length) out[out.length - 1] += " …";
  return out;
}
