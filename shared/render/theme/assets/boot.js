// Runs before the first paint: the reader's appearance and a banner that was
// dismissed. Storage may be refused (file://, privacy settings), so every
// access is guarded and the page works without it.
(function () {
  "use strict";
  var d = document.documentElement, set = d.dataset, stored = null, hidden = null;
  d.classList.add("js");
  try {
    stored = localStorage.getItem("bindery:" + set.site + ":appearance");
    hidden = localStorage.getItem("bindery:" + set.site + ":banner");
  } catch (e) { /* no storage */ }
  if (set.banner && hidden === set.banner) d.classList.add("no-banner");
  if (stored && !("strict" in set)) set.choice = stored;
  var want = "strict" in set ? set.appearance : stored || set.appearance;
  var system = matchMedia("(prefers-color-scheme: dark)");
  function apply() {
    d.classList.toggle("dark", want === "dark" || (want !== "light" && system.matches));
  }
  apply();
  system.addEventListener("change", apply);
  d.addEventListener("bindery:appearance", function (e) { want = e.detail; apply(); });
})();
