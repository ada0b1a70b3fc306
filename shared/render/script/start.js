// Draws the diagrams that were left to Mermaid, and draws them anew when the
// reader changes between light and dark. Without it their sources stay.
(function () {
  'use strict';
  var mermaid = window.mermaid;
  var blocks = document.querySelectorAll('[data-bindery-mermaid]');
  if (!mermaid || !blocks.length) return;
  var root = document.documentElement;
  var dark = null;
  var views = [];
  function drawAll() {
    var now = root.classList.contains('dark');
    if (now === dark) return;
    dark = now;
    var width = blocks[0].parentElement.clientWidth;
    mermaid.initialize({
      startOnLoad: false, securityLevel: 'strict', suppressErrorRendering: true, theme: 'base', themeVariables: colors(dark),
      // A chart of time is as wide as it is told; on a phone it is scrolled.
      gantt: { useWidth: Math.max(width, 640), useMaxWidth: false }
    });
    var next = Promise.resolve();
    blocks.forEach(function (block, i) {
      next = next.then(function () { return draw(block, i, dark); }).catch(function () {});
    });
  }
  // The page's colours, by Mermaid's names; it derives those of each kind.
  function colors(dark) {
    var style = getComputedStyle(root);
    function of(name) { return style.getPropertyValue('--c-' + name).trim(); }
    var text = of('text'), edge = of('edge'), surface = of('surface'), all = {
      darkMode: dark, fontFamily: getComputedStyle(document.body).fontFamily, background: of('bg'),
      primaryColor: surface, primaryTextColor: text, primaryBorderColor: edge,
      secondaryColor: of('hover'), secondaryTextColor: text, secondaryBorderColor: edge,
      tertiaryColor: of('code'), tertiaryTextColor: text, tertiaryBorderColor: edge,
      textColor: text, titleColor: of('title'), lineColor: of('muted'),
      noteBkgColor: of('warning-bg'), noteTextColor: text, noteBorderColor: of('warning'),
      errorBkgColor: of('danger-bg'), errorTextColor: of('danger'),
      gridColor: edge, todayLineColor: of('danger'), sectionBkgColor: surface, sectionBkgColor2: of('hover'), altSectionBkgColor: of('bg'),
      taskBkgColor: of('soft'), taskBorderColor: of('link'), taskTextColor: text, taskTextLightColor: text, taskTextDarkColor: text, taskTextOutsideColor: text, taskTextClickableColor: of('link'),
      activeTaskBkgColor: of('note-bg'), activeTaskBorderColor: of('note'), doneTaskBkgColor: of('hover'), doneTaskBorderColor: edge,
      critBkgColor: of('danger-bg'), critBorderColor: of('danger')
    };
    ['note', 'warning', 'accent', 'tip', 'danger', 'info', 'check'].forEach(function (name, i, names) {
      // Words of the page's colour are readable on the tones of meanings.
      for (var k = i; k < 12; k += names.length) {
        all['cScale' + k] = all['cScaleInv' + k] = all['cScalePeer' + k] = all['git' + k] = of(name);
        all['cScaleLabel' + k] = all['gitBranchLabel' + k] = of('bg');
        all['fillType' + k] = of(name + '-bg');
      }
    });
    return all;
  }
  function draw(block, i, mode) {
    var code = block.querySelector('code');
    if (!code) return;
    return mermaid.render('mermaid-' + i + (mode ? '-dark' : '-light'), code.textContent).then(function (drawn) {
      if (mode !== dark) return;
      var view = views[i];
      if (!view) {
        view = views[i] = document.createElement('div');
        view.className = 'bdy-diagram-view';
        view.tabIndex = 0;
        view.setAttribute('role', 'group');
        view.setAttribute('aria-label', 'Diagram');
        var figure = document.createElement('figure');
        figure.className = 'bdy-diagram';
        if (block.dataset.binderyTools) figure.dataset.binderyTools = block.dataset.binderyTools;
        block.before(figure);
        var title = block.querySelector('.bdy-code-title');
        if (title) {
          var caption = document.createElement('figcaption');
          caption.textContent = title.textContent;
          figure.append(caption);
        }
        // The source stays at hand, folded.
        var fold = document.createElement('details');
        var name = document.createElement('summary');
        fold.className = 'bdy-diagram-text';
        name.textContent = 'Diagram as text';
        fold.append(name);
        figure.append(view, fold);
        fold.append(block);
      }
      view.innerHTML = drawn.svg;
      // Words of 16 pixels stay readable: what is wider is scrolled.
      var svg = view.querySelector('svg');
      if (svg) svg.style.minWidth = Math.min(parseFloat(svg.style.maxWidth) || 0, svg.viewBox.baseVal.width) * 0.75 + 'px';
      view.dispatchEvent(new CustomEvent('bindery:drawn', { bubbles: true }));
    });
  }
  new MutationObserver(drawAll).observe(root, { attributes: true, attributeFilter: ['class'] });
  drawAll();
})();
