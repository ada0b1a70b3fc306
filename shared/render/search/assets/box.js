// The dialog. The index is fetched with the first letter.
var place = document.getElementById("bindery-search");
var opener = place && place.querySelector("button");
if (!opener || !place.dataset.binderyIndex) return;

var words = WORDS[document.documentElement.lang] || WORDS.en;

// Files come as scripts that call this function: a page that was opened from a
// folder may read nothing else.
var base = place.dataset.binderyIndex.replace(/[^/]*$/, ""), up = base.replace(/bindery\/search\/$/, "");
var rootName = place.dataset.binderyIndex.slice(base.length).replace(/\.js$/, "");
var files = {}, waiting = {};
window.binderySearch = function (name, data) {
  var done = waiting[name];
  delete waiting[name];
  if (done) done(data);
};
function load(name) {
  return files[name] || (files[name] = new Promise(function (done, fail) {
    var s = document.createElement("script");
    waiting[name] = done;
    // A server may answer with a page where a file is missing. What failed is
    // tried again when it is asked for again.
    s.onload = s.onerror = function () {
      s.remove();
      if (!waiting[name]) return;
      delete waiting[name];
      delete files[name];
      fail(new Error(name + " could not be loaded"));
    };
    s.src = base + name + ".js";
    document.head.appendChild(s);
  }));
}
var index;
function getIndex() {
  return index || (index = load(rootName).then(function (root) { return new Index(root, load); }).catch(function (err) { index = null; throw err; }));
}

function el(tag, attrs, children) {
  var e = document.createElement(tag);
  Object.keys(attrs || {}).forEach(function (k) { e.setAttribute(k, attrs[k]); });
  (children || []).forEach(function (c) { e.append(c); });
  return e;
}

var dialog, input, listbox, status, options = [], active = -1, asked = "", shown = "", timer, followed = false;

function build() {
  var label = opener.querySelector("span").textContent;
  input = el("input", {
    id: document.getElementById("search-input") ? "bindery-search-input" : "search-input", type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "bindery-search-list", "aria-autocomplete": "list",
    "aria-label": label, placeholder: label, autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "go", maxlength: MAX_QUERY, dir: "auto"
  });
  listbox = el("div", { role: "listbox", id: "bindery-search-list", "class": "bdy-search-list", "aria-label": words[0] });
  listbox.hidden = true;
  status = el("p", { role: "status", "class": "bdy-search-status" });
  var close = el("button", { type: "button", "class": "bdy-search-close", "aria-label": words[4] }, [el("kbd", {}, ["Esc"])]);
  function hint(keys, word) { return el("span", {}, keys.map(function (k) { return el("kbd", {}, [k]); }).concat([word])); }
  dialog = el("dialog", { "class": "bdy-search-dialog", "aria-label": label }, [
    el("div", { "class": "bdy-search-field" }, [opener.querySelector("svg").cloneNode(true), input, close]),
    listbox, status,
    el("p", { "class": "bdy-search-hints", "aria-hidden": "true" }, [hint(["↑", "↓"], words[5]), hint(["↵"], words[6])])
  ]);
  document.body.appendChild(dialog);
  close.addEventListener("click", function () { dialog.close(); });
  dialog.addEventListener("click", function (e) { if (e.target === dialog) dialog.close(); });
  dialog.addEventListener("close", function () {
    // The browser has given the focus back to where the reader was. This event
    // comes later: only a focus that is nowhere, or in what is hidden, may be
    // moved.
    var at = document.activeElement;
    if (!followed && !dialog.open && (!at || at === document.body || dialog.contains(at))) opener.focus({ preventScroll: true });
    followed = false;
  });
  input.addEventListener("input", function () {
    clearTimeout(timer);
    timer = setTimeout(ask, shown ? 120 : 0);
  });
  input.addEventListener("keydown", keys);
  listbox.addEventListener("mousemove", function (e) {
    var o = e.target.closest("[role=option]"), i = options.indexOf(o);
    if (i >= 0 && i !== active) choose(i, true);
  });
  listbox.addEventListener("click", function (e) { if (e.target.closest("a") && !e.ctrlKey && !e.metaKey && !e.shiftKey) { followed = true; dialog.close(); } });
}

function open() {
  if (!dialog) build();
  if (dialog.open) return;
  dialog.showModal();
  input.focus();
  input.select();
}

