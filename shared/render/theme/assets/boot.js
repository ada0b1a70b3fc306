// Runs before the first paint: the fonts of text and titles, the reader's
// appearance and a banner that was dismissed. Storage may be refused (file://,
// privacy settings), so every access is guarded and the page works without it.
// FONTS and FOLDER are addresses beside this script.
(function () {
  "use strict";
  // A font that comes after the first paint stays out until the next page. From
  // a folder none may be asked for early, and all come at once: the page waits.
  function load(name, set) {
    var link = document.createElement("link");
    for (var key in set) link.setAttribute(key, set[key]);
    link.href = new URL(name, document.currentScript.src);
    document.head.append(link);
  }
  if (/^http/.test(location.protocol)) FONTS.forEach(function (name) { load(name, { rel: "preload", as: "font", crossorigin: "" }); });
  else load(FOLDER, { rel: "stylesheet", blocking: "render" });
  var d = document.documentElement, set = d.dataset, stored = null, hidden = null;
  d.classList.add("js");
  try {
    stored = localStorage.getItem("bindery:" + set.site + ":appearance");
    hidden = localStorage.getItem("bindery:" + set.site + ":banner");
  } catch (e) { /* no storage */ }
  if (set.banner && hidden === set.banner) d.classList.add("no-banner");
  if (stored && !("strict" in set)) set.choice = stored;
  var want = "strict" in set ? set.appearance : stored || set.appearance;
  var system = matchMedia("(prefers-color-scheme: dark)");
  function apply() {
    d.classList.toggle("dark", want === "dark" || (want !== "light" && system.matches));
  }
  apply();
  system.addEventListener("change", apply);
  d.addEventListener("bindery:appearance", function (e) { want = e.detail; apply(); });

  // The sidebar stays where the reader left it, with what was opened: a row that
  // was clicked stays in its place. Groups go by the first page in them.
  var key = "bindery:" + set.site + ":sidebar", row;
  function groups(bar, fn) {
    bar.querySelectorAll("details").forEach(function (g) {
      var a = g.querySelector("ul a"), depth = 0;
      for (var e = g; e !== bar; e = e.parentNode) depth++;
      if (a) fn(g, depth + a.pathname);
    });
  }
  function place() {
    var bar = document.getElementById("bindery-sidebar");
    if (!document.getElementById("bindery-content")) { requestAnimationFrame(place); return; }
    if (!bar) return;
    var current = bar.querySelector('[aria-current="page"]');
    function at() { return current.getBoundingClientRect(); }
    try {
      var was = JSON.parse(sessionStorage.getItem(key));
      if (was) {
        groups(bar, function (g, name) { if (name in was.open && !g.parentNode.contains(current)) g.open = was.open[name]; });
        bar.scrollTop = was.top;
        if (current && was.row && was.row.path === current.pathname) bar.scrollTop += at().top - was.row.y;
      }
    } catch (e) { /* no storage */ }
    var box = bar.getBoundingClientRect();
    if (current && (at().top < box.top || at().bottom > Math.min(box.bottom, innerHeight) - 40)) bar.scrollTop += at().top - box.top - box.height / 3;
    bar.addEventListener("click", function (e) {
      var a = e.target.closest("a");
      if (a) row = { path: a.pathname, y: a.getBoundingClientRect().top };
    });
    addEventListener("pagehide", function () {
      var open = {};
      groups(bar, function (g, name) { open[name] = g.open; });
      try { sessionStorage.setItem(key, JSON.stringify({ top: bar.scrollTop, open: open, row: row })); } catch (e) { /* no storage */ }
    });
  }
  requestAnimationFrame(place);
})();
