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

  // Appearance: a choice that is the site's own is not kept, so that the page
  // follows the site again.
  all("[data-bindery-appearance-menu]", function (menu) {
    var start = root.dataset.binderyAppearance || "system";
    var choices = menu.querySelectorAll("[data-bindery-choice]");
    function mark() {
      var now = root.dataset.binderyChoice || start;
      choices.forEach(function (b) { b.setAttribute("aria-pressed", b.dataset.binderyChoice === now); });
    }
    mark();
    choices.forEach(function (b) {
      b.addEventListener("click", function () {
        var want = b.dataset.binderyChoice;
        store("appearance", want === start ? null : want);
        root.dataset.binderyChoice = want;
        root.dispatchEvent(new CustomEvent("bindery:appearance", { detail: want }));
        mark();
        menu.open = false;
        menu.querySelector("summary").focus();
      });
    });
  });

  all("[data-bindery-banner-close]", function (b) {
    b.addEventListener("click", function () {
      store("banner", root.dataset.binderyBanner);
      root.classList.add("bdy-no-banner");
    });
  });

  // Menus close when attention goes elsewhere; arrows move in them.
  var menu = "details.bdy-menu";
  function closeMenus(except) {
    all(menu + "[open]", function (m) { if (m !== except) m.open = false; });
  }
  function menuOf(e) { return e.target.closest && e.target.closest(menu); }
  document.addEventListener("click", function (e) { closeMenus(menuOf(e)); });
  document.addEventListener("focusin", function (e) { closeMenus(menuOf(e)); });
  document.addEventListener("keydown", function (e) {
    var m = menuOf(e) || document.querySelector(menu + "[open]");
    if (!m) return;
    if (e.key === "Escape" && m.open) {
      m.open = false;
      m.querySelector("summary").focus();
      return;
    }
    var step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step || menuOf(e) !== m) return;
    e.preventDefault();
    m.open = true;
    var items = Array.prototype.filter.call(m.querySelectorAll("li a, li button"), function (i) { return !i.hidden; });
    var at = items.indexOf(document.activeElement);
    at = at < 0 ? (step > 0 ? 0 : items.length - 1) : (at + step + items.length) % items.length;
    if (items[at]) items[at].focus();
  });

  // What an element says, as Markdown, without what pages have to be used.
  function markdown(e) {
    if (e.nodeType === 3) return e.data.replace(/\s+/g, " ");
    if (e.nodeType !== 1 || e.matches("button, nav, script, style, template, svg, .bdy-actions, .bdy-anchor, .bdy-contents-place, .bdy-needs-js, .bdy-sr, [role=tablist]")) return "";
    var name = e.localName, math = name === "math" && e.querySelector("annotation");
    if (math) return "$$" + math.textContent + "$$";
    if (name === "pre") return "\n\n```\n" + e.textContent.replace(/\n$/, "") + "\n```\n\n";
    if (name === "img") return e.alt ? "![" + e.alt + "](" + e.getAttribute("src") + ")" : "";
    var text = Array.prototype.map.call(e.childNodes, markdown).join(""), word = text.trim();
    if (!word) return name === "hr" ? "\n\n---\n\n" : name === "br" ? "\n" : text && " ";
    if (/^h[1-6]$/.test(name)) return "\n\n" + "######".slice(0, name[1]) + " " + word + "\n\n";
    switch (name) {
    case "a": return "[" + word + "](" + e.getAttribute("href") + ")";
    case "code": return "`" + word + "`";
    case "strong": case "b": return "**" + word + "**";
    case "em": case "i": return "*" + word + "*";
    case "li": return "\n" + (e.parentNode.localName === "ol" ? "1. " : "- ") + word.replace(/\n+/g, "\n  ");
    case "th": case "td": return "| " + word.replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|") + " ";
    case "tr": return "\n" + word + " |" + (e.querySelector("th") && !e.previousElementSibling ? "\n" + "| --- ".repeat(e.children.length) + "|" : "");
    case "thead": case "tbody": return text;
    case "blockquote": return "\n\n> " + word.replace(/\n/g, "\n> ") + "\n\n";
    case "summary": return "\n\n**" + word + "**\n\n";
    }
    return /^(inline|contents)/.test(getComputedStyle(e).display) ? text : "\n\n" + text.trim() + "\n\n";
  }

  // The page's text on the clipboard: the Markdown beside the page, or from a
  // folder, where no page may read another file, what the article says.
  all("[data-bindery-copy-page]", function (b) {
    var label = b.querySelector("[data-bindery-label]"), words = label.textContent, timer;
    function text() {
      var shown = markdown(document.querySelector("main article")).replace(/[ \t]+\n/g, "\n").replace(/\n[ ]+(?=\n)/g, "\n").replace(/\n{3,}/g, "\n\n").trim() + "\n";
      if (!/^http/.test(location.protocol)) return Promise.resolve(shown);
      return fetch(b.dataset.binderyCopyPage).then(function (r) { return r.ok ? r.text() : shown; }, function () { return shown; });
    }
    function old() {
      return text().then(function (s) {
        var t = document.createElement("textarea");
        t.value = s;
        t.className = "bdy-sr";
        document.body.appendChild(t);
        t.select();
        var ok = document.execCommand("copy");
        t.remove();
        b.focus();
        if (!ok) throw new Error("refused");
      });
    }
    function copy() {
      // The promise is given at once: later some browsers see no click.
      if (navigator.clipboard && window.ClipboardItem) {
        try {
          return navigator.clipboard.write([new ClipboardItem({
            "text/plain": text().then(function (s) { return new Blob([s], { type: "text/plain" }); })
          })]).catch(old);
        } catch (e) { /* the old way */ }
      }
      return old();
    }
    b.addEventListener("click", function () {
      copy().then(function () {
        label.textContent = document.body.dataset.binderyCopied;
        b.classList.add("bdy-done");
        clearTimeout(timer);
        timer = setTimeout(function () { label.textContent = words; b.classList.remove("bdy-done"); }, 2000);
      }, function () { location.href = b.dataset.binderyCopyPage; });
    });
    label.setAttribute("aria-live", "polite");
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
    sidebar.addEventListener("toggle", function () { reveal(sidebar, current); });
  }
  var tabs = document.querySelector(".bdy-tabs-row");
  if (tabs) reveal(tabs, tabs.querySelector("[aria-current]"), true);

  // The header has one row while the page is read.
  var shrink = function () { root.classList.toggle("bdy-scrolled", scrollY > 120); };
  addEventListener("scroll", shrink, { passive: true });
  shrink();

  // The page that a reader is about to open: the pointer rests on its link, or
  // is down.
  if (/^http/.test(location.protocol)) {
    var asked = {}, resting, connection = navigator.connection || {};
    var ahead = function (e) {
      var a = e.target.closest && e.target.closest("a[href]");
      clearTimeout(resting);
      if (!a || connection.saveData || a.origin !== location.origin || a.pathname === location.pathname || asked[a.pathname] || !/(\.html|\/[^.]*)$/.test(a.pathname)) return;
      resting = setTimeout(function () {
        asked[a.pathname] = true;
        var link = document.createElement("link");
        link.rel = "prefetch";
        link.href = a.pathname + a.search;
        document.head.append(link);
      }, e.type === "pointerover" ? 80 : 0);
    };
    document.addEventListener("pointerover", ahead, { passive: true });
    document.addEventListener("pointerdown", ahead, { passive: true });
  }

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
    var active = function (link, on) { ["data-active", "data-active-deepest"].forEach(function (name) { link.parentNode.toggleAttribute(name, on); }); };
    var place = document.querySelector(".bdy-contents-place"), now = document.querySelector(".bdy-contents-now");
    var spy = function () {
      waiting = false;
      if (place) root.classList.toggle("bdy-reading", place.getBoundingClientRect().bottom < 0);
      var line = parseFloat(getComputedStyle(root).scrollPaddingTop) + 24 || 120, found = null;
      for (var i = 0; i < entries.length; i++) {
        if (!entries[i].target.getClientRects().length) continue;
        if (entries[i].target.getBoundingClientRect().top > line) break;
        found = entries[i].link;
      }
      if (entries.length && innerHeight + scrollY >= root.scrollHeight - 4 && scrollY > 0) found = entries[entries.length - 1].link;
      if (found === marked) return;
      if (marked) { marked.removeAttribute("aria-current"); active(marked, false); }
      if (found) { found.setAttribute("aria-current", "true"); active(found, true); if (contents.scrollHeight > contents.clientHeight) reveal(contents, found); }
      marked = found;
      if (now) now.textContent = found ? found.textContent : "";
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
