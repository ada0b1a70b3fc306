// Draws the diagrams that were left to Mermaid, and draws them anew when the
// reader changes between light and dark. Without it their sources stay.
(function () {
  'use strict';
  var mermaid = window.mermaid;
  var blocks = document.querySelectorAll('[data-mermaid]');
  if (!mermaid || !blocks.length) return;
  var root = document.documentElement;
  var dark = null;
  var views = [];
  function drawAll() {
    var now = root.classList.contains('dark');
    if (now === dark) return;
    dark = now;
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'default' });
    var next = Promise.resolve();
    blocks.forEach(function (block, i) {
      next = next.then(function () { return draw(block, i, dark); }).catch(function () {});
    });
  }
  function draw(block, i, mode) {
    var code = block.querySelector('code');
    if (!code) return;
    return mermaid.render('mermaid-' + i + (mode ? '-dark' : '-light'), code.textContent).then(function (drawn) {
      if (mode !== dark) return;
      var view = views[i];
      if (!view) {
        view = views[i] = document.createElement('div');
        view.className = 'diagram diagram-view';
        view.tabIndex = 0;
        view.setAttribute('role', 'group');
        view.setAttribute('aria-label', 'Diagram');
        block.before(view);
        // The source stays at hand, folded.
        var fold = document.createElement('details');
        var name = document.createElement('summary');
        fold.className = 'diagram-text';
        name.textContent = 'Diagram as text';
        fold.append(name);
        view.after(fold);
        fold.append(block);
      }
      view.innerHTML = drawn.svg;
    });
  }
  new MutationObserver(drawAll).observe(root, { attributes: true, attributeFilter: ['class'] });
  drawAll();
})();
