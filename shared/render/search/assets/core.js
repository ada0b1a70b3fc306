// Asks an index. Nothing here knows of pages or of how files come: load(name)
// promises a file's data.

// How much a question may fetch besides the root: runs of terms, and all in
// all. Where the root does not list the pages, twice as much.
var MAX_TERM_RUNS = 3, MAX_RUNS = 5, MAX_PAGES = 8, MAX_SECTIONS = 3;
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

// wordsOf gives the words of a question. The last one may be still in the
// making; dense tells a pair of characters.
function wordsOf(query) {
  var out = [], seen = {}, text = query.normalize("NFKC");
  function add(word, open, dense) {
    if (!word) return;
    if (seen["$" + word]) { seen["$" + word].open = seen["$" + word].open || open; return; }
    out.push(seen["$" + word] = { text: word, open: open, dense: dense });
  }
  runs(text, function (start, end, kind) {
    var word = fold(text.slice(start, end)), open = end === text.length;
    if (kind === 1) add(word, open, false);
    else if (word.length < 2) add(word, true, true);
    else for (var i = 1; i < word.length; i++) add(word.slice(i - 1, i + 1), false, true);
  });
  return out;
}

// Words that say little, left out where others remain.
var STOP = {
  en: "a an and are as at be by can do does for from how i if in is it my of on or that the this to use what when where which why with you your",
  de: "als am an auf aus bei das dem den der des die ein eine einem einen einer es für ich im in ist kann mein mit nicht oder sich und von was wenn wie wo zu zum zur",
  fr: "a au aux avec ce ces comment dans de des du elle en est et il je la le les mes mon ou par pas pour quand que qui sa se ses son sur un une vous",
  es: "a al como con cuando de del donde el en es esta este la las lo los mi o para por que se si son su un una unos y"
};

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
  this.first = sums(root.c);
  this.begins = root.t ? root.t.split(" ") : [];
  // The first section of each run of texts, and its file's name, which has the
  // first 8 characters of its digest, as text.go writes them.
  this.texts = [0];
  this.textNames = [];
  for (var in_ = new Numbers(root.x, 0), i = 0, file = 0, sections = 0; in_.at < root.x.length; i++) {
    var step = in_.next();
    file += step % 2 ? -(step + 1) / 2 : step / 2;
    this.textNames.push("x" + file + "." + root.r.slice(i * 8, i * 8 + 8));
    this.texts.push(sections += in_.next());
  }
  this.boosts = root.b || [];
  this.lists = root.y ? root.y.split(" ") : [];
  this.parsed = {};
  this.factor = root.p ? 1 : 2;
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
    if (page >= b[0] && page < b[1]) return b[2];
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

// runsFor lists the runs that a word needs: that of the word itself, that of
// its stem, and where it goes on in the next one, that one.
Index.prototype.runsFor = function (word) {
  var out = [], begins = this.begins;
  function add(n) { n = Math.max(n, 0); if (n < begins.length && out.indexOf(n) < 0) out.push(n); }
  add(upTo(begins, word.text));
  if (word.open) add(Math.min(upTo(begins, word.text + "\uffff"), out[0] + 1));
  if (!word.dense) add(upTo(begins, stem(word.text, this.lang)));
  return out;
};

// expand lists the terms of a run that a word may mean: [term entry, weight].
Index.prototype.expand = function (word, entries) {
  var out = [], w = word.text, s = word.dense ? w : stem(w, this.lang), lang = this.lang, max = allowed(w), near = [];
  entries.forEach(function (e) {
    var t = e[0];
    if (t === w) out.push([e, 1]);
    else if (word.dense ? word.open && t[0] === w : t[0] === w[0] && stem(t, lang) === s) out.push([e, .75]);
    else if (!word.dense && w.length > 1 && t.startsWith(w)) out.push([e, (word.open ? .8 : .45) * Math.sqrt(w.length / t.length)]);
    else if (!word.dense && max) {
      var d = distance(w, t, max, word.open);
      if (d > max) return;
      if (d < max) { max = d; near = []; } // only the nearest ones
      near.push([e, nearness(w, t, d)]);
    }
  });
  word.astray = !out.length;
  word.near = near.length ? max : 9;
  if (!out.length) out = near;
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

// correct promises that a word that stands nowhere has the terms that it may
// have been meant as: from the list of words around it, and from the words of
// names, should it be wrong at its beginning. room() tells how much may still be
// fetched, and takes what it is given.
Index.prototype.correct = function (word, used, room) {
  var self = this;
  if (word.dense || !allowed(word.text)) return null;
  // Besides the list there must be room for a run of terms and one of texts.
  var run = Math.max(0, upTo(this.lists, word.text)), fetch = this.lists.length && room(0) >= 3;
  if (fetch) room(1);
  return (fetch ? this.once("w" + run + this.suffix, function (text) {
    var out = [];
    fronted(text, 1, function (w) { out.push(w); });
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
        if (room(0) < 2) return null;
        room(1);
        used.push(r);
      }
      return self.terms(r).then(function (entries) {
        entries.forEach(function (e) { if (e[0] === g[0]) word.found.push([e, nearness(word.text, g[0], g[1])]); });
      });
    }));
  });
};

