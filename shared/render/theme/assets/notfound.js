// On the page for addresses that don't exist: the search begins with the words
// of the address.
(function () {
  "use strict";
  var path = location.pathname, field = document.querySelector("input[name=q]");
  try { path = decodeURIComponent(path); } catch (e) { /* as it is */ }
  if (field) field.value = path.replace(/\.html?$/, "").split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(" ");
})();
