// What forms and links can't do: copying, and progress that follows by itself.
(() => {
  'use strict';
  for (const button of document.querySelectorAll('[data-copy]')) {
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

  // A form is sent once, however often its button is pressed.
  addEventListener('submit', (event) => {
    const form = event.target;
    if (form.dataset.sent) event.preventDefault();
    else if (form.method === 'post') form.dataset.sent = '1';
  });
  addEventListener('pageshow', () => { // also on the way back
    for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
  });

  const live = document.getElementById('live');
  const follow = async () => {
    if (!live.dataset.live) return;
    try {
      const answer = document.hidden ? null : await fetch(location.pathname + location.search.replace(/[?&]done=[^&]*/, ''), { redirect: 'error' });
      if (answer && answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('live');
        if (page && !page.dataset.live) { location.replace(location.pathname); return; }
        if (page) live.replaceChildren(...page.childNodes);
      }
    } catch { /* the next look may succeed */ }
    setTimeout(follow, Number(live.dataset.live));
  };
  if (live && live.dataset.live) setTimeout(follow, Number(live.dataset.live));
})();