function keys(e) {
  if (e.isComposing || e.keyCode === 229) return;
  var step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (step && options.length) {
    e.preventDefault();
    choose(active < 0 && step < 0 ? options.length - 1 : (active + step + options.length) % options.length);
  } else if (e.key === "Escape") {
    // A field of this type would only be emptied.
    e.preventDefault();
    dialog.close();
  } else if (e.key === "Enter") {
    e.preventDefault();
    // What was typed last may not be answered yet.
    if (asked === input.value && shown === asked) go(e);
    else ask().then(function () { go(e); });
  }
}

function go(e) {
  var o = options[active < 0 ? 0 : active];
  if (!o || !dialog.open) return;
  if (e.ctrlKey || e.metaKey) { window.open(o.href, "_blank", "noopener"); return; }
  o.click();
}

function choose(i, byMouse) {
  if (options[active]) options[active].setAttribute("aria-selected", "false");
  active = i;
  var o = options[i];
  if (!o) { input.removeAttribute("aria-activedescendant"); return; }
  o.setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", o.id);
  if (!byMouse) o.scrollIntoView({ block: "nearest" });
  if (o.more) o.more();
}

// ask answers what the field holds. Answers that come late are dropped.
function ask() {
  clearTimeout(timer);
  var query = input.value;
  if (query === asked && shown === asked) return Promise.resolve();
  asked = query;
  if (!query.trim()) { show({ pages: [], terms: [] }, query); return Promise.resolve(); }
  return getIndex().then(function (x) { return x.find(query).then(function (found) { if (asked === query) show(found, query, x); }); }).catch(function () {
    if (asked !== query) return;
    show({ pages: [], terms: [] }, query);
    status.textContent = words[3];
  });
}

function marked(into, pieces) {
  pieces.forEach(function (p, i) { if (p) into.append(i % 2 ? el("mark", {}, [p]) : p); });
  return into;
}

function show(found, query, x) {
  shown = query;
  options = [];
  active = -1;
  listbox.textContent = "";
  found.pages.forEach(function (p, n) {
    var name = "bindery-search-" + n, group = el("div", { role: "group", "aria-labelledby": name });
    group.append(el("div", { "class": "bdy-search-page", id: name }, [
      marked(el("span", { "class": "bdy-search-title", dir: "auto" }), excerpt(p.title, found.terms)), el("span", { "class": "bdy-search-trail", dir: "auto" }, [p.trail])
    ]));
    function option(s) {
      var o = el("a", { role: "option", "class": "bdy-search-option", tabindex: "-1", "aria-selected": "false", href: up + p.path.split("/").map(encodeURIComponent).join("/") + ".html" + (s && s.id ? "#" + encodeURIComponent(s.id) : "") });
      fill(o, s);
      return o;
    }
    function fill(o, s) {
      o.textContent = "";
      if (!s || !s.heading) o.setAttribute("aria-label", p.title); else o.removeAttribute("aria-label");
      if (s && s.heading) o.append(marked(el("span", { "class": "bdy-search-heading", dir: "auto" }), excerpt(s.heading, found.terms)));
      var text = s ? excerpt(s.text, found.terms, 150) : [""];
      o.append(marked(el("span", { "class": "bdy-search-text", dir: "auto" }), text[0] || text.length > 1 ? text : [p.title]));
    }
    if (p.sections) p.sections.forEach(function (s) { group.append(option(s)); });
    else {
      // The text of a page further down comes when a reader comes to it.
      var o = option(null);
      o.more = function () {
        o.more = null;
        x.more(p).then(function (got) {
          if (!got[0]) return;
          fill(o, got[0]);
          if (got[0].id) o.setAttribute("href", o.getAttribute("href") + "#" + encodeURIComponent(got[0].id));
        }, function () { /* the page itself is still a way to go */ });
      };
      group.append(o);
    }
    listbox.append(group);
  });
  options = Array.prototype.slice.call(listbox.querySelectorAll("[role=option]"));
  options.forEach(function (o, i) { o.id = "bindery-search-option-" + i; });
  listbox.hidden = !options.length;
  listbox.scrollTop = 0;
  input.setAttribute("aria-expanded", String(options.length > 0));
  // One letter alone is mostly the beginning of a word. Pages with the nearest
  // titles stand below the word that nothing was found.
  var said = query.trim(), answered = options.length > 0 && !found.near;
  status.textContent = answered ? words[2].replace("%d", found.pages.length) : said.length < 2 ? "" : words[1].replace("%s", function () { return said; });
  status.classList.toggle("bdy-sr", answered);
  choose(options.length ? 0 : -1);
}

// opener.js asks for the dialog by an event, and while this script is on its
// way by an attribute. Asked again by keys, an open dialog goes.
place.addEventListener("bindery:search", function () {
  if (dialog && dialog.open) dialog.close(); else open();
});
if ("binderyOpen" in place.dataset) open();
