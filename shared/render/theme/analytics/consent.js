// Readers who did not agree are not counted; where their choice can't be read,
// they did not.
try {
  if (localStorage.getItem(consent.key) !== consent.value) return;
} catch (e) { return; }
