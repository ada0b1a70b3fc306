// What components gain where JavaScript runs. Every part guards itself: the
// page reads well without it.
(function () {
  "use strict";
  var root = document.documentElement, prefix = "bindery:" + root.dataset.site + ":", groups = [], count = 0;
  function all(sel, fn) { Array.prototype.forEach.call(document.querySelectorAll(sel), fn); }
  function kids(el, name) {
    return Array.prototype.filter.call(el.children, function (c) { return c.classList.contains(name); });
  }
  function recall(key) { try { return localStorage.getItem(prefix + key); } catch (e) { return null; } }
  function keep(key, value) { try { localStorage.setItem(prefix + key, value); } catch (e) { /* no storage */ } }
  function newID() { return "bindery-tab-" + (++count); }

  // Tabs and groups of code become one list of tabs and one panel at a time.
  function Group(box, panels, titleClass, fallback) {
    var g = this;
    g.box = box; g.panels = panels; g.buttons = []; g.current = 0;
    g.sync = box.dataset.sync !== "false";
    g.labels = panels.map(function (p, i) {
      var t = kids(p, titleClass)[0];
      return (t && t.textContent.trim()) || fallback(p, i);
    });
    g.key = box.dataset.group || g.labels.join("|");
    if (box.classList.contains("code-group-dropdown")) g.select(); else g.list(titleClass);
    box.classList.add("tabbed");
    var start = Math.min(+box.dataset.default || 0, panels.length - 1);
    var stored = g.sync ? g.labels.indexOf(recall("tab:" + g.key) || "") : -1;
    g.show(stored >= 0 ? stored : start);
    groups.push(g);
  }
  Group.prototype.list = function (titleClass) {
    var g = this, list = document.createElement("div");
    list.className = "tablist";
    list.setAttribute("role", "tablist");
    g.panels.forEach(function (p, i) {
      var b = document.createElement("button"), t = kids(p, titleClass)[0];
      b.type = "button";
      b.id = newID();
      if (t && t.textContent.trim()) b.innerHTML = t.innerHTML; else b.textContent = g.labels[i];
      b.setAttribute("role", "tab");
      if (!p.id) p.id = b.id + "-panel";
      b.setAttribute("aria-controls", p.id);
      p.setAttribute("role", "tabpanel");
      p.setAttribute("aria-labelledby", b.id);
      b.addEventListener("click", function () { g.choose(i); });
      list.appendChild(b);
      g.buttons.push(b);
    });
    list.addEventListener("keydown", function (e) {
      var n = g.buttons.length, rtl = getComputedStyle(list).direction === "rtl";
      var to = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1 }[e.key], next;
      if (to) next = (g.current + to + n) % n;
      else if (e.key === "Home") next = 0;
      else if (e.key === "End") next = n - 1;
      else return;
      e.preventDefault();
      g.choose(next);
      g.buttons[next].focus();
    });
    g.box.insertBefore(list, g.box.firstChild);
  };
  Group.prototype.select = function () {
    var g = this, s = document.createElement("select");
    s.className = "code-select";
    s.setAttribute("aria-label", "Example");
    g.labels.forEach(function (label) { s.add(new Option(label)); });
    s.addEventListener("change", function () { g.choose(s.selectedIndex); });
    g.picker = s;
    g.box.insertBefore(s, g.box.firstChild);
  };
  Group.prototype.show = function (i) {
    this.current = i;
    if (this.picker) this.picker.selectedIndex = i;
    this.panels.forEach(function (p, j) { p.hidden = j !== i; });
    this.buttons.forEach(function (b, j) {
      b.setAttribute("aria-selected", j === i);
      b.tabIndex = j === i ? 0 : -1;
    });
  };
  // A choice holds for every group that offers it, and stays where the reader looks.
  Group.prototype.choose = function (i) {
    var g = this, label = g.labels[i], top = g.box.getBoundingClientRect().top;
    g.show(i);
    if (!g.sync) return;
    keep("tab:" + g.key, label);
    groups.forEach(function (o) {
      var j = o === g || !o.sync || (g.box.dataset.group || "") !== (o.box.dataset.group || "") ? -1 : o.labels.indexOf(label);
      if (j >= 0) { o.show(j); keep("tab:" + o.key, label); }
    });
    scrollBy(0, g.box.getBoundingClientRect().top - top);
  };
  all(".tabs", function (box) {
    var panels = kids(box, "tab");
    if (panels.length) new Group(box, panels, "tab-title", function (p, i) { return "Tab " + (i + 1); });
  });
  all(".code-group", function (box) {
    var panels = kids(box, "code-block");
    if (panels.length > 1 || (panels.length && kids(panels[0], "code-title").length))
      new Group(box, panels, "code-title", function (p, i) { return p.dataset.lang || "Example " + (i + 1); });
  });

  // A fragment opens what holds its place.
  function reveal() {
    var id = location.hash.slice(1), el;
    if (!id) return;
    el = document.getElementById(id);
    try { el = el || document.getElementById(decodeURIComponent(id)); } catch (e) { /* not encoded */ }
    if (!el) return;
    var hit = false;
    for (var n = el; n && n !== document.body; n = n.parentElement) {
      if (n.tagName === "DETAILS" && !n.open) hit = n.open = true;
      groups.forEach(function (g) {
        var i = g.panels.indexOf(n);
        if (i >= 0 && i !== g.current) { g.show(i); hit = true; }
      });
    }
    if (hit) el.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();

  // Copying.
  var icon = '<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">';
  var copyIcon = icon + '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M15 9V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h3"/></svg>';
  var doneIcon = icon + '<path d="m5 13 4.5 4.5L19 7"/></svg>';
  function copyText(text, done) {
    function old() {
      var t = document.createElement("textarea");
      t.value = text;
      t.style.position = "fixed";
      document.body.appendChild(t);
      t.select();
      try { if (document.execCommand("copy")) done(); } catch (e) { /* refused */ }
      t.remove();
    }
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(text).then(done, old); else old();
  }
  all(".code-block, .prompt", function (box) {
    var source = box.querySelector("pre code, .prompt-body");
    if (!source) return;
    var b = document.createElement("button"), timer;
    b.type = "button";
    b.className = "copy";
    b.setAttribute("aria-label", "Copy");
    b.innerHTML = copyIcon;
    b.addEventListener("click", function () {
      copyText(source.textContent.replace(/\s+$/, ""), function () {
        b.innerHTML = doneIcon;
        b.classList.add("done");
        b.setAttribute("aria-label", "Copied");
        clearTimeout(timer);
        timer = setTimeout(function () {
          b.innerHTML = copyIcon;
          b.classList.remove("done");
          b.setAttribute("aria-label", "Copy");
        }, 1600);
      });
    });
    box.appendChild(b);
  });

  // Long blocks of code that unfold.
  all(".code-expandable", function (pre) {
    if (pre.scrollHeight <= pre.clientHeight + 40) { pre.classList.add("open"); return; }
    var b = document.createElement("button");
    b.type = "button";
    b.className = "code-expand";
    b.textContent = "Show all";
    b.setAttribute("aria-expanded", "false");
    b.addEventListener("click", function () {
      var open = pre.classList.toggle("open");
      b.textContent = open ? "Show less" : "Show all";
      b.setAttribute("aria-expanded", open);
    });
    pre.parentNode.insertBefore(b, pre.nextSibling);
  });

  // Tooltips stay inside the window, whatever box they stand in; Escape hides
  // one that is pointed at or has the focus.
  var active = ".tooltip:hover, .tooltip:focus, .tooltip:focus-within";
  function place(t) {
    var tip = kids(t, "tooltip-tip")[0], r = t.getBoundingClientRect(), s = tip && tip.style;
    if (!tip) return;
    s.position = "fixed";
    s.inset = "auto";
    var w = tip.offsetWidth, h = tip.offsetHeight, below = r.top < h + 16;
    s.left = Math.max(8, Math.min(r.left + (r.width - w) / 2, root.clientWidth - w - 8)) + "px";
    s.top = (below ? r.bottom + 8 : r.top - h - 8) + "px";
    tip.classList.toggle("below", below);
  }
  all(".tooltip", function (t) {
    function show() { t.classList.remove("off"); place(t); }
    t.addEventListener("mouseenter", show);
    t.addEventListener("focusin", show);
  });
  document.addEventListener("scroll", function () { all(active, place); }, { capture: true, passive: true });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") all(active, function (t) { t.classList.add("off"); });
  });

  // What does not scroll is no stop for the keyboard.
  function stops() {
    all(".code-block pre, .table-wrap, .prompt-body", function (el) {
      if (!el.offsetParent) return;
      if (el.scrollWidth > el.clientWidth || el.scrollHeight > el.clientHeight) el.tabIndex = 0;
      else el.removeAttribute("tabindex");
    });
  }
  stops();
  addEventListener("resize", stops);
})();
