// Drawings that are larger than their place can be enlarged, made smaller and
// moved: by buttons, keys and pointer. Without it they are scrolled.
(function () {
  'use strict';
  // The buttons in the order of their names, each with its sign.
  var signs = ['M15 6l-6 6 6 6', 'M6 15l6-6 6 6', 'M6 9l6 6 6-6', 'M9 6l6 6-6 6', 'M5 12h14', 'M5 12h14M12 5v14', 'M4 12a8 8 0 1 0 2.4-5.7L4 8.5M4 4v4.5h4.5'];
  var step = 1.25, least = 0.2, most = 4;

  function wire(view, names) {
    var tools = document.createElement('div'), buttons = [], from = null, dragged = false, before = null;
    function drawing() { return view.querySelector('svg'); }
    function natural() { return drawing().viewBox.baseVal.width; }
    function zoom(by, x, y) { scale(drawing().getBoundingClientRect().width / natural() * by, x, y); }
    // Draws at a scale, or at 0 as at first. The place at x and y stays there: what
    // the pointer is on, or the middle. The box grows with the drawing until most of
    // the window is full; the buttons stay under the pointer that pressed them.
    function scale(to, x, y) {
      var svg = drawing(), box = view.getBoundingClientRect(), old = svg.getBoundingClientRect(), line = tools.getBoundingClientRect().top, pointed = x !== undefined, now;
      if (!pointed) { x = box.left + box.width / 2; y = box.top + box.height / 2; }
      if (before === null) {
        before = svg.style.cssText;
        view.style.minHeight = box.height + 'px';
        view.style.maxHeight = Math.max(box.height, innerHeight * 0.7) + 'px';
      }
      if (to) {
        svg.style.minWidth = 0;
        svg.style.maxWidth = 'none';
        svg.style.width = natural() * Math.min(most, Math.max(least, to)) + 'px';
      } else {
        svg.style.cssText = before;
        free();
      }
      now = svg.getBoundingClientRect();
      view.scrollLeft += now.left + (x - old.left) / old.width * now.width - x;
      view.scrollTop += now.top + (y - old.top) / old.height * now.height - y;
      look();
      if (!pointed) scrollBy({ top: tools.getBoundingClientRect().top - line, behavior: 'instant' });
    }
    function free() {
      before = null;
      view.style.minHeight = view.style.maxHeight = '';
    }
    function move(x, y) {
      view.scrollBy({ left: x * view.clientWidth / 3, top: y * view.clientHeight / 3, behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    }
    // Which buttons do something now.
    function look() {
      var wide = view.scrollWidth > view.clientWidth + 1, high = view.scrollHeight > view.clientHeight + 1, svg = drawing();
      view.classList.toggle('bdy-pans', wide || high);
      tools.hidden = !svg || before === null && !wide && natural() <= view.clientWidth + 1 && svg.viewBox.baseVal.height <= innerHeight;
      [wide, high, high, wide, true, true, before !== null].forEach(function (on, i) { buttons[i].setAttribute('aria-disabled', !on); });
    }
    var acts = [
      function () { move(-1, 0); }, function () { move(0, -1); }, function () { move(0, 1); }, function () { move(1, 0); },
      function () { zoom(1 / step); }, function () { zoom(step); }, function () { scale(0); }
    ];
    signs.forEach(function (sign, i) {
      var b = document.createElement('button');
      b.type = 'button';
      b.title = names[i];
      b.setAttribute('aria-label', names[i]);
      b.innerHTML = '<svg class="icon bdy-icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="' + sign + '"/></svg>';
      b.addEventListener('click', function () { if (b.getAttribute('aria-disabled') !== 'true') acts[i](); });
      tools.append(b);
      buttons.push(b);
    });
    tools.className = 'bdy-diagram-tools';
    tools.setAttribute('role', 'group');
    tools.setAttribute('aria-label', view.getAttribute('aria-label'));
    view.parentElement.querySelector('.bdy-diagram-text').before(tools);
    look();
    new ResizeObserver(look).observe(view);

    // Arrows scroll it, as any box that has the focus.
    view.addEventListener('keydown', function (e) {
      var act = e.ctrlKey || e.metaKey || e.altKey || tools.hidden ? undefined : { '-': 4, '+': 5, '=': 5, '0': 6 }[e.key];
      if (act === undefined) return;
      e.preventDefault();
      buttons[act].click();
    });
    view.addEventListener('wheel', function (e) {
      if (!e.ctrlKey || tools.hidden) return;
      e.preventDefault();
      zoom(Math.exp(-e.deltaY / (e.deltaMode ? 15 : 300)), e.clientX, e.clientY);
    }, { passive: false });
    // A finger scrolls by itself; a mouse drags. Its click on a link stays one
    // unless it moved.
    view.addEventListener('pointerdown', function (e) {
      var box = view.getBoundingClientRect();
      dragged = false;
      from = e.pointerType === 'touch' || e.button || !view.classList.contains('bdy-pans') || e.clientY - box.top > view.clientHeight || e.clientX - box.left > view.clientWidth ?
        null : { x: e.clientX + view.scrollLeft, y: e.clientY + view.scrollTop, at: e.clientX, line: e.clientY };
    });
    view.addEventListener('pointermove', function (e) {
      if (!from || !dragged && Math.abs(e.clientX - from.at) + Math.abs(e.clientY - from.line) < 5) return;
      if (!dragged) { dragged = true; view.setPointerCapture(e.pointerId); view.classList.add('bdy-drags'); }
      view.scrollLeft = from.x - e.clientX;
      view.scrollTop = from.y - e.clientY;
    });
    function drop() { from = null; view.classList.remove('bdy-drags'); }
    view.addEventListener('pointerup', drop);
    view.addEventListener('pointercancel', drop);
    view.addEventListener('dragstart', function (e) { e.preventDefault(); });
    view.addEventListener('click', function (e) { if (dragged) { e.preventDefault(); e.stopPropagation(); } }, true);
    // Mermaid's runtime has drawn anew.
    view.addEventListener('bindery:drawn', function () { free(); look(); });
  }

  function find(figure) {
    var view = figure.querySelector('.bdy-diagram-view');
    if (view && !figure.querySelector('.bdy-diagram-tools')) wire(view, figure.dataset.binderyTools.split('|'));
  }
  document.querySelectorAll('.bdy-diagram[data-bindery-tools]').forEach(find);
  document.addEventListener('bindery:drawn', function (e) { find(e.target.closest('.bdy-diagram')); });
})();
