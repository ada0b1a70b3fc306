// The preview's part of a page: it hears what becomes of the page's source, loads
// the page again as the reader left it, and shows what is wrong with it. It lives in
// a shadow tree of its own, which the site's styles do not reach.
(function () {
  "use strict";
  var own = document.currentScript.dataset, base = own.base, version = own.version;
  var key = "bindery-dev:" + location.pathname, main = document.getElementById("bindery-content") || document.body;

  function all(sel, fn) { Array.prototype.forEach.call(document.querySelectorAll(sel), fn); }
  function element(tag, name, text) {
    var el = document.createElement(tag);
    if (name) el.className = name;
    if (text) el.textContent = text;
    return el;
  }

  // What the reader chose on the page, beside what the theme keeps by itself: the
  // appearance, tabs that are chosen for the whole site, the sidebar.
  function tabs(fn) {
    all(".bdy-tabbed", function (box, at) {
      var list = box.firstElementChild;
      if (list && list.tagName === "SELECT") { fn(at, list.selectedIndex, function (i) { list.selectedIndex = i; list.dispatchEvent(new Event("change")); }); return; }
      var buttons = list ? list.querySelectorAll("[role=tab]") : [], on = -1;
      Array.prototype.forEach.call(buttons, function (b, i) { if (b.getAttribute("aria-selected") === "true") on = i; });
      fn(at, on, function (i) { if (buttons[i]) buttons[i].click(); });
    });
  }
  // A place is kept by what stands at the top of the window: what is above it may
  // become longer.
  function place() {
    var best = null;
    all("#bindery-content [id]", function (el) {
      var top = el.getBoundingClientRect().top;
      if (el.offsetParent && top <= 160 && (!best || top >= best.top)) best = { id: el.id, top: top };
    });
    return best;
  }
  function save() {
    var state = { y: scrollY, place: scrollY > 0 ? place() : null, tabs: [], open: [], code: [], focus: "" }, at = document.activeElement;
    tabs(function (i, on) { state.tabs[i] = on; });
    all("#bindery-content details", function (d, i) { state.open[i] = d.open; });
    all(".bdy-code-expand", function (b, i) { state.code[i] = b.getAttribute("aria-expanded"); });
    if (at && at.id && at !== document.body) state.focus = at.id;
    try { sessionStorage.setItem(key, JSON.stringify(state)); } catch (e) { /* no storage */ }
  }
  function restore() {
    var state = null, hash = location.hash;
    try {
      state = JSON.parse(sessionStorage.getItem(key));
      sessionStorage.removeItem(key);
    } catch (e) { /* no storage */ }
    if (!state) return;
    tabs(function (i, on, choose) { if (i in state.tabs && state.tabs[i] !== on && state.tabs[i] >= 0) choose(state.tabs[i]); });
    var details = document.querySelectorAll("#bindery-content details");
    if (details.length === state.open.length) details.forEach(function (d, i) { d.open = state.open[i]; });
    all(".bdy-code-expand", function (b, i) { if (state.code[i] && state.code[i] !== b.getAttribute("aria-expanded")) b.click(); });
    if (location.hash !== hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
    var focus = state.focus && document.getElementById(state.focus);
    if (focus) focus.focus({ preventScroll: true });
    function scroll() {
      var el = state.place && document.getElementById(state.place.id);
      scrollTo({ top: el && el.offsetParent ? scrollY + el.getBoundingClientRect().top - state.place.top : state.y, behavior: "instant" });
    }
    scroll();
    // Pictures and fonts may still move what is below them, until the reader scrolls.
    var moved = false;
    ["wheel", "touchmove", "keydown", "pointerdown"].forEach(function (name) { addEventListener(name, function () { moved = true; }, { once: true, passive: true }); });
    addEventListener("load", function () { if (!moved) scroll(); });
  }
  var reloading = false;
  function reload() {
    reloading = true;
    save();
    history.scrollRestoration = "manual";
    location.reload();
  }

  // What changes running text alone is put into the page that is there, which is
  // sooner than to load it again. All else may be a script's, and is loaded.
  var was = null, queue = Promise.resolve();
  var text = /^(P|UL|OL|LI|A|EM|STRONG|B|I|CODE|KBD|DEL|S|SUP|SUB|BR|HR|BLOCKQUOTE)$/, attributes = /^(href|title|target|rel|class|start|value)$/;
  function served() {
    return fetch(location.pathname + location.search).then(function (r) { return r.text(); }).then(function (html) {
      var doc = new DOMParser().parseFromString(html, "text/html"), tag = doc.querySelector("script[data-version]");
      tag.remove();
      return { root: doc.documentElement, version: tag.dataset.version };
    });
  }
  function around(root) {
    var copy = root.cloneNode(true);
    copy.querySelector("#content").replaceChildren();
    return copy;
  }
  function plain(node) {
    return node.nodeType === 3 || (node.nodeType === 1 && text.test(node.nodeName) &&
      Array.prototype.every.call(node.attributes, function (a) { return attributes.test(a.name); }) &&
      Array.prototype.every.call(node.childNodes, plain));
  }
  function alike(a, b) {
    return a.nodeType === 1 && Object.keys(a.dataset || {}).length === 0 && a.cloneNode(false).isEqualNode(b.cloneNode(false));
  }
  // change makes of a, as live shows it, b; false if that is not certain.
  function change(a, b, live) {
    var x = Array.from(a.childNodes), y = Array.from(b.childNodes), z = Array.from(live.childNodes), from = 0;
    if (x.length !== z.length || x.some(function (n, i) { return n.nodeName !== z[i].nodeName; })) return false;
    while (from < x.length && from < y.length && x[from].isEqualNode(y[from])) from++;
    x.splice(0, from); y.splice(0, from); z.splice(0, from);
    while (x.length && y.length && x[x.length - 1].isEqualNode(y[y.length - 1])) { x.pop(); y.pop(); }
    if (x.concat(y).every(plain)) {
      var after = z[x.length] || null;
      x.forEach(function (n, i) { z[i].remove(); });
      y.forEach(function (n) { live.insertBefore(document.importNode(n, true), after); });
      return true;
    }
    return x.length === 1 && y.length === 1 && alike(x[0], y[0]) && change(x[0], y[0], z[0]);
  }
  function put(next) {
    var live = document.getElementById("content");
    // The end of a version counts changes of files that pages load.
    if (!was || !live || next.version.split("-")[1] !== version.split("-")[1]) return false;
    if (!next.root.querySelector("#content") || !around(was.root).isEqualNode(around(next.root))) return false;
    return change(was.root.querySelector("#content"), next.root.querySelector("#content"), live);
  }
  function update(state) {
    queue = queue.then(function () {
      if (reloading) return;
      if (state.version === version) {
        tell(state);
        // What the page was made of, once, to know what a later edit changes.
        return was ? null : served().then(function (next) { if (next.version === version) was = next; });
      }
      if (state.broken.length) { tell(state); return; }
      return served().then(function (next) {
        if (!put(next)) { stop(); reload(); return; }
        was = next;
        version = next.version;
        tell(state);
      });
    }).catch(function () { if (state.version !== version) { stop(); reload(); } });
  }

  // The panel.
  var host = element("div"), tree = host.attachShadow({ mode: "open" }), sheet = new CSSStyleSheet();
  host.id = "bindery-dev";
  sheet.replaceSync(
    ":host{all:initial;position:fixed;inset:auto 1rem 1rem auto;z-index:2147483647;font:14px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:min(42rem,calc(100vw - 2rem))}" +
    "[hidden]{display:none!important}@media print{:host{display:none}}" +
    "button{font:inherit;color:inherit;cursor:pointer;background:#fff;border:1px solid #767676;border-radius:6px;padding:.3rem .7rem}" +
    "button:focus-visible{outline:3px solid #1a5fd0;outline-offset:2px}" +
    ".toggle{display:block;margin-inline-start:auto;box-shadow:0 2px 8px #0004;font-weight:600}" +
    ".toggle.error{background:#b3261e;color:#fff}.toggle.warning{background:#ffe08a}" +
    ".box{box-sizing:border-box;margin-block-end:.5rem;max-height:60vh;overflow:auto;background:#fff;border:1px solid #767676;border-radius:8px;padding:.75rem 1rem;box-shadow:0 4px 24px #0005}" +
    ".box.alert{border:2px solid #b3261e}h2{font-size:1rem;margin:0 0 .5rem}ul{list-style:none;margin:0;padding:0}li{padding:.5rem 0;border-top:1px solid #ddd}li:first-child{border:0}" +
    "p{margin:0 0 .25rem}.level{font-weight:700}.error .level{color:#b3261e}.warning .level{color:#7a4f00}.notice .level,.info .level{color:#444}" +
    "code,pre{font:12px/1.5 ui-monospace,monospace}pre{margin:.25rem 0;padding:.4rem .6rem;background:#f2f2f2;overflow:auto;white-space:pre}.mark{color:#b3261e;font-weight:700}" +
    ".place{padding:.1rem .5rem;overflow-wrap:anywhere;text-align:start}.gone{padding:.3rem .7rem;background:#333;color:#fff;border-radius:6px;margin-block-end:.5rem}" +
    "@media(prefers-color-scheme:dark){:host{color:#eee}.box,button{background:#1e1e1e;border-color:#8a8a8a}pre{background:#2c2c2c}li{border-color:#444}.error .level,.mark{color:#ff9d94}.warning .level{color:#ffd166}.notice .level,.info .level{color:#ccc}.toggle.warning{background:#6b4e00}}");
  tree.adoptedStyleSheets = [sheet];
  var alarm = tree.appendChild(element("div", "box alert")), list = tree.appendChild(element("div", "box"));
  var gone = tree.appendChild(element("div", "gone", "bindery dev has ended or can't be reached"));
  var toggle = tree.appendChild(element("button", "toggle")), can = false;
  alarm.setAttribute("role", "alert");
  alarm.tabIndex = list.tabIndex = 0;
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", "Findings of this page");
  list.id = "findings";
  gone.setAttribute("role", "status");
  toggle.type = "button";
  toggle.setAttribute("aria-controls", "findings");
  alarm.hidden = list.hidden = gone.hidden = toggle.hidden = true;
  function show(open) {
    list.hidden = !open;
    toggle.setAttribute("aria-expanded", open);
    try { sessionStorage.setItem("bindery-dev:open", open ? "1" : ""); } catch (e) { /* no storage */ }
  }
  toggle.addEventListener("click", function () { show(list.hidden); });
  tree.addEventListener("keydown", function (e) { if (e.key === "Escape" && !list.hidden) { show(false); toggle.focus(); } });

  function edit(f) {
    fetch(base + "bindery-dev/open", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ file: f.file, line: f.line, column: f.column }) })
      .then(function (r) { if (!r.ok) return r.text().then(function (t) { throw new Error(t); }); return r.json(); })
      .then(function (to) { if (to.address) location.href = to.address; })
      .catch(function (e) { gone.textContent = e.message; gone.hidden = false; });
  }
  function entries(findings) {
    var ul = element("ul");
    findings.forEach(function (f) {
      var li = ul.appendChild(element("li", f.severity)), p = li.appendChild(element("p")), at = f.file + (f.line ? ":" + f.line + ":" + (f.column || 1) : "");
      p.append(element("span", "level", f.severity + " "), f.message + " ", element("code", "", f.code));
      if (can) {
        var b = li.appendChild(element("button", "place", at));
        b.type = "button";
        b.setAttribute("aria-label", "Open " + at + " in the editor");
        b.addEventListener("click", function () { edit(f); });
      } else li.appendChild(element("code", "place", at));
      if (f.excerpt) {
        var pre = li.appendChild(element("pre", "", f.excerpt + "\n"));
        pre.append(" ".repeat(Math.max(0, Math.min((f.column || 1) - 1, f.excerpt.length))), element("span", "mark", "^"));
      }
    });
    return ul;
  }
  var shown = "";
  function tell(state) {
    can = state.editor;
    gone.hidden = true;
    var now = JSON.stringify([state.broken, state.findings, can]);
    if (now === shown) return;
    shown = now;
    alarm.hidden = !state.broken.length;
    alarm.replaceChildren(element("h2", "", state.broken.length ? "This can't be shown yet" : ""), entries(state.broken));
    list.replaceChildren(element("h2", "", "Findings of this page"), entries(state.findings));
    var n = state.findings.length, worst = "notice";
    state.findings.forEach(function (f) { if (f.severity === "error" || (f.severity === "warning" && worst !== "error")) worst = f.severity; });
    toggle.hidden = !n;
    toggle.className = "toggle " + worst;
    toggle.textContent = n + (n === 1 ? " finding" : " findings");
    var open = false;
    try { open = !!sessionStorage.getItem("bindery-dev:open"); } catch (e) { /* no storage */ }
    show(n > 0 && open);
  }

  // A page that nobody sees keeps no connection: browsers have few for one server.
  var source = null;
  function listen() {
    if (source || document.hidden) return;
    source = new EventSource(base + "bindery-dev/events?address=" + encodeURIComponent(location.pathname + location.search));
    source.onmessage = function (e) {
      update(JSON.parse(e.data));
    };
    source.onerror = function () {
      gone.textContent = "bindery dev has ended or can't be reached";
      gone.hidden = false;
    };
    source.onopen = function () { gone.hidden = true; };
  }
  function stop() {
    if (source) source.close();
    source = null;
  }
  document.addEventListener("visibilitychange", function () { if (document.hidden) stop(); else listen(); });
  addEventListener("pagehide", function () {
    stop();
    // Not as soon as the page is here: the browser would scroll back to where it was.
    if (!reloading) history.scrollRestoration = "auto";
  });
  addEventListener("pageshow", listen);
  document.body.appendChild(host);
  restore();
  listen();
})();
