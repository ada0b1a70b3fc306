// What components gain where JavaScript runs. Every part guards itself: the
// page reads well without it. JS, in assets.go, calls it with its words.
(function (WORDS) {
  "use strict";
  var doc = document, root = doc.documentElement, prefix = "bindery:" + root.dataset.site + ":", groups = [], count = 0;
  var words = WORDS[root.lang] || WORDS.en;

  function each(list, fn) { Array.prototype.forEach.call(list, fn); }
  function all(sel, fn) { each(doc.querySelectorAll(sel), fn); }
  function kids(el, name) {
    return Array.prototype.filter.call(el.children, function (c) { return c.classList.contains(name); });
  }
  function recall(key) { try { return localStorage.getItem(prefix + key); } catch (e) { return null; } }
  function keep(key, value) { try { localStorage.setItem(prefix + key, value); } catch (e) { /* no storage */ } }
  function address(id) { try { history.replaceState(null, "", "#" + encodeURIComponent(id)); } catch (e) { /* refused */ } }
  function element(tag, name) {
    var el = doc.createElement(tag);
    el.className = name;
    return el;
  }
  function button(name, html, click, label) {
    var b = element("button", name);
    b.type = "button";
    b.innerHTML = html;
    if (label) b.setAttribute("aria-label", label);
    b.addEventListener("click", click);
    return b;
  }
  function target(hash) {
    var id = hash.slice(1), el = id && doc.getElementById(id);
    try { el = el || doc.getElementById(decodeURIComponent(id)); } catch (e) { /* not encoded */ }
    return el;
  }

  // The tabs that a reader chose last, on any page of the site.
  var chosen = (recall("tabs") || "").split("\n");

  // Tabs and groups of code become one list of tabs and one panel at a time.
  function Group(box, panels, titleClass, fallback) {
    var g = this, best = Infinity;
    g.box = box; g.panels = panels; g.buttons = [];
    g.sync = box.dataset.binderySync !== "false";
    g.set = box.dataset.binderyGroup || "";
    g.labels = panels.map(function (p, i) {
      var t = kids(p, titleClass)[0];
      return (t && t.textContent.trim()) || fallback(p, i);
    });
    if (box.classList.contains("bdy-code-group-dropdown")) g.select(); else g.list(titleClass);
    box.classList.add("bdy-tabbed");
    g.show(Math.min(+box.dataset.binderyDefault || 0, panels.length - 1));
    if (g.sync) g.labels.forEach(function (label, i) {
      var at = chosen.indexOf(g.set + "\t" + label);
      if (at >= 0 && at < best) { best = at; g.show(i); }
    });
    groups.push(g);
  }
  Group.prototype.list = function (titleClass) {
    var g = this, list = element("div", "bdy-tablist");
    list.setAttribute("role", "tablist");
    g.panels.forEach(function (p, i) {
      var t = kids(p, titleClass)[0], b = button("", t && t.textContent.trim() ? t.innerHTML : "", function () { g.choose(i); });
      if (!b.innerHTML) b.textContent = g.labels[i];
      b.id = "bindery-tab-" + (++count);
      b.setAttribute("role", "tab");
      p.dataset.binderyId = p.id;
      if (!p.id) p.id = b.id + "-panel";
      b.setAttribute("aria-controls", p.id);
      p.setAttribute("role", "tabpanel");
      p.setAttribute("aria-labelledby", b.id);
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
    var g = this, s = g.picker = element("select", "bdy-code-select");
    s.setAttribute("aria-label", g.box.dataset.binderyLabel || words[7]);
    g.labels.forEach(function (label) { s.add(new Option(label)); });
    s.addEventListener("change", function () { g.choose(s.selectedIndex); });
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
    var g = this, top = g.box.getBoundingClientRect().top;
    g.show(i);
    if (g.panels[i].dataset.binderyId) address(g.panels[i].id);
    if (g.sync) {
      agree(g.set, g.labels[i], g);
      doc.dispatchEvent(new CustomEvent("bindery:picked", { detail: { set: g.set, label: g.labels[i] } }));
    }
    scrollBy(0, g.box.getBoundingClientRect().top - top);
  };
  function agree(set, label, but) {
    var name = set + "\t" + label;
    chosen = [name].concat(chosen.filter(function (x) { return x && x !== name; })).slice(0, 20);
    keep("tabs", chosen.join("\n"));
    groups.forEach(function (o) {
      var j = o === but || !o.sync || set !== o.set ? -1 : o.labels.indexOf(label);
      if (j >= 0) o.show(j);
    });
  }
  // Other scripts pick tabs by this event, and hear of what readers pick by "bindery:picked".
  doc.addEventListener("bindery:pick", function (e) {
    agree(e.detail.set, e.detail.label);
  });

  // Buttons, before an element. Returns a function that presses the button
  // with this number, or those for which a function of the number is true.
  function choice(before, name, labels, pick) {
    var row = element("div", "bdy-choice");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", name);
    var buttons = labels.map(function (html, i) { return row.appendChild(button("", html, function () { pick(i); })); });
    before.parentNode.insertBefore(row, before);
    return function (on) { buttons.forEach(function (b, j) { b.setAttribute("aria-pressed", on.call ? on(j) : j === on); }); };
  }
  // The page's contents list what can be seen.
  function contents(sel) {
    all("#bindery-contents a", function (a) {
      var el = target(a.hash), box = el && el.closest(sel);
      if (box) a.parentNode.hidden = box.hidden;
    });
  }

  // Views: one title at a time, on all pages of the site.
  var views = Array.prototype.slice.call(doc.querySelectorAll(".bdy-view")), titles = [], showView;
  if (views.length) {
    var faces = [];
    views.forEach(function (v) {
      var t = kids(v, "bdy-view-title")[0];
      v.label = t ? t.textContent.trim() : "";
      if (titles.indexOf(v.label) < 0) { titles.push(v.label); faces.push(t ? t.innerHTML : ""); }
    });
    showView = function (i) {
      press(i);
      views.forEach(function (v) {
        v.hidden = v.label !== titles[i];
        v.classList.toggle("bdy-on", !v.hidden);
      });
      contents(".bdy-view");
    };
    var press = choice(views[0], words[8], faces, function (i) { keep("view", titles[i]); showView(i); });
  }

  // A changelog's entries by tag: those that have all that are pressed. The
  // address has them too, as ?tags=.
  var tags = [], asked = [], updates = doc.querySelectorAll(".bdy-update");
  function tagsOf(u) { return Array.prototype.map.call(u.querySelectorAll(".bdy-update-tags .bdy-badge"), function (b) { return b.textContent; }); }
  each(updates, function (u) { tagsOf(u).forEach(function (t) { if (tags.indexOf(t) < 0) tags.push(t); }); });
  if (updates.length > 1 && tags.length > 1) {
    var safe = element("i", ""), pressTag = choice(updates[0], words[9], [words[6]].concat(tags).map(function (t) {
      safe.textContent = t;
      return safe.innerHTML;
    }), function (i) {
      var t = tags[i - 1], at = asked.indexOf(t);
      if (!i) asked = [];
      else if (at < 0) asked.push(t);
      else asked.splice(at, 1);
      showTags();
      try {
        var to = new URL(location.href);
        if (asked.length) to.searchParams.set("tags", asked.join(","));
        else to.searchParams.delete("tags");
        history.replaceState(history.state, "", to.href);
      } catch (e) { /* refused in a folder */ }
    }), showTags = function () {
      pressTag(function (j) { return j ? asked.indexOf(tags[j - 1]) >= 0 : !asked.length; });
      each(updates, function (u) { var own = tagsOf(u); u.hidden = !asked.every(function (t) { return own.indexOf(t) >= 0; }); });
      contents(".bdy-update");
    };
    var wanted = "," + new URLSearchParams(location.search).getAll("tags").join(",") + ",";
    asked = tags.filter(function (t) { return wanted.indexOf("," + t + ",") >= 0; });
    showTags();
  }

  all(".bdy-tabs", function (box) {
    var panels = kids(box, "bdy-tab");
    if (panels.length) new Group(box, panels, "bdy-tab-title", function (p, i) { return words[10] + " " + (i + 1); });
  });
  all(".bdy-code-group", function (box) {
    var panels = kids(box, "bdy-code-block");
    if (panels.length > 1 || (panels.length && kids(panels[0], "bdy-code-title").length))
      new Group(box, panels, "bdy-code-title", function (p, i) { return p.dataset.binderyLang || words[7] + " " + (i + 1); });
  });
  if (showView) showView(Math.max(0, titles.indexOf(recall("view"))));

  // A fragment opens what holds its place.
  function reveal() {
    var el = target(location.hash), hit = false;
    for (var n = el; n && n !== doc.body; n = n.parentElement) {
      if (n.tagName === "DETAILS" && !n.open) hit = n.open = true;
      if (n.hidden && views.indexOf(n) >= 0) { showView(titles.indexOf(n.label)); hit = true; }
      if (n.hidden && n.classList.contains("bdy-update")) { n.hidden = false; hit = true; }
      groups.forEach(function (g) {
        var i = g.panels.indexOf(n);
        if (i >= 0 && i !== g.current) { g.show(i); hit = true; }
      });
    }
    if (hit) el.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
  // An opened accordion can be linked to.
  all(".bdy-accordion[id] > summary", function (s) {
    s.addEventListener("click", function () { if (!s.parentNode.open) address(s.parentNode.id); });
  });

  // Copying.
  var icon = '<svg class="icon bdy-icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">';
  var copyIcon = icon + '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M15 9V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h3"/></svg>';
  var doneIcon = icon + '<path d="m5 13 4.5 4.5L19 7"/></svg>';
  function copyText(text, done) {
    function old() {
      var t = element("textarea", "bdy-sr");
      t.value = text;
      doc.body.appendChild(t);
      t.select();
      try { if (doc.execCommand("copy")) done(); } catch (e) { /* refused */ }
      t.remove();
    }
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(text).then(done, old); else old();
  }
  all(".bdy-code-block:not([data-bindery-copy=false]), .bdy-prompt:not([data-bindery-copy=false]), .bdy-color-item", function (box) {
    var timer, b = button("bdy-copy", copyIcon, function () {
      each(box.querySelectorAll("pre code, .bdy-color-item > code"), function (source) {
        if (!source.offsetParent) return;
        // Lines that are marked as removed are not copied.
        var text = [];
        if (source.querySelector(".bdy-line-removed")) each(source.querySelectorAll(".bdy-line:not(.bdy-line-removed)"), function (l) { text.push(l.textContent); });
        copyText((text.join("\n") || source.textContent).replace(/\s+$/, ""), function () {
          b.innerHTML = doneIcon;
          b.classList.add("bdy-done");
          b.setAttribute("aria-label", words[1]);
          clearTimeout(timer);
          timer = setTimeout(function () {
            b.innerHTML = copyIcon;
            b.classList.remove("bdy-done");
            b.setAttribute("aria-label", words[0]);
          }, 1600);
        });
      });
    }, words[0]);
    // One line of code beside which the button stands, not a title.
    var code = box.querySelector("pre code"), title = kids(box, "bdy-code-title")[0];
    if (code && code.textContent.trim().indexOf("\n") < 0 && (!title || box.parentNode.classList.contains("bdy-tabbed"))) box.classList.add("bdy-code-line");
    if (box.querySelector("code")) box.appendChild(b);
  });

  // Long blocks of code that unfold.
  all(".bdy-code-expandable", function (pre) {
    if (pre.scrollHeight <= pre.clientHeight + 40) { pre.classList.add("bdy-open"); return; }
    var b = button("bdy-code-expand", words[2], function () {
      var open = pre.classList.toggle("bdy-open");
      b.textContent = words[open ? 3 : 2];
      b.setAttribute("aria-expanded", open);
    });
    b.setAttribute("aria-expanded", "false");
    pre.parentNode.insertBefore(b, pre.nextSibling);
  });

  // Pictures that are shown smaller than they are open in the whole window.
  function zoom(img, vector) {
    var d = element("dialog", "bdy-zoomed"), big = element("img", vector ? "bdy-vector" : "");
    big.src = img.currentSrc || img.src;
    big.alt = img.alt;
    d.setAttribute("aria-label", img.alt || words[4]);
    d.appendChild(big);
    d.appendChild(button("", icon + '<path d="M6 6l12 12M18 6 6 18"/></svg>', function () { }, words[5]));
    d.addEventListener("click", function () { d.close(); });
    d.addEventListener("close", function () { d.remove(); img.focus(); });
    doc.body.appendChild(d);
    d.showModal();
  }
  all(".prose img:not(.bdy-icon, .bdy-card-img, [data-bindery-zoom=off])", function (img) {
    if (img.closest("a, button, summary, .bdy-card, .bdy-tooltip") || !window.HTMLDialogElement) return;
    function ready() {
      var vector = /\.svg([?#]|$)/.test(img.src) || img.src.indexOf("data:image/svg") === 0;
      if (!img.clientWidth || img.clientWidth < 120 || (!vector && img.naturalWidth < img.clientWidth * 1.1)) return;
      img.classList.add("bdy-zoomable");
      img.tabIndex = 0;
      img.setAttribute("role", "button");
      img.setAttribute("aria-label", words[4] + (img.alt ? ": " + img.alt : ""));
      img.addEventListener("click", function () { zoom(img, vector); });
      img.addEventListener("keydown", function (e) {
        if (e.key === "Enter" || e.key === " ") { e.preventDefault(); zoom(img, vector); }
      });
    }
    if (img.complete) ready(); else img.addEventListener("load", ready, { once: true });
  });

  // Tooltips stay inside the window, whatever box they stand in; Escape hides
  // one that is pointed at or has the focus.
  var active = ".bdy-tooltip:hover, .bdy-tooltip:focus, .bdy-tooltip:focus-within";
  function place(t) {
    var tip = kids(t, "bdy-tooltip-tip")[0], r = t.getBoundingClientRect(), s = tip && tip.style;
    if (!tip) return;
    s.position = "fixed";
    s.inset = "auto";
    var w = tip.offsetWidth, h = tip.offsetHeight, below = r.top < h + 16;
    s.left = Math.max(8, Math.min(r.left + (r.width - w) / 2, root.clientWidth - w - 8)) + "px";
    s.top = (below ? r.bottom + 8 : r.top - h - 8) + "px";
    tip.classList.toggle("bdy-below", below);
  }
  all(".bdy-tooltip", function (t) {
    function show() { t.classList.remove("bdy-off"); place(t); }
    t.addEventListener("mouseenter", show);
    t.addEventListener("focusin", show);
  });
  doc.addEventListener("scroll", function () { all(active, place); }, { capture: true, passive: true });
  doc.addEventListener("keydown", function (e) {
    if (e.key === "Escape") all(active, function (t) { t.classList.add("bdy-off"); });
  });

  // Arrows walk through the folders of a tree.
  all(".bdy-tree", function (tree) {
    tree.addEventListener("keydown", function (e) {
      var s = e.target.closest("summary"), d = s && s.parentNode, folders, to;
      if (!s) return;
      if (e.key === "ArrowRight" && !d.open) d.open = true;
      else if (e.key === "ArrowLeft" && d.open) d.open = false;
      else {
        folders = Array.prototype.filter.call(tree.querySelectorAll("summary"), function (x) { return x.offsetParent; });
        to = folders[folders.indexOf(s) + ({ ArrowDown: 1, ArrowUp: -1 }[e.key] || NaN)];
        if (!to) return;
        to.focus();
      }
      e.preventDefault();
    });
  });

  // What does not scroll is no stop for the keyboard. Text grows with its font, and boxes
  // appear with their tab.
  all(".bdy-code-block pre, .bdy-table-wrap, .bdy-prompt-body, .bdy-beside-box", function (el) {
    function stop() {
      if (el.offsetParent) el.tabIndex = el.scrollWidth > el.clientWidth || el.scrollHeight > el.clientHeight ? 0 : -1;
    }
    new ResizeObserver(stop).observe(el);
    doc.fonts.ready.then(stop);
  });
})
