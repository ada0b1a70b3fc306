// Runs before the first paint: the fonts of text and titles, the reader's
// appearance and a banner that was dismissed. Storage may be refused (file://,
// privacy settings), so every access is guarded and the page works without it.
(function () {
  "use strict";
  // Addresses of fonts beside this script, families that have files, whether there
  // are stand-ins for them, and the sheet of pages in a folder.
  var [files, families, fitted, folder] = SITE_FONTS;
  var d = document.documentElement, set = d.dataset, stored = null, hidden = null, known = null;
  d.classList.add("bdy-js");
  try {
    stored = localStorage.getItem("bindery:" + set.site + ":appearance");
    hidden = localStorage.getItem("bindery:" + set.site + ":banner");
    known = localStorage.getItem("bindery:" + set.site + ":fonts");
  } catch (e) { known = files; /* no storage: each page would seem the first */ }
  if (set.binderyBanner && hidden === set.binderyBanner) d.classList.add("bdy-no-banner");
  if (stored && !("binderyStrict" in set)) set.binderyChoice = stored;
  var want = "binderyStrict" in set ? set.binderyAppearance : stored || set.binderyAppearance;
  var system = matchMedia("(prefers-color-scheme: dark)");
  function apply() {
    d.classList.toggle("dark", want === "dark" || (want !== "light" && system.matches));
  }
  apply();
  system.addEventListener("change", apply);
  d.addEventListener("bindery:appearance", function (e) { want = e.detail; apply(); });

  // A reader's first page shows its words at once, in fonts of the system that are
  // scaled to the widths of the site's. The site's fonts are asked for after that.
  // Titles take theirs if it comes before anyone reads: few of them wrap, so that
  // nothing else moves. Text takes its own from the next page on: then fonts are near,
  // and pages ask for them early. What comes after the first paint even so stays out,
  // as do fonts for which there is no stand-in. From a folder none may be asked for
  // early, and all come at once: the page waits.
  function load(name, attributes) {
    var link = document.createElement("link");
    for (var key in attributes) link.setAttribute(key, attributes[key]);
    link.href = new URL(name, document.currentScript.src);
    document.head.append(link);
  }
  function fetchFonts() {
    var asked = performance.now();
    Promise.all(families.map((f) => document.fonts.load("1em " + f, document.body.textContent))).then(() => {
      // Where the system lacks a stand-in, the words have other widths.
      if (performance.now() - asked < 500 && ![...document.fonts].some((f) => f.status === "error")) d.classList.add("bdy-title-fonts");
      localStorage.setItem("bindery:" + set.site + ":fonts", files);
    }).catch(() => { /* from a later page on, or never */ });
  }
  if (!/^http/.test(location.protocol)) {
    load(folder, { rel: "stylesheet", blocking: "render" });
    d.classList.add("bdy-fonts");
  } else if (known == files || !fitted) { // as texts
    files.forEach((name) => load(name, { rel: "preload", as: "font", crossorigin: "" }));
    d.classList.add("bdy-fonts");
  } else {
    addEventListener("load", () => new PerformanceObserver((list, observer) => {
      observer.disconnect();
      fetchFonts();
    }).observe({ type: "paint", buffered: true }));
  }

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
