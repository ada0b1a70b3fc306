// Readers' ratings go to the address that the project names: the page's own
// address and the answer, and nothing of the reader. As plain text, which needs
// no leave of the service beforehand.
(function () {
  "use strict";
  var box = document.querySelector("[data-rating]");
  if (!box) return;
  var said = box.querySelector("[role=status]"), buttons = box.querySelectorAll("button");
  var canonical = document.querySelector("link[rel=canonical]");
  box.addEventListener("click", function (e) {
    var b = e.target.closest("button");
    if (!b || box.dataset.sent) return;
    box.dataset.sent = "true";
    buttons.forEach(function (x) { x.setAttribute("aria-pressed", x === b); });
    fetch(box.dataset.rating, {
      method: "POST", mode: "no-cors", keepalive: true, credentials: "omit", referrerPolicy: "no-referrer",
      body: JSON.stringify({ page: canonical ? canonical.href : location.href, helpful: b.value === "yes" })
    }).then(function () {
      said.textContent = box.dataset.thanks;
    }, function () { // not sent: it can be tried again
      delete box.dataset.sent;
      buttons.forEach(function (x) { x.setAttribute("aria-pressed", "false"); });
    });
  });
})();
