// Fetches the search dialog when the reader turns to it, and opens it.
(function () {
  "use strict";
  var place = document.getElementById("bindery-search"), state = "";
  if (!place) return;
  function fetch(done) {
    if (done) place.dataset.binderyOpen = "";
    if (state === "there") { if (done) place.dispatchEvent(new Event("bindery:search")); return; }
    if (state) return;
    state = "coming";
    var s = document.createElement("script");
    s.src = place.dataset.binderyScript;
    s.onload = function () { state = "there"; };
    s.onerror = function () { state = ""; s.remove(); };
    document.head.appendChild(s);
  }
  place.addEventListener("pointerenter", function () { fetch(); });
  place.addEventListener("focusin", function () { fetch(); });
  place.addEventListener("click", function () { fetch(true); });
  var held = false;
  document.addEventListener("keydown", function (e) {
    if (e.key === "Meta" || e.key === "Control") { fetch(); return; }
    var k = (e.metaKey || e.ctrlKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k";
    // For a moment after a dialog is closed its field still has the focus.
    var slash = e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest(":is(input, textarea, select, [contenteditable]):not(dialog:not([open]) *)");
    var open = document.querySelector("dialog[open]");
    if (!e.repeat) held = false;
    if (held) { e.preventDefault(); return; }
    if (!k && !slash || open && !open.classList.contains("bdy-search-dialog")) return;
    held = slash;
    e.preventDefault();
    fetch(true);
  });
  // The page for addresses that don't exist asks here.
  var asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    fetch(true);
    var wait = setInterval(function () {
      var field = document.querySelector(".bdy-search-dialog[open] input");
      if (!field) return;
      clearInterval(wait);
      field.value = asked;
      field.dispatchEvent(new Event("input"));
    }, 50);
  }
  // The key that opens the box is not typed into it, however long it is held.
  document.addEventListener("beforeinput", function (e) { if (held && e.data === "/") e.preventDefault(); });
  document.addEventListener("keyup", function () { held = false; });
})();
