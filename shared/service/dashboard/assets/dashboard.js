// What forms and links can't do: copying, and progress that follows by itself.
(() => {
  'use strict';
  const live = document.getElementById('live');
  let shown = live && live.innerHTML; // as it came

  const copies = (part) => {
    for (const button of part.querySelectorAll('[data-copy]')) {
      if (!navigator.clipboard) break;
      button.hidden = false;
      const text = button.parentElement.querySelector('code');
      if (text.textContent.length < 70) button.setAttribute('aria-label', 'Copy ' + text.textContent.slice(0, 24));
      button.addEventListener('click', async () => {
        try {
          await navigator.clipboard.writeText(text.textContent);
          button.textContent = 'Copied';
        } catch {
          getSelection().selectAllChildren(text);
          button.textContent = 'Press Ctrl+C';
        }
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
      });
    }
  };
  copies(document);

  // A form is sent once, however often its button is pressed.
  addEventListener('submit', (event) => {
    const form = event.target;
    if (form.dataset.sent) event.preventDefault();
    else if (form.method === 'post') form.dataset.sent = '1';
  });
  addEventListener('pageshow', () => { // also on the way back
    for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
  });

  // Files that the server would refuse are refused before they are sent.
  for (const input of document.querySelectorAll('input[data-bytes]')) {
    input.addEventListener('change', () => {
      let left = Number(input.dataset.bytes), refused = '';
      for (const file of input.files) {
        left -= file.size;
        if (left < 0 && !refused) refused = file.name + ' is too large: see the limit of files above.';
      }
      if (input.files.length > Number(input.dataset.most)) refused = 'There are too many files: see the limit above.';
      input.setCustomValidity(refused);
      input.reportValidity();
    });
  }

  const follow = async () => {
    if (!live.dataset.live) return;
    try {
      const answer = document.hidden ? null : await fetch(location.pathname + location.search.replace(/[?&]done=[^&]*/, ''), { redirect: 'error' });
      if (answer && answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('live');
        if (!page || !page.dataset.live) { location.replace(location.pathname); return; }
        if (page.innerHTML !== shown) { // else what has the focus would lose it
          shown = page.innerHTML;
          live.replaceChildren(...page.childNodes);
          copies(live);
        }
      }
    } catch { /* the next look may succeed */ }
    setTimeout(follow, Number(live.dataset.live));
  };
  if (live && live.dataset.live) setTimeout(follow, Number(live.dataset.live));
})();
