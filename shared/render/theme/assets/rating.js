// Readers' ratings go to the address that the project names: the page's own
// address and the answer, and nothing of the reader. As plain text, which needs
// no leave of the service beforehand.
(function () {
  "use strict";
  var box = document.querySelector("[data-bindery-rating]");
  if (!box) return;
  var said = box.querySelector("[role=status]"), buttons = box.querySelectorAll("button");
  var canonical = document.querySelector("link[rel=canonical]");
  box.addEventListener("click", function (e) {
    var b = e.target.closest("button");
    if (!b || box.dataset.binderySent) return;
    box.dataset.binderySent = "true";
    buttons.forEach(function (x) { x.setAttribute("aria-pressed", x === b); });
    fetch(box.dataset.binderyRating, {
      method: "POST", mode: "no-cors", keepalive: true, credentials: "omit", referrerPolicy: "no-referrer",
      body: JSON.stringify({ page: canonical ? canonical.href : location.href, helpful: b.value === "yes" })
    }).then(function () {
      said.textContent = box.dataset.binderyThanks;
    }, function () { // not sent: it can be tried again
      delete box.dataset.binderySent;
      buttons.forEach(function (x) { x.setAttribute("aria-pressed", "false"); });
    });
  });
})();
