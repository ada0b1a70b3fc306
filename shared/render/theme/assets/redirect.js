// On a page that leads to another: a query and a fragment of the address go
// along. What is left of the page, which would lead there without them, becomes
// a comment.
(function () {
  "use strict";
  var to = new URL(document.currentScript.dataset.to, location.href);
  if (!location.search && !location.hash) return;
  to.search = to.search || location.search;
  to.hash = to.hash || location.hash;
  location.replace(to);
  document.write("<!--");
})();