// chosen takes the words of a question that fit into what it may fetch: those
// that say little go first, then the shortest. A single letter says something,
// as in "C#", where it is known which of them say little.
Index.prototype.chosen = function (query) {
  var stop = " " + (STOP[this.lang] || "") + " ", self = this, used = [], out = [];
  var words = wordsOf(query.slice(0, MAX_QUERY)), rest = words.filter(function (w) { return w.open && !w.dense && w.text.length > 1 || stop.indexOf(" " + w.text + " ") < 0 && (w.dense || w.text.length > 1 || stop.length > 2); });
  if (!rest.length) rest = words;
  rest.slice().sort(function (a, b) { return b.text.length - a.text.length; }).slice(0, MAX_WORDS).forEach(function (w) {
    var need = self.runsFor(w), fresh = need.filter(function (r) { return used.indexOf(r) < 0; });
    while (fresh.length && used.length + fresh.length > MAX_TERM_RUNS * self.factor) fresh.pop();
    need = need.filter(function (r) { return used.indexOf(r) >= 0 || fresh.indexOf(r) >= 0; });
    if (!need.length) return;
    used = used.concat(fresh);
    w.runs = need;
    out.push(w);
  });
  return { words: rest.filter(function (w) { return out.indexOf(w) >= 0; }), used: used };
};

// search promises what a question finds: pages in order, each with its best
// sections as numbers, and the terms to mark.
Index.prototype.search = function (query) {
  var self = this, chosen = this.chosen(query), words = chosen.words, used = chosen.used, left;
  if (!words.length) return Promise.resolve({ pages: [], terms: [], left: 0 });
  return Promise.all(used.map(function (r) { return self.terms(r); })).then(function () {
    return Promise.all(words.map(function (w) {
      return Promise.all(w.runs.map(function (r) { return self.terms(r); })).then(function (lists) {
        w.found = self.expand(w, [].concat.apply([], lists));
      });
    }));
  }).then(function () {
    left = MAX_RUNS * self.factor - used.length;
    return words.reduce(function (before, w) {
      return before.then(function () { return w.astray ? self.correct(w, used, function (n) { return left -= n; }) : null; });
    }, Promise.resolve());
  }).then(function () {
    return self.rank(words, left);
  });
};

Index.prototype.rank = function (words, left) {
  var self = this, pages = {}, order = [], marks = [];
  words.forEach(function (w, at) {
    var sections = 0, best = {}, numbers = [];
    function rarity(n) { return Math.log(1 + (self.sections + 1) / (Math.min(n, self.sections) + .5)); }
    w.found.forEach(function (f) { sections += f[0][1]; });
    var common = rarity(sections);
    w.common = w.found.some(function (f) { return f[0][1] > POSTINGS && f[1] >= .5; });
    w.found.forEach(function (f) {
      marks.push(f[0][0]);
      // What was asked for letter by letter is as rare as it is; the rest is as
      // common as all of it, lest the rarest of it win.
      var data = f[0][2], in_ = new Numbers(data, 0), weight = f[1] * (f[1] === 1 ? rarity(f[0][1]) : common);
      while (in_.at < data.length) {
        var score = VALUES[data[in_.at++]] / 63 * weight, n = in_.next(), section = 0;
        for (; n > 0; n--) {
          section += in_.next();
          if (best[section] === undefined) { best[section] = score; numbers.push(section); }
          else if (best[section] < score) best[section] = score;
        }
      }
    });
    numbers.forEach(function (section) {
      var number = upTo(self.first, section), p = pages[number];
      if (!p) order.push(p = pages[number] = { number: number, words: [], sections: {} });
      var score = best[section], s = p.sections[section] || (p.sections[section] = { number: section, score: 0, words: 0 });
      p.words[at] = Math.max(p.words[at] || 0, score);
      s.score += score;
      s.words++;
    });
  });
  order.forEach(function (p) {
    var sum = 0, has = 0, top = 0;
    words.forEach(function (w, at) {
      sum += p.words[at] || 0;
      // A word that is nearly everywhere is not told of every section.
      if (p.words[at] || w.common) has++;
    });
    p.sections = Object.keys(p.sections).map(function (k) { return p.sections[k]; }).sort(function (a, b) {
      return b.score - a.score || a.number - b.number;
    });
    top = p.sections[0].score;
    p.score = (sum + top) / 2 * Math.pow(has / words.length, 2) * self.boost(p.number);
  });
  order.sort(function (a, b) { return b.score - a.score || a.number - b.number; });
  return { pages: order.slice(0, MAX_PAGES), terms: marks, left: left };
};

// find promises the pages that a question finds, as they are shown: with title,
// path and trail, and the first ones with their best sections, as far as the
// question may fetch them. The others' come with more().
Index.prototype.find = function (query) {
  var self = this;
  return this.search(query).then(function (found) {
    var left = found.left, texts = 0, fetched = {}, shown = [];
    found.pages.forEach(function (p) {
      var run = upTo(self.texts, p.sections[0].number);
      // Where the root lists the pages, the first three are enough to begin with.
      if (!fetched[run] && left > 0 && (!self.pages || texts < 3)) { fetched[run] = true; left--; texts++; }
      if (fetched[run] || self.pages) shown.push(self.shown(p, fetched[run]));
    });
    return Promise.all(shown).then(function (pages) { return { pages: pages, terms: found.terms }; });
  });
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
