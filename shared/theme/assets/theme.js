// What makes the pages handier; they work without it.
(function () {
  "use strict";
  var root = document.documentElement, site = root.dataset.site;
  function all(sel, fn) { Array.prototype.forEach.call(document.querySelectorAll(sel), fn); }
  function store(key, value) {
    try {
      if (value === null) localStorage.removeItem("bindery:" + site + ":" + key);
      else localStorage.setItem("bindery:" + site + ":" + key, value);
    } catch (e) { /* no storage: the choice lasts for this page */ }
  }

  // Appearance: a choice that equals the system's is not kept, so that the
  // page follows the system again.
  all("[data-appearance-toggle]", function (b) {
    b.hidden = false;
    b.addEventListener("click", function () {
      var next = root.classList.contains("dark") ? "light" : "dark";
      var system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      store("appearance", next === system && !root.dataset.appearance ? null : next);
      root.dispatchEvent(new CustomEvent("bindery:appearance", { detail: next }));
    });
  });

  all("[data-banner-close]", function (b) {
    b.hidden = false;
    b.addEventListener("click", function () {
      store("banner", root.dataset.banner);
      root.classList.add("no-banner");
    });
  });

  // Menus close when attention goes elsewhere.
  function closeMenus(except) {
    all(".top details[open]", function (m) { if (m !== except) m.open = false; });
  }
  document.addEventListener("click", function (e) {
    closeMenus(e.target.closest && e.target.closest(".top details"));
  });
  document.addEventListener("keydown", function (e) {
    if (e.key !== "Escape") return;
    var open = document.querySelector(".top details[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });

  // The current page and tab, where they would be out of sight.
  function reveal(box, el, horizontal) {
    if (!box || !el) return;
    var b = box.getBoundingClientRect(), r = el.getBoundingClientRect();
    if (horizontal) {
      if (r.left < b.left || r.right > b.right) box.scrollLeft += r.left - b.left - b.width / 3;
    } else if (r.top < b.top || r.bottom > b.bottom - 40) {
      box.scrollTop += r.top - b.top - b.height / 3;
    }
  }
  var sidebar = document.getElementById("bindery-sidebar");
  if (sidebar) {
    var current = sidebar.querySelector('[aria-current="page"]');
    reveal(sidebar, current);
    sidebar.addEventListener("toggle", function () { reveal(sidebar, current); });
  }
  var tabs = document.querySelector(".tabs-row");
  if (tabs) reveal(tabs, tabs.querySelector("[aria-current]"), true);

  // Contents: mark the heading that is being read.
  var contents = document.getElementById("bindery-contents");
  if (contents) {
    var entries = [];
    Array.prototype.forEach.call(contents.querySelectorAll("a"), function (a) {
      var id = a.hash.slice(1);
      try { id = decodeURIComponent(id); } catch (e) { /* as it is */ }
      var target = document.getElementById(id);
      if (target) entries.push({ link: a, target: target });
    });
    var marked = null, waiting = false;
    var spy = function () {
      waiting = false;
      var line = parseFloat(getComputedStyle(root).scrollPaddingTop) + 24 || 120, found = null;
      for (var i = 0; i < entries.length; i++) {
        if (!entries[i].target.getClientRects().length) continue;
        if (entries[i].target.getBoundingClientRect().top > line) break;
        found = entries[i].link;
      }
      if (entries.length && innerHeight + scrollY >= root.scrollHeight - 4 && scrollY > 0) found = entries[entries.length - 1].link;
      if (found === marked) return;
      if (marked) marked.removeAttribute("aria-current");
      if (found) { found.setAttribute("aria-current", "true"); if (contents.scrollHeight > contents.clientHeight) reveal(contents, found); }
      marked = found;
    };
    var later = function () { if (!waiting) { waiting = true; requestAnimationFrame(spy); } };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    spy();
    contents.addEventListener("click", function (e) {
      if (e.target.closest("a") && contents.matches(":popover-open")) contents.hidePopover();
    });
  }
})();
